"""Forecast for a policy of tables from public figures alone: privacy cost, and the error of each number from noise and
sampling."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.kind.forecast import Axes, Basis, CellErrors, CountErrors, Errors, Figure, Forecast
from crowdgate.kind.listing import Listing, ListingColumn
from crowdgate.kinds.tables.gate_chances import pass_probabilities
from crowdgate.mechanisms.tables.accuracy import Z95, ExpectedNoise
from crowdgate.mechanisms.tables.consistency import refines
from crowdgate.mechanisms.tables.dp_tables import DpTables, expected_noise, margin_noise, total_error
from crowdgate.mechanisms.tables.spec import DpTablesSpec
from crowdgate.mechanisms.tables.workload import ContingencyTable
from crowdgate.number_text import LEAST, Value
from crowdgate.system import lazy_libraries

if TYPE_CHECKING:
    from crowdgate.hierarchy import Level
    from crowdgate.kind.prior import ExpectedCounts, ExpectedRange, Prior
    from crowdgate.kinds.tables.plan import TablesPlan

COLUMNS = (
    ListingColumn("query", "table"),
    ListingColumn("cells", "cells", "d"),
    ListingColumn("standard_error", "standard error"),
    ListingColumn("half_width", "half of the 95 % interval"),
    ListingColumn("coverage", "coverage", LEAST),
    ListingColumn("consistent_standard_error", "after consistency"),
    ListingColumn("consistent_half_width", "half of its 95 % interval"),
)
COINS_NOTE = (
    "noise and sampling together, root mean square over cells; for the budget's bound on people unless counts are"
    " given; of sums and means at most"
)
TRUSTED_SLACK = 0.02
"""The least half width of the range of the trustworthy share."""


def outlook(planned: TablesPlan, prior: Prior) -> Forecast:
    """Return the forecast: the expected error of each query from noise and sampling, as drawn and after consistency."""
    noise = cache(lambda: expected_noise(planned.mechanism))
    errors = cache(lambda: _errors(planned.mechanism, noise(), prior))
    return Forecast(
        make_figures=lambda: tuple(_figures(planned, noise(), prior)),
        made=lambda: (_listing(planned.mechanism, noise(), prior),),
        errors=lambda axes: errors()(axes),
        compared=_compared_axes(planned, prior),
        odds=pass_probabilities(planned, prior, lambda: next(_trustworthy_share(planned, noise, prior), None)),
    )


def propose(levels: Axes, needed: Sequence[Axes] = ()) -> Sequence[DpTablesSpec]:
    """Return policies for all one- and two-way tables of these attributes at these levels, and for the `needed` tables
    alone, with either noise."""
    found = _proposals(levels, [{"all": str(ways)} for ways in (1, 2) if ways <= len(levels)])
    columns = {name: level for table in needed for name, level in table.items()}
    return [*found, *(_proposals(columns, [{"attributes": list(table)} for table in needed]) if needed else ())]


def _proposals(levels: Axes, tables: Sequence[Mapping[str, object]]) -> list[DpTablesSpec]:
    named = {name: level.name for name, level in levels.items()}
    stated = {"kind": "dp_tables", "levels": named, "tables": tables}
    return [DpTablesSpec.model_validate({**stated, "noise": noise}) for noise in ("gaussian", "laplace")]


def _figures(planned: TablesPlan, rows: Sequence[ExpectedNoise], prior: Prior) -> Iterator[Figure]:
    yield Figure.exact("cells", "noisy numbers", planned.mechanism.noisy_numbers)
    yield Figure.exact("beta", "sampling rate beta", planned.mechanism.beta)
    yield from _trustworthy_share(planned, lambda: rows, prior)


def _listing(mechanism: DpTables, rows: Sequence[ExpectedNoise], prior: Prior) -> Listing:
    people = _expected_people(prior)
    width = _interval_width(mechanism)
    listed = [_row(row, _sampling_error(mechanism, at, people), width) for at, row in enumerate(rows)]
    note = "" if mechanism.beta == 1 else COINS_NOTE
    return Listing("expected", "Expected errors of the noisy numbers", COLUMNS, tuple(listed), note)


def _expected_people(prior: Prior) -> float:
    """Return the expected number of people: the total of the given counts or, without counts, the budget's bound on
    people."""
    total = prior.joint({})
    return float(prior.people) if total is None else float(total.people.sum())


def _sampling_error(mechanism: DpTables, at: int, people: float) -> float:
    """Return the root mean square standard error from sampling over the cells of a query, for `people` people; for a
    sum an upper bound."""
    linear, rate = mechanism.queries[at], float(mechanism.beta)
    each = float(linear.query.contribution * (1 if linear.grid is None else linear.grid.unit))
    return each * float(np.sqrt(people / linear.query.cells * (1 - rate) / rate))


def _row(row: ExpectedNoise, coins: float, width: float) -> dict[str, Value]:
    """Return the errors of a query; `width` is half of an interval after consistency, in standard errors."""
    after = None if row.consistent_error is None else float(np.hypot(row.consistent_error, coins))
    return {
        "query": row.name,
        "cells": row.cells,
        "standard_error": float(np.hypot(row.error, coins)),
        "half_width": float(np.hypot(row.half_width, Z95 * coins)),
        "coverage": None if coins else row.coverage,
        "consistent_standard_error": after,
        "consistent_half_width": None if after is None else width * after,
    }


def _interval_width(mechanism: DpTables) -> float:
    """Return half of the 95 % interval of a count after consistency, in standard errors."""
    return Z95 if mechanism.width is None else float(mechanism.width)


def _trustworthy_share(
    planned: TablesPlan, noise: Callable[[], Sequence[ExpectedNoise]], prior: Prior
) -> Iterator[Figure]:
    """Yield the expected share of trustworthy counts of people, if something is known of all counts."""
    workload = planned.mechanism.workload
    counted = [
        own[0] for item, own in zip(workload.items, workload.answers, strict=True) if isinstance(item, ContingencyTable)
    ]
    known = [joint for at in counted if (joint := prior.joint(workload.queries[at].levels)) is not None]
    if not counted or len(known) < len(counted):
        return
    rows = [noise()[at] for at in counted]
    found = [_trustworthy_cells(planned, joint, row) for joint, row in zip(known, rows, strict=True)]
    cells = sum(row.cells for row in rows)
    value, low, high = (sum(getattr(each, end) for each in found) / cells for end in ("value", "low", "high"))
    basis = min((joint.basis for joint in known), key=list(Basis).index)
    yield Figure("trusted_share", "expected share of the counts that are trustworthy", value, low, high, basis)


def _trustworthy_cells(planned: TablesPlan, joint: ExpectedCounts, row: ExpectedNoise) -> ExpectedRange:
    """Return the expected number of trustworthy cells of a table of counts."""
    relative, rate = float(planned.spec.relative_error), float(planned.mechanism.beta)
    noise = row.error if row.consistent_error is None else row.consistent_error
    half = _interval_width(planned.mechanism)

    def trusted(people: Floats) -> float:
        error = np.hypot(noise, np.sqrt(people * (1 - rate) / rate))
        return float(lazy_libraries.special.ndtr(people / error - half / relative).sum())

    return joint.range_of(trusted, lambda _: TRUSTED_SLACK * row.cells, row.cells)


def _compared_axes(planned: TablesPlan, prior: Prior) -> Axes:
    """Return the attributes and levels to compare with other kinds: those of the policy's `levels` or, without it,
    those of all tables of counts at the finest level used."""
    stated = planned.spec.levels
    if stated:
        return {name: next(each for each in prior.levels(name) if each.name == stated[name]) for name in stated}
    finest: dict[str, Level] = {}
    for linear in planned.mechanism.queries:
        for name, level in linear.levels.items() if linear.grid is None else ():
            if name not in finest or len(level) > len(finest[name]):
                finest[name] = level
    return finest


def _errors(mechanism: DpTables, rows: Sequence[ExpectedNoise], prior: Prior) -> Errors:
    """Return the function from a table's axes to the expected errors of its cells: the least noise of a query that has
    the table as a margin, and sampling. For a query's own axes this is the noise after consistency; for sums of its
    cells, that of independent noise, which consistency does not enlarge."""
    noise = [(linear.levels, row) for linear, row in zip(mechanism.queries, rows, strict=True) if linear.grid is None]
    if mechanism.residuals:
        noise += zip([each.levels for each in mechanism.residuals], margin_noise(mechanism), strict=True)

    def of_table(axes: Axes) -> CellErrors | None:
        found = [error for levels, row in noise for error in _margin_error(axes, levels, row)]
        rate, cells = float(mechanism.beta), prod(map(len, axes.values()))
        counts = np.zeros(cells) if rate == 1 else prior.counts(axes)  # without sampling no count adds to the error
        if not found or counts is None:
            return None
        coins = np.sqrt(counts * (1 - rate) / rate)
        drawn = np.full(cells, min(found))
        return CellErrors(np.hypot(drawn, coins), {"noise": drawn, "coins": coins})

    return of_table


def count_errors(mechanism: DpTables) -> CountErrors | None:
    """Return the expected standard errors of the noise on published counts; None without tables of counts."""
    rows, workload = expected_noise(mechanism), mechanism.workload
    answers = zip(workload.items, workload.answers, strict=True)
    counted = [rows[own[0]] for item, own in answers if isinstance(item, ContingencyTable)]
    if not counted:
        return None
    tables = ((row.cells, row.error if row.consistent_error is None else row.consistent_error) for row in counted)
    return CountErrors(total_error(mechanism), tuple(each for each in tables if each[0] > 1))


def _margin_error(axes: Axes, levels: Axes, row: ExpectedNoise) -> Iterator[float]:
    if refines(levels, axes):
        further = row.cells / prod(map(len, axes.values()))
        after = row.consistent_error if further == 1 else None
        yield row.error * further**0.5 if after is None else after
