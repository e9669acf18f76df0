"""The command that makes the releases which past periods lack."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Annotated
from uuid import uuid4

import typer

from crowdgate.cli.options import WITHHELD, AsJson, LedgerUrl
from crowdgate.cli.output import print_json, warn
from crowdgate.errors import ConfigurationError, CrowdgateError, Problem
from crowdgate.kind.run import Request, Result
from crowdgate.ledger.key import draw_key
from crowdgate.operations.observed_run import observed_run
from crowdgate.policy.values import day
from crowdgate.releases.backfill import Backfill, missing_releases
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
    if found.slots and tables is None and not as_json:
        typer.echo("All of them read the contract's table, as no --input is given.")
    if found.slots and not yes and (as_json or not typer.confirm("Make them?")):
        said = "not confirmed" if not as_json else "--json without --yes"
        raise ConfigurationError(Problem("command line", None, "backfill", said, "yes, or --yes"))
    results = list[Result]()
    try:
        for result in found.run(_release, tables, ledger):
            results.append(result)
            if not as_json:
                typer.echo(f"{result.outcome} {result.release_id}")
    except CrowdgateError as error:
        if not (as_json and results):
            raise
        _print(found, results, "stopped", str(error))
        raise typer.Exit(error.exit_code) from None
    if as_json:
        _print(found, results, "done")
    if any(each.outcome != "published" for each in results):
        raise typer.Exit(WITHHELD)


def _print(found: Backfill, results: Sequence[Result], outcome: str, message: str = "") -> None:
    """Print the object of the releases that were made, also of those before an error."""
    made = [each.to_json() for each in results]
    print_json({"outcome": outcome, **found.to_json(), "releases": made, **({"message": message} if message else {})})


def _release(request: Request) -> Result:
    return observed_run(request, str(uuid4()), lambda: release(request, draw_key), warn)


def _day(option: str, text: str) -> date:
    try:
        return date.fromisoformat(day(text))
    except ValueError:
        raise ConfigurationError(Problem("command line", None, option, repr(text), "a day as YYYY-MM-DD")) from None
