"""The command that shows the guarantee and the privacy cost of a policy."""

import re
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdgate.cli.options import AsJson
from crowdgate.cli.output import print_report
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.forecast.compare import compare as compare_kinds
from crowdgate.forecast.outlook import outlook
from crowdgate.forecast.target_search import TargetRequest, target_answers
from crowdgate.limits import MOST_WORKERS
from crowdgate.pages.plan import PlanReport

if TYPE_CHECKING:
    from crowdgate.forecast.computing_cost import ComputingCost
    from crowdgate.kind.plan import Plan

MOST_ROWS = 10**15


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
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", metavar="N", min=1, max=MOST_WORKERS, help="Estimate time and memory with N workers."
        ),
    ] = None,
    table_rows: Annotated[
        str | None,
        typer.Option("--table-rows", metavar="N", help="Rows of that table (1e9); by default the contract's limit."),
    ] = None,
    best: Annotated[
        bool, typer.Option("--best", help="Search for the policies with the least error on the contract's analyses.")
    ] = False,
    write: Annotated[
        bool, typer.Option("--write", help="With --best: write these policies beside the policy.")
    ] = False,
    rows_per_person: Annotated[
        Path | None,
        typer.Option(
            "--rows-per-person",
            metavar="RELEASE",
            help="Find the contract's most rows of a person, by a pilot release that counts rows per person.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the guarantee, the privacy cost and alternatives of a policy; only public figures are read."""
    if rows_per_person is not None:
        others = {
            "--from": source, "--within": within, "--above": above, "--rows": rows, "--keep": keep,
            "--compare": compare, "--releases": releases, "--workers": workers, "--table-rows": table_rows,
            "--best": best, "--write": write,
        }  # fmt: skip
        _check_alone("--rows-per-person", [name for name, value in others.items() if value])
        _rows_per_person(policy, rows_per_person, page, as_json)
        return
    if best or write:
        _best(policy, source, write, page, as_json)
        return
    asked = TargetRequest(within, above, rows, keep)
    found = outlook(policy, source, asked.columns)
    beside = compare_kinds(found.plan, found.figures.prior, found.forecast) if compare else None
    cost = _cost(found.plan, table_rows, workers)
    print_report(PlanReport(found, list(target_answers(found, asked)), beside, releases, cost).report(), page, as_json)


def _cost(planned: "Plan", rows: str | None, workers: int | None) -> "ComputingCost | None":
    """Return the estimated cost of computing the release, if it is requested. Raises ConfigurationError."""
    if rows is None and workers is None:
        return None
    from crowdgate.forecast.computing_cost import computing_cost

    stated = planned.bundle.contract.rows_at_most if rows is None else whole_number(rows)
    if stated is None or not 1 <= stated <= MOST_ROWS:
        expected = f"a whole number such as 1e9, at most {MOST_ROWS:.0e}"
        raise ConfigurationError(Problem("command line", None, "--table-rows", str(rows or "no number"), expected))
    return computing_cost(planned, stated, workers or 1)


def whole_number(text: str) -> int | None:
    """Return the whole number that a text states, also with an exponent; None if it is none."""
    if not re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,15})?(e[0-9]{1,2})?", text):
        return None
    number = Fraction(text)
    return int(number) if number.denominator == 1 else None


def _check_alone(option: str, others: list[str]) -> None:
    """Raise ConfigurationError for options that say nothing beside this one."""
    if others:
        found = f"stated beside {', '.join(others)}"
        raise ConfigurationError(Problem("command line", None, option, found, "only --page and --json beside it"))


def _rows_per_person(policy: Path, release: Path, page: Path | None, as_json: bool) -> None:
    from crowdgate.forecast.row_bounds import row_bounds
    from crowdgate.pages.row_bounds import RowBoundsReport

    print_report(RowBoundsReport(row_bounds(policy, release)).report(), page, as_json)


def _best(policy: Path, source: Path | None, write: bool, page: Path | None, as_json: bool) -> None:
    from crowdgate.forecast.best_policies import best_policies
    from crowdgate.pages.best_policies import BestPoliciesReport
    from crowdgate.review.candidate_files import write_candidates

    found = outlook(policy, source)
    answer = best_policies(found)
    files = write_candidates(found.plan, answer.frontier) if write else []
    print_report(BestPoliciesReport(found, answer, files).report(), page, as_json)
