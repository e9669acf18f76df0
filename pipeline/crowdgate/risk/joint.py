"""A joint distribution of several attributes, from tables of some of them: iterative proportional fitting.

Of all joint tables with these margins it is the one that is nearest to a base in relative entropy (Csiszar 1975): with
all two-way tables known and a base of independent attributes, the one of greatest entropy, without interactions of
three and more attributes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from crowdgate.arrays import AnyIntegers, Floats, Integers

ROUNDS = 60
NEAR = 1e-3
"""Of a person on average over the cells of a table: where no table is further from the fit, it has converged."""


@dataclass(frozen=True, eq=False)
class KnownMargin:
    """Counts of a table with the variance of their noise (0: exact). `axes` maps places of the joint table's axes to
    the table's code of every code there; `counts` has the axes' order."""

    axes: Mapping[int, AnyIntegers]
    counts: Floats
    variance: Floats


def fitted(base: Floats, tables: Sequence[KnownMargin]) -> Floats:
    """The joint table nearest to `base` (not negative) with these tables as margins, as far as noise lets them agree.

    Tables come in by their number of attributes. What noise may have made is taken out of each first, by what the
    tables before it say already (`shrunk`).
    """
    joint = np.asarray(base, dtype=np.float64)
    targets: list[tuple[KnownMargin, Floats]] = []
    for ways in sorted({len(table.axes) for table in tables}):
        own = [table for table in tables if len(table.axes) == ways]
        targets = [*((table, shrunk(table, margin(joint, table))) for table in own), *targets]
        joint = _scaled(joint, targets)
    return joint


def margin(joint: Floats, table: KnownMargin) -> Floats:
    """The table that a joint table has in place of a known one."""
    others = tuple(at for at in range(joint.ndim) if at not in table.axes)
    kept = joint.sum(axis=others)
    sizes = table.counts.shape
    if kept.shape == sizes:
        return np.asarray(kept)
    sums = np.bincount(_cells(table, kept.shape), kept.reshape(-1), prod(sizes)).reshape(sizes)
    return np.asarray(sums, dtype=np.float64)


def shrunk(table: KnownMargin, expected: Floats) -> Floats:
    """Counts with noise, drawn to expected ones, as far as their distance is that of the noise alone.

    Cells of like expectation in standard errors are drawn together, by the share of noise in their squared distance
    (James, Stein 1961). Never below 0.
    """
    spread = np.broadcast_to(table.variance, expected.shape)
    distance = np.square(table.counts - expected)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(spread > 0, expected / np.sqrt(spread), np.inf)
        band = np.floor(np.log2(np.clip(ratio, 2.0**-4, 2.0**20))).astype(np.int64) + 4
    noise, found = (np.bincount(band.reshape(-1), part.reshape(-1)) for part in (spread, distance))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(found > noise, 1 - noise / found, 0.0)
    weight = np.where(spread > 0, share[band], 1.0)
    return np.maximum(expected + weight * (table.counts - expected), 0.0)


def _cells(table: KnownMargin, shape: tuple[int, ...]) -> Integers:
    """For every cell of the joint table's axes (flat) the cell of the table."""
    out = np.zeros(shape, dtype=np.int64)
    for at, (codes, size) in enumerate(zip(_ordered(table), table.counts.shape, strict=True)):
        along = [1] * len(shape)
        along[at] = -1
        out = out * size + np.asarray(codes, dtype=np.int64).reshape(along)
    return out.reshape(-1)


def _ordered(table: KnownMargin) -> list[AnyIntegers]:
    return [table.axes[at] for at in sorted(table.axes)]


def _scaled(joint: Floats, targets: Sequence[tuple[KnownMargin, Floats]]) -> Floats:
    joint = joint.copy()
    for _ in range(ROUNDS):
        gap = 0.0
        for table, counts in targets:
            found = margin(joint, table)
            gap = max(gap, float(np.abs(found - counts).mean()))
            ratio = np.divide(counts, found, out=np.ones_like(found), where=found > 0)
            joint *= spread(ratio, table, joint.shape)
        if gap < NEAR:
            break
    return joint


def spread(ratio: Floats, table: KnownMargin, shape: tuple[int, ...]) -> Floats:
    """A table's values, as an array that is broadcast to a joint table of this shape: each cell has its cell's."""
    kept = tuple(size if at in table.axes else 1 for at, size in enumerate(shape))
    own = tuple(size for at, size in enumerate(shape) if at in table.axes)
    return (ratio if ratio.shape == own else ratio.reshape(-1)[_cells(table, own)]).reshape(kept)
