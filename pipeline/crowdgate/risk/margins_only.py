"""Bounds on the number of singletons when only margins are known, over all joint distributions with these margins.

A cell's probability p is unknown. One person of k is in a group of at most m with B(p) = P(Bin(k - 1, p) <= m - 1),
which falls with p; for m = 1 that is (1 - p)^(k - 1). The share of people in such groups is the sum of p B(p), and k
times that, for m = 1, is the expected number of singletons.

Lower bound. A cell has at most the probability r of each of its values, so that a person in it is in a small group with
at least the greatest B(r) of the person's values. For each joint distribution, P(max_i X_i > t) >= max_i P(X_i > t); so
the share is at least the integral over t of max_i P(B(r_i) > t). (Each margin's own singletons are one of these: a
further attribute never reduces them.)

Upper bound. Let h be concave and nowhere below p B(p). For any multipliers u_i of the margins' entries, by duality, the
sum of h over all cells is at most sum u_i r_i + sum over cells of max_p (h(p) - p (sum of its u_i)). h is the concave
hull of points above p B(p): on [x, y], p B(p) <= p B(x), which is linear in p. Any multipliers give a bound; good ones
are found by optimisation.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np

from crowdgate.accounting.numbers import Number, whole
from crowdgate.arrays import Floats
from crowdgate.risk.bins import Bins
from crowdgate.risk.groups import share_in_groups_up_to
from crowdgate.system import lazy_libraries

MOST_CELLS = 100_000
"""Up to this number of cells multipliers of all margins are optimised; beyond, those of one margin at a time."""
_POINTS = 600
_MOST_STEPS = 300
"""Multipliers that are tried. More of them hardly lower the bound."""
_SLACK = 1e-9
"""Relative tolerance for the rounding of floats."""


class MarginBounds(NamedTuple):
    """Lower and upper bound on a figure that margins alone do not determine."""

    low: float
    high: float


def singletons_bounds(margins: Sequence[Sequence[Number]], people: Number) -> MarginBounds:
    """Return bounds on the expected singletons among `people`, for all joint distributions with these margins (each
    adds up to 1)."""
    many = whole("people", people, 0)
    shares = share_bounds(margins, many, 1)
    return MarginBounds(shares.low * many, shares.high * many)


def share_bounds(margins: Sequence[Sequence[Number]], people: Number, at_most: Number) -> MarginBounds:
    """Return bounds on the expected share of people in groups of at most `at_most`, for all joint distributions with
    these margins. Both bounds are equal if at most one margin has several values with people, as there is only one
    distribution."""
    tables, k, m = _tables(margins), whole("people", people, 0), whole("at_most", at_most, 1)
    if k <= m:
        return MarginBounds(float(k > 0), float(k > 0))
    several = [table for table in tables if np.count_nonzero(table) > 1]
    if len(several) <= 1:
        known = share_in_groups_up_to(Bins.from_counts(several[0] if several else [1]), k, m)
        return MarginBounds(known, known)
    low = _least([(table, _small(table, k, m)) for table in tables])
    return MarginBounds(low * (1 - _SLACK), min(1.0, _greatest(tables, k, m) * (1 + _SLACK)))


def _tables(margins: Sequence[Sequence[Number]]) -> list[Floats]:
    tables = [np.asarray([float(p) for p in margin], dtype=np.float64) for margin in margins]
    if not tables or any(table.size == 0 or not (table >= 0).all() for table in tables):
        raise ValueError("margins must be at least one, each of probabilities, none negative")
    if any(abs(table.sum() - 1) > 1e-9 for table in tables):
        raise ValueError("each of the margins must add up to 1 within 1e-9")
    return [table / table.sum() for table in tables]


def _small(p: Floats, k: int, m: int) -> Floats:
    """Return B(p) = P(Bin(k - 1, p) <= m - 1): the probability that a person in a cell of probability p is in a group
    of at most m of k people."""
    with np.errstate(under="ignore", divide="ignore"):
        if m == 1:
            return np.asarray(np.exp((k - 1) * np.log1p(-p)))
        return np.asarray(lazy_libraries.special.betaincc(m, k - m, p))  # bdtr takes no k from 2^31 on


def _least(laws: Sequence[tuple[Floats, Floats]]) -> float:
    """Return the integral over t >= 0 of max_i P(X_i > t), for distributions given as (probabilities, values from 0 to
    1)."""
    levels = np.unique(np.concatenate([[0.0], *(values for _, values in laws)]))
    above = np.max([_survival(table, values, levels[:-1]) for table, values in laws], axis=0)
    return math.fsum(above * np.diff(levels))


def _survival(table: Floats, values: Floats, levels: Floats) -> Floats:
    order = np.argsort(values)
    upwards = np.concatenate([np.cumsum(table[order][::-1])[::-1], [0.0]])
    return np.asarray(upwards[np.searchsorted(values[order], levels, side="right")])


@dataclass(frozen=True, eq=False)
class _Hull:
    """A concave function on [0, 1], by its corners, from (0, 0) on."""

    x: Floats
    y: Floats

    def conjugate(self, slope: Floats) -> tuple[Floats, Floats]:
        """Return for each slope max over p of h(p) - p slope, with h this function, and the p of the maximum."""
        falling = np.diff(self.y) / np.diff(self.x)
        at = np.searchsorted(-falling, -slope)
        return self.y[at] - slope * self.x[at], self.x[at]

    def __call__(self, p: Floats) -> Floats:
        return np.asarray(np.interp(p, self.x, self.y))


def _hull(k: int, m: int) -> _Hull:
    """Return the concave hull of points that lie above p B(p), with B(p) = P(Bin(k - 1, p) <= m - 1)."""
    middle = m / k
    x = np.unique(np.concatenate([[0.0, 1.0], np.minimum(1.0, middle * np.geomspace(1e-4, 1e3, _POINTS))]))
    chance = _small(x, k, m) * (1 + 1e-12)
    left = np.stack([x[1:], x[1:] * chance[:-1]], axis=1)
    points = np.concatenate([[[0.0, 0.0]], left, np.stack([x[1:], x[1:] * chance[1:]], axis=1)])
    corners: list[Floats] = []
    for point in points[np.lexsort((points[:, 1], points[:, 0]))]:
        while len(corners) > 1 and _turns_left(corners[-2], corners[-1], point):
            corners.pop()
        if len(corners) == 1 and corners[-1][0] == point[0]:
            corners.pop()
        corners.append(point)
    found = np.array(corners)
    return _Hull(found[:, 0], found[:, 1])


def _turns_left(a: Floats, b: Floats, c: Floats) -> bool:
    """Return whether b is not above the line from a to c."""
    return bool((b[0] - a[0]) * (c[1] - a[1]) >= (c[0] - a[0]) * (b[1] - a[1]))


def _greatest(tables: list[Floats], k: int, m: int) -> float:
    hull = _hull(k, m)
    cells = math.prod(table.size for table in tables)
    alone = [math.fsum(cells / table.size * hull(table / (cells / table.size))) for table in tables]
    return min([*alone, _dual(tables, hull)] if cells <= MOST_CELLS else alone)


def _dual(tables: list[Floats], hull: _Hull) -> float:
    """Return the least upper bound found on the share of people in small groups, over multipliers of the margins'
    entries. Each value of the minimised function is a bound."""
    tables = sorted(tables, key=len)  # sums along the longest axis are the fastest
    ends = np.cumsum([table.size for table in tables])[:-1]

    def bound(multipliers: Floats) -> tuple[float, Floats]:
        own = np.split(multipliers, ends)
        slope = reduce(np.add.outer, own)
        value, at = hull.conjugate(slope)
        used = _sums_by_axis(at)
        known = sum(float(table @ each) for table, each in zip(tables, own, strict=True))
        gradient = [table - each for table, each in zip(tables, used, strict=True)]
        return known + float(value.sum()), np.concatenate(gradient)

    start = np.concatenate([np.full(table.size, 1 / (2 * len(tables))) for table in tables])
    minimize = lazy_libraries.optimize.minimize
    return float(minimize(bound, start, jac=True, method="L-BFGS-B", options={"maxfun": _MOST_STEPS}).fun)


def _sums_by_axis(cells: Floats) -> list[Floats]:
    """Return for each axis the sums over all other axes. The last axis is summed away before the one before it, so that
    most sums are of few cells."""
    found: list[Floats] = []
    while cells.ndim > 1:
        found.append(cells.sum(axis=tuple(range(cells.ndim - 1))))
        cells = cells.sum(axis=-1)
    return [cells, *reversed(found)]
