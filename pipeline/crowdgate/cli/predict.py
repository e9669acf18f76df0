"""The command that predicts how many people are alone with what they are asked for."""

from pathlib import Path
from typing import Annotated

import typer

from crowdgate.cli.output import print_json, print_listing
from crowdgate.cli.releases import AsJson
from crowdgate.jobs.plan_page import check_name
from crowdgate.jobs.predict.foretold import Foretold
from crowdgate.jobs.predict.group import Wish
from crowdgate.jobs.predict.predict import predict as predict_file


def predict(
    file: Annotated[Path, typer.Argument(help="A contract, or a questionnaire.")],
    of: Annotated[
        str | None,
        typer.Option("--of", metavar="a,b=LEVEL", help="Attributes of the contract [quasi-identifiers, exact]."),
    ] = None,
    people: Annotated[
        str | None, typer.Option("--people", metavar="K", help="Sizes of groups (20,40,60) [the population].")
    ] = None,
    population: Annotated[
        str | None, typer.Option("--population", metavar="N", help="People of the population [its budget's].")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", metavar="PATH", help="Counts that relate attributes: a release, or a public table."),
    ] = None,
    at_most: Annotated[
        str | None, typer.Option("--at-most", metavar="SHARE", help="Which widths and groups leave so few alone?")
    ] = None,
    cost: Annotated[
        str | None, typer.Option("--cost", metavar="C", help="Which groups, at this cost of each, leave most alone?")
    ] = None,
    page: Annotated[
        Path | None, typer.Option("--page", metavar="FILE", help="Write a page: HTML with charts, or Markdown (.md).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Predict how many people would be alone with what they are asked for; nothing is read but what is public."""
    if page is not None:
        check_name(page)
    show(predict_file(file, of, population, source, Wish(people, at_most, cost)), page, as_json)


def show(found: Foretold, page: Path | None, as_json: bool) -> None:
    """On the terminal, or as JSON; and as a page."""
    if page is not None:
        found.write(page)
    if as_json:
        print_json(found.to_json())
        return
    typer.echo(found.sentence)
    for note in found.notes:
        typer.echo(note)
    for listing in found.listings:
        print_listing(listing)
