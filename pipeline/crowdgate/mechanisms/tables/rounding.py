"""One table at a time: the nearest without negative cells that adds up to its margins, and whole numbers near it.

Rounding guarantees that a table holds whole numbers from 0 on and adds up exactly to each of its margins, of which
there are one or two. Such a table always exists if the margins agree on their common margin: they are then the supplies
and demands of a transportation problem, whose vertices are whole (Hoffman, Kruskal 1956; controlled rounding: Cox
1987).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdgate.arrays import Floats, Integers

_ROUNDS = 200
_TOGETHER = 20_000
"""Largest number of cells of tables that are rounded together."""
_NEAR = 1e-7
"""Tolerance, in parts of a person, for whole numbers and for margins."""


@dataclass(frozen=True, eq=False)
class MarginConstraint:
    """The cell of a margin that each cell of a table belongs to, and the whole numbers of the margin."""

    cells: Integers
    sums: Integers


def nearest_table(values: Floats, margins: Sequence[MarginConstraint]) -> Floats:
    """Return the table without negative cells nearest to `values` that adds up to its margins: to one exactly, to two
    nearly.

    It is max(0, values - a shift for each margin cell). For one margin the shifts are found directly (a projection on
    simplices), for two alternately (Hildreth 1957).
    """
    shifted, table = values, values
    for _ in range(_ROUNDS if len(margins) > 1 else 1):
        for margin in margins:
            shifted = shifted - _shifts(shifted, margin)[margin.cells]
        table = np.maximum(shifted, 0.0)
        if all(np.abs(_added(table, margin) - margin.sums).max() <= _NEAR for margin in margins):
            break
    return table


def whole_number_table(values: Floats, margins: Sequence[MarginConstraint]) -> Integers:
    """Return whole numbers from 0 on, near `values`, that add up to one margin, or to two that agree on their common
    margin."""
    if len(margins) > 1:
        found = _transported(values, margins)
        if (found >= 0).all() and all((_added(found, margin) == margin.sums).all() for margin in margins):
            return found
    return largest_remainder(values, margins[0].cells, margins[0].sums)


def whole_number_tables(tables: Sequence[tuple[Floats, Sequence[MarginConstraint]]]) -> list[Integers]:
    """Return `whole_number_table` of each of these values with their margins. Tables with two margins are rounded
    together, as one transportation problem of independent parts, which is solved in less time than each by itself."""
    found: dict[int, Integers] = {}
    for run in _runs([at for at, (_, margins) in enumerate(tables) if len(margins) == 2], tables):
        found |= _rounded_together({at: tables[at] for at in run})
    return [found[at] if at in found else whole_number_table(*each) for at, each in enumerate(tables)]


def _runs(places: Sequence[int], tables: Sequence[tuple[Floats, Sequence[MarginConstraint]]]) -> list[list[int]]:
    """Return the places in runs of at most `_TOGETHER` cells, or of one table."""
    runs: list[list[int]] = []
    cells = _TOGETHER
    for at in places:
        cells += len(tables[at][0])
        if cells > _TOGETHER:
            runs, cells = [*runs, []], len(tables[at][0])
        runs[-1].append(at)
    return runs


def _rounded_together(tables: Mapping[int, tuple[Floats, Sequence[MarginConstraint]]]) -> dict[int, Integers]:
    """Return the tables with two margins whose numbers can all be rounded down or up; none if one of them can't."""
    values = np.concatenate([each for each, _ in tables.values()])
    margins = [_stacked([own[at] for _, own in tables.values()]) for at in range(2)]
    found = _rounded(values, margins)
    if found is None or any((_added(found, margin) != margin.sums).any() for margin in margins):
        return {}
    ends = np.cumsum([len(each) for each, _ in tables.values()])[:-1]
    return dict(zip(tables, np.split(found, ends), strict=True))


def _stacked(margins: Sequence[MarginConstraint]) -> MarginConstraint:
    """Return the margins of several tables as one margin of all their cells, one table after another."""
    starts = np.cumsum([0, *(len(each.sums) for each in margins)])
    cells = [each.cells + start for each, start in zip(margins, starts[:-1], strict=True)]
    return MarginConstraint(np.concatenate(cells), np.concatenate([each.sums for each in margins]))


def _shifts(values: Floats, margin: MarginConstraint) -> Floats:
    """Return for each cell of a margin the shift t at which max(0, values - t) add up to the margin's number over its
    table cells. By Newton's steps, which rise towards t."""
    greatest = np.full(len(margin.sums), -np.inf)
    np.maximum.at(greatest, margin.cells, values)
    of_all = (_added(values, margin) - margin.sums) / np.bincount(margin.cells)
    shifts = np.maximum(greatest - margin.sums, of_all)
    for _ in range(len(values)):
        active = values > shifts[margin.cells]
        number = np.bincount(margin.cells, active, len(shifts))
        rest = np.bincount(margin.cells, values * active, len(shifts)) - margin.sums
        better = np.where(number > 0, rest / np.maximum(number, 1), shifts)
        if (better <= shifts).all():
            break
        shifts = np.maximum(shifts, better)
    return shifts


def _added(values: Floats | Integers, margin: MarginConstraint) -> Floats:
    return np.bincount(margin.cells, values, len(margin.sums)).astype(np.float64)


def _transported(values: Floats, margins: Sequence[MarginConstraint]) -> Integers:
    """Return a vertex of the transportation problem: each number rounded down or up, with the least total distance; if
    `values` are too far from their margins for that, further away."""
    found = _rounded(values, margins)
    if found is not None:
        return found
    down = np.floor(values + _NEAR)
    lacks = np.concatenate([margin.sums - _added(down, margin) for margin in margins])
    sums = _incidence(margins)
    moved = _solved(np.ones(2 * len(down)), _both(sums), lacks, [(0, None)] * len(down) + [(0, d) for d in down])
    further = down if moved is None else down + moved[: len(down)] - moved[len(down) :]
    return further.astype(np.int64)


def _rounded(values: Floats, margins: Sequence[MarginConstraint]) -> Integers | None:
    """Return each number rounded down or up, with the least total distance; None if margins do not allow that."""
    down = np.floor(values + _NEAR)
    part = np.where(values - down > _NEAR, values - down, 0.0)
    lacks = np.concatenate([margin.sums - _added(down, margin) for margin in margins])
    some = np.flatnonzero(part)
    if not lacks.any():
        return down.astype(np.int64)
    up = _solved(1 - 2 * part[some], _incidence(margins)[:, some], lacks, (0, 1)) if len(some) else None
    if up is None:
        return None
    down[some] += up
    return down.astype(np.int64)


def _incidence(margins: Sequence[MarginConstraint]) -> Any:
    """Return the incidence matrix of margin cells (rows) and table cells (columns)."""
    from scipy.sparse import csc_array

    starts = np.cumsum([0, *(len(margin.sums) for margin in margins)])
    rows = np.concatenate([margin.cells + start for margin, start in zip(margins, starts[:-1], strict=True)])
    columns = np.tile(np.arange(len(margins[0].cells)), len(margins))
    return csc_array((np.ones(len(rows)), (rows, columns)), shape=(starts[-1], len(margins[0].cells)))


def _both(sums: Any) -> Any:
    from scipy.sparse import hstack

    return hstack([sums, -sums])


def _solved(costs: Floats, sums: Any, lacks: Floats, bounds: Any) -> Floats | None:
    from scipy.optimize import linprog

    found = linprog(costs, A_eq=sums, b_eq=lacks, bounds=bounds, method="highs")
    return None if found.status else np.rint(np.asarray(found.x, dtype=np.float64))


def largest_remainder(values: Floats, groups: Integers, targets: Integers) -> Integers:
    """Return whole non-negative numbers near `values` that add up to targets[g] in each group g.

    All are rounded down; the difference to a group's target goes, one by one, to its largest remainders (of equals the
    first). If the target is below the rounded-down sum, cells of the smallest remainders are reduced. Targets are
    non-negative.
    """
    down = np.floor(np.maximum(values, 0.0)).astype(np.int64)
    part = np.maximum(values, 0.0) - down
    # difference of each group's target and its rounded-down sum
    lacks = targets - np.bincount(groups, weights=down, minlength=len(targets)).astype(np.int64)
    # order by group, then by remainder, the largest first; of equals the first cell
    order = np.lexsort((np.arange(len(values)), -part, groups))
    sizes = np.bincount(groups, minlength=len(targets))
    # rank of each cell within its group
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.arange(len(values)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    # each cell of a group gets the whole part of the difference per cell, the first ones in the order one more
    every, some = np.divmod(np.maximum(lacks, 0), np.maximum(sizes, 1))
    out = down + every[groups] + (rank < some[groups])
    for group in np.flatnonzero(lacks < 0):
        _take(out, order[groups[order] == group][::-1], -int(lacks[group]))
    return out


def _take(out: Integers, members: Integers, amount: int) -> None:
    while amount:
        positive = members[out[members] > 0][:amount]
        out[positive] -= 1
        amount -= len(positive)
