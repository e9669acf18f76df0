"""The command that says what an operator must know of a working copy, and what to do about it."""

from pathlib import Path

import typer

from crowdgate.cli.options import WITHHELD, AsJson, LedgerUrl
from crowdgate.cli.output import print_json
from crowdgate.review.health import CheckedPart, Health, examine


def doctor(ledger: LedgerUrl = None, as_json: AsJson = False) -> None:
    """Say whether anything hinders the next release, and what to do about it.

    Looks at installation, settings, keys, ledger, heads, clock, budgets, unended runs, audits, private records,
    destinations, policies and the Prefect server. Nothing is changed, and no table is read.

    Exit 3 if something hinders the next release.
    """
    found = examine(Path.cwd(), ledger)
    faults = [each for each in found if each.health is Health.FAULT]
    if as_json:
        print_json({"outcome": "faults" if faults else "healthy", "parts": [each.to_json() for each in found]})
    else:
        _print(found, len(faults))
    if faults:
        raise typer.Exit(WITHHELD)


def _print(found: list[CheckedPart], faults: int) -> None:
    for each in found:
        typer.echo(f"{each.health:<7} {each.part:<13} {each.said}")
        if each.todo:
            typer.echo(f"{'':21} To do: {each.todo}")
    typer.echo(f"Faults that hinder the next release: {faults}" if faults else "Nothing hinders the next release.")
