"""A joint distribution of several attributes, from tables of some of them: iterative proportional fitting.

Of all joint tables with these margins it is the nearest to a base in relative entropy (Csiszar 1975). With all two-way
tables known and a base of independent attributes, it is the one of greatest entropy, without interactions of three or
more attributes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from crowdgate.arrays import AnyIntegers, Floats, Integers

ROUNDS = 60
NEAR = 1e-3
"""Convergence tolerance: the mean distance, in persons for each cell, of each table from the fit."""


@dataclass(frozen=True, eq=False)
class KnownMargin:
    """Counts of a table with the variance of their noise (0: exact). `axes` maps places of the joint table's axes to
    the table's code for each code there; `counts` has the axes' order."""

    axes: Mapping[int, AnyIntegers]
    counts: Floats
    variance: Floats


def fitted(base: Floats, tables: Sequence[KnownMargin]) -> Floats:
    """Return the joint table nearest to `base` (not negative) with these tables as margins, as far as noise lets them
    agree.

    Tables enter by their number of attributes. Each is first shrunk (`shrunk`) towards its expectation by the earlier
    tables, to remove noise.
    """
    joint = np.asarray(base, dtype=np.float64)
    targets: list[tuple[KnownMargin, Floats]] = []
    for ways in sorted({len(table.axes) for table in tables}):
        own = [table for table in tables if len(table.axes) == ways]
        targets = [*((table, shrunk(table, margin(joint, table))) for table in own), *targets]
        joint = _scaled(joint, targets)
    return joint


def margin(joint: Floats, table: KnownMargin) -> Floats:
    """Return the joint table summed to the cells of a known table."""
    others = tuple(at for at in range(joint.ndim) if at not in table.axes)
    kept = joint.sum(axis=others)
    sizes = table.counts.shape
    if kept.shape == sizes:
        return np.asarray(kept)
    sums = np.bincount(_cells(table, kept.shape), kept.reshape(-1), prod(sizes)).reshape(sizes)
    return np.asarray(sums, dtype=np.float64)


def shrunk(table: KnownMargin, expected: Floats) -> Floats:
    """Return noisy counts shrunk towards expected ones, as far as their distance can be due to noise alone.

    Cells of similar expectation in standard errors are shrunk together, by the share of noise in their squared distance
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
    """Return for each cell over the known table's axes at the joint table's codes (flat) the index of the known table's
    cell that it belongs to."""
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
    """Return `ratio`, one value for each cell of a known table, as an array that broadcasts to a joint table of this
    shape."""
    kept = tuple(size if at in table.axes else 1 for at, size in enumerate(shape))
    own = tuple(size for at, size in enumerate(shape) if at in table.axes)
    return (ratio if ratio.shape == own else ratio.reshape(-1)[_cells(table, own)]).reshape(kept)
