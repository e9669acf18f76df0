"""The command that checks policies and reads no data."""

from pathlib import Path
from typing import Annotated

import typer

from crowdgate.cli.options import WITHHELD, AsJson
from crowdgate.cli.output import print_json, print_verdicts
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.jobs.check import Checked
from crowdgate.jobs.check import check as check_policy
from crowdgate.jobs.kl.held import unheld_words
from crowdgate.jobs.standing import informed_words


def _explain(code: str | None) -> None:
    if code is not None:
        from crowdgate.jobs.codes import explanation

        typer.echo(explanation(code))
        raise typer.Exit()


def check(
    policies: Annotated[list[Path], typer.Argument(help="Policy files, or folders of them.")],
    as_json: AsJson = False,
    explain: Annotated[
        str | None,
        typer.Option(
            "--explain", metavar="CODE", callback=_explain, is_eager=True, help="Say what a code means, and end."
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 3 for a policy that is allowed with warnings.")
    ] = False,
) -> None:
    """Find out whether policies are right and can be let through, reading no data but those of a public register.

    Warnings judge what is allowed: policies/CODES.md explains each by its code.

    Exit 2 for wrong files, 3 when a static gate fails, a gate can't pass or the ledger would refuse it, otherwise 0.
    """
    del explain
    checked: list[Checked] = []
    problems: list[Problem] = []
    for policy in _files(policies):
        try:
            checked.append(check_policy(policy))
        except ConfigurationError as error:
            problems += error.problems
    if not as_json:
        for found in checked:
            _show_check(found)
    elif not problems:
        print_json({"policies": [found.to_json() for found in checked]})
    if problems:
        raise ConfigurationError([*dict.fromkeys(problems)])  # of a contract that several policies name, once
    if not all(found.allowed and not (strict and found.warnings) for found in checked):
        raise typer.Exit(WITHHELD)


def _files(stated: list[Path]) -> list[Path]:
    """The files that are meant: of a folder all policies, which are those directly in it."""
    found = []
    for path in stated:
        inside = sorted(path.glob("*.yaml")) if path.is_dir() else []
        found += inside or [path]
    return found


def _show_check(found: Checked) -> None:
    typer.echo(f"{found.policy}: {'allowed' if found.allowed else 'would be withheld'}")
    if found.refused is not None:
        typer.echo(f"  its ledger refuses it: {found.refused}")
    told = (*found.plan.told(), *found.plan.protection.notes())
    for line in (*told, *informed_words(found.informed), *unheld_words(found.unheld), *found.left.words()):
        typer.echo(f"  {line}")
    foretold = {each.gate: each for each in found.chances.gates}
    typer.echo(f"  {found.chances.words()}")
    for gate in found.gates:
        role = "blocks" if gate.blocks else "advises"
        typer.echo(f"  gate {gate.gate}: {gate.reads}, {role}, {gate.decided}")
        if gate.cost:
            typer.echo(f"    {gate.cost}")
        for note in gate.notes:
            typer.echo(f"    {note}")
        if gate.gate in foretold:
            typer.echo(f"    {foretold[gate.gate].words()}")
        if gate.warning:
            typer.echo(f"    note: {gate.warning}")
        if gate.history:
            typer.echo(f"    note: {gate.history} (`crowdgate replay {found.policy}`)")
    if found.unreplayed:
        typer.echo(f"  not all of the last releases can be read: {found.unreplayed}")
    print_verdicts(found.verdicts)
    for warning in found.warnings:
        typer.echo(f"  warning {warning}")
