"""Whole numbers out of consistent tables.

What rounding promises: every table holds whole numbers, all tables have the same total, and a table adds up exactly to
the finest other table that is a margin of it, all the way along a chain of levels. Tables that cross (sex x age and
age x race) agree before rounding and can differ on their common margin after it; no cell moves by 1 or more where the
tables agree.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crowdgate.mechanisms.tables.consistency import Axes, Floats, cells_of, refines

Vector = npt.NDArray[np.int64]


def round_tables(axes: Sequence[Axes], tables: Sequence[Floats]) -> tuple[Vector, ...]:
    """Non-negative consistent tables in whole numbers, coarsest first, each within the totals of its parent."""
    rounded: dict[int, Vector] = {}
    total = np.array([round(float(np.mean([table.sum() for table in tables])))], dtype=np.int64)
    for at in sorted(range(len(tables)), key=lambda at: tables[at].size):
        above = parent(axes, at, list(rounded))
        groups = cells_of(axes[at], axes[above] if above is not None else {})
        targets = rounded[above].reshape(-1) if above is not None else total
        rounded[at] = largest_remainder(tables[at].reshape(-1), groups, targets).reshape(tables[at].shape)
    return tuple(rounded[at] for at in range(len(tables)))


def parent(axes: Sequence[Axes], at: int, among: Sequence[int]) -> int | None:
    """Of some tables, the one of most cells that is a margin of table `at` (the first of equals), or None."""
    coarser = [other for other in among if other != at and refines(axes[at], axes[other])]
    return max(
        coarser, key=lambda other: (np.prod([len(level) for level in axes[other].values()]), -other), default=None
    )


def largest_remainder(values: Floats, groups: Vector, targets: Vector) -> Vector:
    """Whole non-negative numbers near `values` that add up to targets[g] in every group g.

    All are rounded down; what a group lacks goes, one by one, to its largest remainders (of equals the first). Where
    the target is below the rounded-down sum, cells of the smallest remainders give. Targets are non-negative.
    """
    down = np.floor(np.maximum(values, 0.0)).astype(np.int64)
    part = np.maximum(values, 0.0) - down
    # what each group lacks after rounding down
    lacks = targets - np.bincount(groups, weights=down, minlength=len(targets)).astype(np.int64)
    # by group, the largest remainder first; of equals the first cell
    order = np.lexsort((np.arange(len(values)), -part, groups))
    sizes = np.bincount(groups, minlength=len(targets))
    # the place of each cell in this order within its group
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.arange(len(values)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    # every cell of a group gets the whole part of what it lacks by cell, the first ones in the order one more
    every, some = np.divmod(np.maximum(lacks, 0), np.maximum(sizes, 1))
    out = down + every[groups] + (rank < some[groups])
    for group in np.flatnonzero(lacks < 0):
        _take(out, order[groups[order] == group][::-1], -int(lacks[group]))
    return out


def _take(out: Vector, members: Vector, amount: int) -> None:
    while amount:
        positive = members[out[members] > 0][:amount]
        out[positive] -= 1
        amount -= len(positive)
