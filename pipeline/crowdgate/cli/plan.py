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
    best: Annotated[
        bool, typer.Option("--best", help="Search for the policies with the least error on the contract's analyses.")
    ] = False,
    write: Annotated[
        bool, typer.Option("--write", help="With --best: write these policies beside the policy.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the guarantee, the privacy cost and alternatives of a policy; only public figures are read."""
    if best or write:
        _best(policy, source, write, page, as_json)
        return
    asked = TargetRequest(within, above, rows, keep)
    found = outlook(policy, source, asked.columns)
    beside = compare_kinds(found.plan, found.figures.prior, found.forecast) if compare else None
    print_report(PlanReport(found, list(target_answers(found, asked)), beside, releases).report(), page, as_json)


def _best(policy: Path, source: Path | None, write: bool, page: Path | None, as_json: bool) -> None:
    from crowdgate.forecast.best_policies import best_policies
    from crowdgate.pages.best_policies import BestPoliciesReport
    from crowdgate.review.candidate_files import write_candidates

    found = outlook(policy, source)
    answer = best_policies(found)
    files = write_candidates(found.plan, answer.frontier) if write else []
    print_report(BestPoliciesReport(found, answer, files).report(), page, as_json)
