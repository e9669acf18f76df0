"""Commands that read policies and no data."""

from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli.output import print_json, print_verdicts
from pipeline.cli.releases import WITHHELD, AsJson
from pipeline.errors import ConfigurationError, Problem
from pipeline.jobs.check import Checked
from pipeline.jobs.check import check as check_policy
from pipeline.jobs.outlook import Outlook, outlook
from pipeline.jobs.staging import guarantee_lines


def check(
    policies: Annotated[list[Path], typer.Argument(help="Policy files.")],
    as_json: AsJson = False,
) -> None:
    """Check policies: exit 2 for wrong files, 3 when a static gate fails or a gate can't pass, otherwise 0."""
    checked: list[Checked] = []
    problems: list[Problem] = []
    for policy in policies:
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
        raise ConfigurationError(problems)
    if not all(found.allowed for found in checked):
        raise typer.Exit(WITHHELD)


def _show_check(found: Checked) -> None:
    typer.echo(f"{found.policy}: {'allowed' if found.allowed else 'would be withheld'}")
    for line in guarantee_lines(found.plan):
        typer.echo(f"  {line}")
    for gate in found.gates:
        role = "blocks" if gate.blocks else "advises"
        typer.echo(f"  gate {gate.gate}: {gate.kind}, {role}, {gate.decided}")
        if gate.warning:
            typer.echo(f"    note: {gate.warning}")
    print_verdicts(found.verdicts)


def plan(
    policy: Annotated[Path, typer.Argument(help="The policy file.")],
    as_json: AsJson = False,
) -> None:
    """Show what a policy promises and costs; no data is read."""
    found = outlook(policy)
    if as_json:
        print_json(found.to_json())
    else:
        _show_plan(found)


def _show_plan(found: Outlook) -> None:
    mechanism, budget = found.plan.mechanism, found.plan.bundle.budget
    for line in guarantee_lines(found.plan):
        typer.echo(line)
    theorem5 = "not reachable" if found.least_k_theorem5 is None else str(found.least_k_theorem5)
    typer.echo(f"k {mechanism.k} at beta {float(mechanism.beta):g}: exact delta {found.exact_delta:.4g}")
    typer.echo(f"least k: {found.least_k_exact} exactly, {theorem5} by Theorem 5 of Li, Qardaji, Su (2012)")
    typer.echo(f"budget {budget.metadata.name}: {found.releases} such releases for life")
    for count, bound in enumerate(found.pso_bounds, start=1):
        typer.echo(
            f"  after {count}: predicate singling out succeeds with probability at most {bound:.4g} (weight 1e-9)"
        )
