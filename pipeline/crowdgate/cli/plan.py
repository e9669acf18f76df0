"""The command that shows what a policy promises and costs."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Annotated

import typer

from crowdgate.cli.options import AsJson
from crowdgate.cli.output import print_json, print_listing, print_table
from crowdgate.forecast.compare import KindComparison
from crowdgate.forecast.compare import compare as compare_kinds
from crowdgate.forecast.outlook import Outlook, outlook
from crowdgate.forecast.target_search import TargetAnswer, TargetRequest, target_answers
from crowdgate.kind.forecast import CellErrors, Chart
from crowdgate.kind.listing import Listing, json_value
from crowdgate.number_text import Value, decimal, format_value
from crowdgate.planning.budget_left import guarantee_sentences, informed_text


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
        typer.Option("--within", metavar="ERROR", help="A wish: tables to this relative error."),
    ] = None,
    above: Annotated[
        int | None,
        typer.Option("--above", metavar="PEOPLE", help="In cells of so many (1 % of all).", min=1),
    ] = None,
    rows: Annotated[
        str | None, typer.Option("--rows", metavar="COLUMNS", help="A wish: these columns (a,b,c) as rows.")
    ] = None,
    keep: Annotated[
        str | None, typer.Option("--keep", metavar="SHARE", help="Of which this share stays (0.9).")
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="The policy beside other kinds of release, table by table.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what a policy promises and costs, and its alternatives; nothing is read but what is public."""
    asked = TargetRequest(within, above, rows, keep)
    found = outlook(policy, source, asked.columns)
    beside = compare_kinds(found.plan, found.figures.prior, found.forecast) if compare else None
    answers = list(target_answers(found, asked))
    if page is not None:
        from crowdgate.pages.plan import write_plan_page

        write_plan_page(found, page)
    if as_json:
        compared = {"compared": beside.to_json()} if beside else {}
        wishes = {"wishes": [answer.to_json() for answer in answers]} if answers else {}
        print_json({**found.to_json(), **compared, **wishes})
        return
    _show_plan(found)
    for answer in answers:
        _show_answer(answer)
    if beside is not None:
        _show_comparison(beside)


def _show_plan(found: Outlook) -> None:
    said = (
        *guarantee_sentences(found.plan, found.standing.left),
        *found.plan.protection.kind.notes(found.plan.protection.mechanism),
        *found.rests_on(),
        *found.charges,
    )
    for line in (*said, *informed_text(found.informed)):
        typer.echo(line)
    for figure in found.forecast.figures:
        around = f" ({figure.range_text}; {figure.basis})" if figure.range_text else ""
        typer.echo(f"{figure.label}: {format_value(figure.value, figure.format)}{around}")
    typer.echo(f"budget {found.plan.bundle.budget.metadata.name}: {found.releases} such releases for life")
    for line in found.standing.left.words():
        typer.echo(f"  {line}")
    typer.echo(found.chances.words())
    for gate in found.chances.gates:
        typer.echo(f"  gate {gate.gate}: {gate.words()}")
    for count, bound in enumerate(found.pso_bounds, start=1):
        success = f"predicate singling out succeeds with probability at most {decimal(bound, 4)} (weight 1e-9)"
        typer.echo(f"  after {count} such, and no others: {success}")
    print_listing(found.pso_curve)
    if found.prediction.rows:
        print_listing(found.prediction)
    chart = found.forecast.chart
    for listing in found.forecast.listings:
        if chart is not None and chart.listing == listing.name:
            _show_grid(listing, chart)
        elif listing.rows and not listing.further:
            print_listing(listing)


def _show_answer(answer: TargetAnswer) -> None:
    typer.echo(f"wish: {answer.wish}")
    for each in answer.proposals:
        reached = "unknown" if each.reached is None else format_value(each.reached)
        typer.echo(
            f"  {'meets it' if each.met else 'does not meet it'} ({reached}): mechanism: {json.dumps(each.mechanism)}"
        )
    typer.echo(f"  {answer.advice}")


def _show_grid(listing: Listing, chart: Chart) -> None:
    """What the chart draws, as a grid: further lines stand in brackets."""
    typer.echo(listing.title + (f" ({listing.note}; in brackets)" if listing.note else ""))
    across = sorted({json_value(row[chart.x]) for row in listing.rows})
    cells = {(json_value(row[chart.by]), json_value(row[chart.x])): row for row in listing.rows}
    down = sorted({key[0] for key in cells})
    rows = [[format_value(at), *(_grid_cell(cells[at, place], chart) for place in across)] for at in down]
    print_table([f"{chart.by} \\ {chart.x}", *map(format_value, across)], rows)


def _grid_cell(row: Mapping[str, Value], chart: Chart) -> str:
    first, *further = (format_value(row[name], "d") for name in chart.lines)
    return first + (f" ({', '.join(further)})" if further else "")


def _show_comparison(found: KindComparison) -> None:
    for rival in found.rivals:
        figures = ", ".join(
            f"{figure.name} {format_value(figure.value, figure.format)}" for figure in rival.forecast.figures
        )
        typer.echo(f"beside {rival.kind} at the same epsilon and delta ({figures})")
    typer.echo(f"error of a cell, median / greatest: {found.assumed}")
    every = (found.own, *found.rivals)
    titles = ["table", "cells", *(rival.kind for rival in every), *(f"{rival.kind}: lost rows" for rival in every)]
    print_table(titles, _compared(found), [0])
    typer.echo("which to use (errors are root mean squares over all cells):")
    for line in found.which:
        typer.echo(f"  {line}")


def _compared(found: KindComparison) -> Iterator[list[str]]:
    every = (found.own, *found.rivals)
    for at, levels in enumerate(found.tables):
        names = ", ".join(f"{name} ({level.name})" for name, level in levels.items())
        errors = [rival.errors[at] for rival in every]
        lost = ["" if each is None else f"{each.lost:.0%}" for each in errors]
        yield [names, str(len(found.counts[at])), *map(_middle_and_most, errors), *lost]


def _middle_and_most(errors: CellErrors | None) -> str:
    if errors is None:
        return "not told"
    return f"{median(errors.error.tolist()):.4g} / {max(errors.error.tolist()):.4g}"
