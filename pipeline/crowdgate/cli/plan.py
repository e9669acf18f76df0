"""The command that shows the guarantee and the privacy cost of a policy."""

from pathlib import Path
from typing import Annotated

import typer

from crowdgate.cli.options import AsJson
from crowdgate.cli.output import print_report
from crowdgate.forecast.compare import compare as compare_kinds
from crowdgate.forecast.outlook import outlook
from crowdgate.forecast.target_search import TargetRequest, target_answers
from crowdgate.pages.plan import PlanReport


def plan(
    policy: Annotated[Path, typer.Argument(help="The policy file.")],
    page: Annotated[
        Path | None, typer.Option("--page", metavar="FILE", help="Write a page: HTML with a chart, or Markdown (.md).")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", metavar="PATH", help="Counts to expect from: a release of tables, or a public table."),
    ] = None,
    within: Annotated[
        str | None,
        typer.Option("--within", metavar="ERROR", help="A target: tables with this relative error."),
    ] = None,
    above: Annotated[
        int | None,
        typer.Option("--above", metavar="PEOPLE", help="In cells of so many (1 % of all).", min=1),
    ] = None,
    rows: Annotated[
        str | None, typer.Option("--rows", metavar="COLUMNS", help="A target: these columns (a,b,c) as rows.")
    ] = None,
    keep: Annotated[
        str | None, typer.Option("--keep", metavar="SHARE", help="The share of these rows that is retained (0.9).")
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Compare the policy with other kinds of release, table by table.")
    ] = False,
    releases: Annotated[
        int | None,
        typer.Option("--releases", metavar="N", help="Say whether the budget left pays for so many.", min=1),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the guarantee, the privacy cost and alternatives of a policy; only public figures are read."""
    asked = TargetRequest(within, above, rows, keep)
    found = outlook(policy, source, asked.columns)
    beside = compare_kinds(found.plan, found.figures.prior, found.forecast) if compare else None
    print_report(PlanReport(found, list(target_answers(found, asked)), beside, releases).report(), page, as_json)
