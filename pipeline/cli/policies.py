"""Commands that read policies and no data."""

from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli.output import print_json, print_verdicts
from pipeline.cli.releases import WITHHELD, AsJson
from pipeline.errors import ConfigurationError, Problem
from pipeline.io.pages import write_page
from pipeline.jobs.check import Checked
from pipeline.jobs.check import check as check_policy
from pipeline.jobs.outlook import Outlook, outlook
from pipeline.jobs.staging import choice_lines, guarantee_lines
from pipeline.jobs.tables_outlook import TablesOutlook
from pipeline.mechanisms import SafeK
from pipeline.report.plan_page import plan_page


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
    for line in choice_lines(found.plan):
        typer.echo(f"  {line}")
    for gate in found.gates:
        role = "blocks" if gate.blocks else "advises"
        typer.echo(f"  gate {gate.gate}: {gate.kind}, {role}, {gate.decided}")
        if gate.warning:
            typer.echo(f"    note: {gate.warning}")
    print_verdicts(found.verdicts)


def plan(
    policy: Annotated[Path, typer.Argument(help="The policy file.")],
    page: Annotated[
        Path | None, typer.Option("--page", metavar="FILE", help="Write an HTML page with a chart.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what a policy promises and costs, and its alternatives; no data is read."""
    found = outlook(policy)
    if page is not None and isinstance(found, TablesOutlook):
        raise ConfigurationError(Problem("command line", None, "--page", "a policy of tables", "one of microdata"))
    if page is not None:
        title = found.plan.bundle.policy.metadata.name
        write_page(page, plan_page(title, guarantee_lines(found.plan), found.to_json()))
    if as_json:
        print_json(found.to_json())
    elif isinstance(found, TablesOutlook):
        _show_tables(found)
    else:
        _show_plan(found)


def _show_tables(found: TablesOutlook) -> None:
    _show_promise(found)
    _show_budget(found)
    typer.echo(f"expected errors of the {found.cells} noisy numbers (95 %: half the width of the interval as drawn)")
    typer.echo(f"  {'cells':>8} {'error':>10} {'95 %':>10} {'consistent':>10}")
    for row in found.expected:
        after = "" if row.consistent_error is None else f"{row.consistent_error:.4g}"
        typer.echo(f"  {row.cells:>8} {row.error:>10.4g} {row.half_width:>10.4g} {after:>10}  {row.name}")


def _show_promise(found: Outlook | TablesOutlook) -> None:
    for line in (*guarantee_lines(found.plan), *choice_lines(found.plan)):
        typer.echo(line)


def _show_plan(found: Outlook) -> None:
    mechanism = found.plan.mechanism
    assert isinstance(mechanism, SafeK)
    _show_promise(found)
    theorem5 = "not reachable" if found.least_k_theorem5 is None else str(found.least_k_theorem5)
    typer.echo(f"k {mechanism.k} at beta {float(mechanism.beta):g}: exact delta {found.exact_delta:.4g}")
    typer.echo(f"least k: {found.least_k_exact} exactly, {theorem5} by Theorem 5 of Li, Qardaji, Su (2012)")
    _show_budget(found)
    _show_kept(found)


def _show_budget(found: Outlook | TablesOutlook) -> None:
    typer.echo(f"budget {found.plan.bundle.budget.metadata.name}: {found.releases} such releases for life")
    for count, bound in enumerate(found.pso_bounds, start=1):
        typer.echo(
            f"  after {count}: predicate singling out succeeds with probability at most {bound:.4g} (weight 1e-9)"
        )


def _show_kept(found: Outlook) -> None:
    typer.echo("least k at this delta (Theorem 5 in brackets)")
    betas = sorted({row.beta for row in found.trade_offs})
    typer.echo("  epsilon \\ beta " + "".join(f"{float(beta):>12g}" for beta in betas))
    for epsilon in sorted({row.epsilon for row in found.trade_offs}):
        rows = [row for row in found.trade_offs if row.epsilon == epsilon]
        cells = (f"{row.exact} ({row.theorem5 if row.theorem5 is not None else 'none'})" for row in rows)
        typer.echo(f"  {float(epsilon):<14g} " + "".join(f"{cell:>12}" for cell in cells))
    for title, kept in (("as planned", found.kept), ("recommended", found.recommended)):
        if kept is not None:
            levels = ", ".join(f"{name}: {level}" for name, level in kept.levels.items())
            typer.echo(
                f"{title}: about {kept.share:.0%} of the sampled rows stay if attributes are independent ({levels})"
            )
