"""The command that makes the releases which past periods lack."""

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from crowdgate.cli.options import WITHHELD, AsJson, LedgerUrl
from crowdgate.cli.output import print_json
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.kind.run import Request, Result
from crowdgate.ledger.key import draw_key
from crowdgate.releases.backfill import missing_releases
from crowdgate.releases.release import release


def backfill(
    policy: Annotated[Path, typer.Argument(help="The policy file, with a calendar.")],
    first: Annotated[str, typer.Option("--from", metavar="DAY", help="The first day of the range, YYYY-MM-DD.")],
    until: Annotated[
        str | None, typer.Option("--until", metavar="DAY", help="The last day, by default the last period that ended.")
    ] = None,
    tables: Annotated[
        str | None,
        typer.Option("--input", metavar="PATH", help="The table of each period; {slot} stands for its first day."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Make them without asking.")] = False,
    ledger: LedgerUrl = None,
    as_json: AsJson = False,
) -> None:
    """Make the releases that past periods of a policy's calendar lack, after saying what they cost together.

    Exits with 3 if one of them is not published.
    """
    found = missing_releases(policy, _day("--from", first), None if until is None else _day("--until", until), ledger)
    if not as_json:
        for line in found.words():
            typer.echo(line)
    if found.slots and not yes and (as_json or not typer.confirm("Make them?")):
        said = "not confirmed" if not as_json else "--json without --yes"
        raise ConfigurationError(Problem("command line", None, "backfill", said, "yes, or --yes"))
    results = list[Result]()
    for result in found.run(lambda request: _release(request), tables, None, ledger):
        results.append(result)
        if not as_json:
            typer.echo(f"{result.outcome} {result.release_id}")
    if as_json:
        print_json({"outcome": "done", **found.to_json(), "releases": [each.to_json() for each in results]})
    if any(each.outcome != "published" for each in results):
        raise typer.Exit(WITHHELD)


def _release(request: Request) -> Result:
    return release(request, draw_key)


def _day(option: str, text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ConfigurationError(Problem("command line", None, option, repr(text), "a day as YYYY-MM-DD")) from None
