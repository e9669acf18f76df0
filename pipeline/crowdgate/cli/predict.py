"""The command that predicts how many people are unique in the attributes they are asked for."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from crowdgate.anonymity.predict.entry import TrustedKeys
from crowdgate.anonymity.predict.group import PredictionTargets
from crowdgate.anonymity.predict.own_answers import count_answers
from crowdgate.anonymity.predict.predict import predict as predict_file
from crowdgate.anonymity.predict.questionnaire_file import read_questionnaire
from crowdgate.anonymity.predict.subject import option_problem
from crowdgate.cli.options import AsJson, today
from crowdgate.cli.output import print_json, print_listing, print_report
from crowdgate.errors import ConfigurationError
from crowdgate.kind.listing import text_listing
from crowdgate.number_text import PEOPLE, whole
from crowdgate.report.page_files import check_name


def predict(
    file: Annotated[Path, typer.Argument(help="A contract, a questionnaire, or an entry of a KL repository.")],
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
        str | None,
        typer.Option("--at-most", metavar="SHARE", help="Which widths and groups leave at most so many unique?"),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option("--cost", metavar="C", help="Which groups, at this cost of each, make most people unique?"),
    ] = None,
    answers: Annotated[
        str | None,
        typer.Option("--answers", metavar="-", help="Count your own answers, asked for or read from standard input."),
    ] = None,
    key: Annotated[
        list[Path] | None, typer.Option("--key", metavar="PUB", help="Trusted public keys, for an entry.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option("--page", metavar="FILE", help="Write a page: HTML with charts, or Markdown (.md).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Predict how many people would be unique by the attributes that are asked; only public figures are read."""
    if page is not None:
        check_name(page)
    if answers is not None:
        given = {"--of": of, "--people": people, "--population": population, "--at-most": at_most, "--cost": cost}
        stated = [name for name, value in {**given, "--key": key, "--page": page}.items() if value is not None]
        count_own(file, source, answers, stated, as_json)
        return
    trust = TrustedKeys(key or (), today())
    print_report(
        predict_file(file, of, population, source, PredictionTargets(people, at_most, cost), trust), page, as_json
    )


def count_own(form: Path, source: Path | None, answers: str, beside: Sequence[str], as_json: bool) -> None:
    """Ask on the terminal, or read a line for each question, and print how many people give the same answers."""
    if answers != "-":
        found, expected = "answers in the command line", "-: histories and lists of processes retain a command line"
        raise ConfigurationError(option_problem("--answers", found, expected, "-"))
    if beside:
        raise ConfigurationError([option_problem(name, "beside --answers", f"no {name}") for name in beside])
    shared = count_answers(read_questionnaire(form, source), ask)
    if as_json:
        print_json(shared.to_json())
        return
    for note in shared.notes:
        typer.echo(note)
    title = f"People of {whole(shared.population)} who could answer the same"
    rows = ((each.question, each.people) for each in shared.steps)
    print_listing(text_listing(title, ("after the question", ("people", PEOPLE)), rows))


def ask(question: str) -> str | None:
    """Return the answer to a question, from the terminal or from the next line of standard input."""
    if sys.stdin.isatty():
        typer.echo(question, err=True, nl=False)
    line = sys.stdin.readline()
    return line if line else None
