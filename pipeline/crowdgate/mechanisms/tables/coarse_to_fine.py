"""Tables without negative cells, in whole numbers, from coarse to fine: finer tables keep the numbers of coarser ones.

The least-squares estimates agree and are unbiased, but cells can be negative, and the cut at 0 in many empty cells must
not change the total. So, one after another,

1. the total is its estimate, cut at 0; tables of one attribute, and common margins of two tables over one attribute,
   coarsest level first, are the nearest tables without negative cells that add up to the earlier ones, in whole
   numbers;
2. all other tables together are the nearest to their estimates, in a distance weighted by 1/variance, that agree, have
   no negative cell, and have those margins (Dykstra's alternating projections, within a bound on work);
3. each of these, coarsest first, is the nearest table without negative cells that adds up to its margins among the
   earlier ones, in whole numbers; `MarginLattice.exact_margins` selects the margins, `rounding` the whole numbers.

So each table has the same total and adds up exactly to the finest other table that is a margin of it. Other margins
that it shares agree exactly if the levels allow, as in all tables of one and two attributes at one level each; where
more than two finest margins cross they agree nearly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.mechanisms.tables.lattice import MarginLattice, Ranks, refines
from crowdgate.mechanisms.tables.orthogonal import Orthogonal
from crowdgate.mechanisms.tables.rounding import MarginConstraint, nearest_table, whole_number_tables

if TYPE_CHECKING:
    from crowdgate.mechanisms.tables.consistency import Axes

_HELD = 1e-6
"""The variance of fixed margins, in parts of the smallest one."""
_TOLERANCE = 0.01
"""Largest distance between tables before they are rounded, in standard errors of the noise."""
_ROUNDS = 300
_WORK = 4e6
"""Bound on the numbers that all rounds of projections process, with 500 more for each table (about half a second)."""


def whole_tables(axes: Sequence[Axes], estimates: Sequence[Floats], variances: Sequence[float]) -> tuple[Integers, ...]:
    """Return tables of whole numbers from 0 on that add up to their margins as the module states, from least-squares
    estimates and the noise variance of each table's cells."""
    lattice = MarginLattice.of(axes)
    coarse = [ranks for ranks in lattice.members if sum(map(bool, ranks)) <= 1]
    others = [at for at, levels in enumerate(axes) if lattice.ranks(levels) not in coarse]
    found: dict[Ranks, Integers] = {}
    wanted = lattice.margins(axes, estimates)
    for ranks in coarse:
        found[ranks] = _whole_table(lattice, ranks, wanted(ranks), found)
    if others:
        held = [(lattice.axes(ranks), found[ranks]) for ranks in coarse]
        own = [axes[at] for at in others]
        together = _nonnegative_tables(own, [estimates[at] for at in others], [variances[at] for at in others], held)
        wanted = lattice.margins(own, together)
        pending = [ranks for ranks in lattice.members if ranks not in found]
        while pending:
            ready = [own for own in pending if not any(other != own and refines(own, other) for other in pending)]
            found |= _whole_tables(lattice, {ranks: wanted(ranks) for ranks in ready}, found)
            pending = [ranks for ranks in pending if ranks not in found]
    shapes = [tuple(map(len, levels.values())) for levels in axes]
    tables = [found[lattice.ranks(levels)][lattice.cells(levels, lattice.ranks(levels))] for levels in axes]
    return tuple(table.reshape(shape) for table, shape in zip(tables, shapes, strict=True))


def _whole_table(lattice: MarginLattice, ranks: Ranks, wanted: Floats, found: Mapping[Ranks, Integers]) -> Integers:
    """Return the table of whole numbers from 0 on that is nearest to `wanted` and adds up to its margins among the
    tables in `found`."""
    return _whole_tables(lattice, {ranks: wanted}, found)[ranks]


def _whole_tables(
    lattice: MarginLattice, wanted: Mapping[Ranks, Floats], found: Mapping[Ranks, Integers]
) -> dict[Ranks, Integers]:
    """Return the tables of whole numbers from 0 on, none a margin of another, that are nearest to `wanted` and add up
    to their margins among the tables in `found`."""
    margins = {ranks: _margins(lattice, ranks, found) for ranks in wanted}
    near = [(nearest_table(wanted[ranks], own), own) for ranks, own in margins.items() if own]
    whole = iter(whole_number_tables(near))
    return {ranks: next(whole) if own else _total(wanted[ranks]) for ranks, own in margins.items()}


def _margins(lattice: MarginLattice, ranks: Ranks, found: Mapping[Ranks, Integers]) -> list[MarginConstraint]:
    axes = lattice.axes(ranks)
    held = lattice.exact_margins(ranks, found)
    return [MarginConstraint(lattice.cells(axes, other), found[other]) for other in held]


def _total(wanted: Floats) -> Integers:
    return np.array([max(0, round(float(wanted.sum())))], dtype=np.int64)


def _nonnegative_tables(
    axes: Sequence[Axes], estimates: Sequence[Floats], variances: Sequence[float], held: Sequence[tuple[Axes, Integers]]
) -> list[Floats]:
    """Return the agreeing tables without negative cells that are nearest to the estimates and have the fixed margins
    `held`, by Dykstra's method: alternate projections onto agreeing tables, and onto tables without negative cells."""
    firm = _HELD * min(variances)
    plane = Orthogonal.of([*axes, *(levels for levels, _ in held)], [*variances, *([firm] * len(held))])
    parts = [*estimates, *(values.astype(np.float64) for _, values in held)]
    z = plane.nearest(np.concatenate([part.reshape(-1) for part in parts]))
    correction, clipped = np.zeros_like(z), np.maximum(z, 0.0)
    near = _TOLERANCE * min(variances) ** 0.5
    for _ in range(min(_ROUNDS, int(_WORK / (len(z) + 500 * len(parts))))):
        if np.abs(z - clipped).max() <= near:
            break
        clipped = np.maximum(z + correction, 0.0)
        correction += z - clipped
        z = plane.nearest(clipped)
    ends = np.cumsum([table.size for table in estimates])
    cut = np.split(np.maximum(z, 0.0), ends)[:-1]
    return [part.reshape(table.shape) for part, table in zip(cut, estimates, strict=True)]
