"""What a policy of tables promises and costs, and how far its noise moves every number: from public figures alone."""

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from crowdgate.hierarchy import Level
from crowdgate.kind.forecast import Axes, CellErrors, Column, Errors, Figure, Forecast, Listing, Prior
from crowdgate.kinds.tables.plan import TablesPlan
from crowdgate.mechanisms.tables.accuracy import Expected
from crowdgate.mechanisms.tables.consistency import refines
from crowdgate.mechanisms.tables.dp_tables import DpTables, expected
from crowdgate.mechanisms.tables.spec import DpTablesSpec

COLUMNS = (
    Column("query", "table"),
    Column("cells", "cells", "d"),
    Column("standard_error", "standard error"),
    Column("half_width", "half of the 95 % interval"),
    Column("coverage", "coverage", ".3f"),
    Column("consistent_standard_error", "after consistency"),
)


def outlook(planned: TablesPlan, prior: Prior) -> Forecast:
    """The expected errors of every query, as drawn and after consistency."""
    mechanism = planned.mechanism
    rows = expected(mechanism)
    figures = [
        Figure.exact("cells", "noisy numbers", mechanism.workload.cells),
        Figure.exact("beta", "sampling rate beta", mechanism.beta),
    ]
    listing = Listing("expected", "Expected errors of the noisy numbers", COLUMNS, tuple(map(_row, rows)))
    return Forecast(
        figures=tuple(figures),
        listings=(listing,),
        errors=_errors(mechanism, rows, prior),
        compared=_compared(planned, prior),
    )


def propose(levels: Axes) -> Sequence[DpTablesSpec]:
    """All one- and two-way tables of these attributes at these levels."""
    named = {name: level.name for name, level in levels.items()}
    ways = [{"all": str(ways)} for ways in (1, 2) if ways <= len(levels)]
    return [DpTablesSpec.model_validate({"kind": "dp_tables", "levels": named, "tables": ways})]


def _row(row: Expected) -> dict[str, str | int | float | None]:
    return {
        "query": row.name,
        "cells": row.cells,
        "standard_error": row.error,
        "half_width": row.half_width,
        "coverage": row.coverage,
        "consistent_standard_error": row.consistent_error,
    }


def _compared(planned: TablesPlan, prior: Prior) -> Axes:
    """The attributes of `levels`; without it, those of all tables of counts at the finest level used."""
    stated = planned.spec.levels
    if stated:
        return {name: next(each for each in prior.levels(name) if each.name == stated[name]) for name in stated}
    finest: dict[str, Level] = {}
    for linear in planned.mechanism.queries:
        for name, level in linear.levels.items() if linear.grid is None else ():
            if name not in finest or len(level) > len(finest[name]):
                finest[name] = level
    return finest


def _errors(mechanism: DpTables, rows: Sequence[Expected], prior: Prior) -> Errors:
    """The least error of a query that has the table as a margin, and of the coins: after consistency for the very
    table, and for a sum of cells that of independent noise, which consistency does not enlarge."""
    noise = [(linear.levels, row) for linear, row in zip(mechanism.queries, rows, strict=True) if linear.grid is None]

    def of_table(axes: Axes) -> CellErrors | None:
        found = [error for levels, row in noise for error in _margin_error(axes, levels, row)]
        counts = prior.counts(axes)
        if not found or counts is None:
            return None
        rate = float(mechanism.beta)
        coins = np.sqrt(counts * (1 - rate) / rate)
        drawn = np.full(len(counts), min(found))
        return CellErrors(np.hypot(drawn, coins), {"noise": drawn, "coins": coins})

    return of_table


def _margin_error(axes: Axes, levels: Axes, row: Expected) -> Iterator[float]:
    if refines(levels, axes):
        further = row.cells / prod(map(len, axes.values()))
        after = row.consistent_error if further == 1 else None
        yield row.error * further**0.5 if after is None else after
