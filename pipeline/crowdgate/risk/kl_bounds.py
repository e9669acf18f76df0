"""Range of the expected share of unique people over all tables that fit a KL distance, a collision quantity and points
of a curve.

A table of n people has c people in the cell of a person who is drawn at random. All that is published is an expectation
under the law w of this c, with M bins:

    KL = ln M - ln n + E ln c,   (1 + 2 collision quantity) n / M = E c,   E 1/c = occupied cells / n <= M / n,
    share of unique people where everybody else takes part with probability q: E (1 - q)^(c - 1).

So is the share of unique people in a group of k that is drawn without replacement: E C(n - c, k - 1) / C(n - 1, k - 1).
Its least and greatest values over all w that meet the published limits are linear programmes. A cell of c people holds
at least the share c / n of all, hence c^2 <= n E c.

Each bound is that of the dual: for multipliers y >= 0 of the constraints A w <= b, the objective g is at most y b +
max(g - A' y). This is a bound for any y, whatever the solver's tolerance is.

Cells up to EXACT have a variable each. Above, there is one for each step of STEP in s = ln c; the probability of a c
between two of them is divided so that E ln c is kept. A function f of s so changes by at most STEP^2 / 8 max |f''|. c
and 1/c change by a relative CONVEX, upwards. For f = (1 - a (c - 1))^m, with u = a (c - 1) and c >= EXACT, f'' has two
terms of opposite sign: m u (1 - u)^(m - 1) <= 1 and m (m - 1) u^2 (1 - u)^(m - 2) <= 2, each times at most
(c / (c - 1))^2. For f = b^(c - 1) it is below 1. So each of the shares changes by at most SHARE.

The probability that is stated above lies between powers of two kinds, since its factors are (n - c - i) / (n - 1 - i)
for i < k - 1, and equally (n - k - i) / (n - 1 - i) for i < c - 1. It rises with n.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, log, sqrt

import numpy as np

from crowdgate.arrays import Floats

EXACT = 128
STEP = 1 / EXACT
CONVEX = STEP**2 / 8 * exp(STEP)
SHARE = STEP**2 / 8 * 2 * (EXACT / (EXACT - 1)) ** 2
ROUNDING = 1e-9
"""Relative error of the published figures and of sums in float64."""


@dataclass(frozen=True)
class FigureLimits:
    """Limits between which a figure lies."""

    low: float
    high: float


@dataclass(frozen=True)
class CurvePoint:
    """Limits of the share of people who are unique if everybody else takes part with probability `rate`."""

    rate: Fraction
    share: FigureLimits


@dataclass(frozen=True)
class PublishedLimits:
    """Published limits of a table of `bins` cells: its number of rows, KL in nats, the collision quantity and points of
    its curve."""

    bins: int
    rows: FigureLimits
    kl: FigureLimits
    collision: FigureLimits
    curve: tuple[CurvePoint, ...] = ()


def unique_share_bounds(figures: PublishedLimits, people: int) -> FigureLimits | None:
    """Return bounds on the expected share of unique people, in a group of `people` that is drawn without replacement,
    over all tables that fit these limits.

    None if no table fits, or if the group may be larger than the table.
    """
    if not 1 <= people <= figures.rows.low:
        return None
    nodes = _nodes(figures)
    constraints, most = _constraints(figures, nodes)
    low = _least(_power_below(figures, nodes, people), constraints, most)
    high = _least(-_power_above(figures, nodes, people), constraints, most)
    if low is None or high is None:
        return None
    least, greatest = low - SHARE - ROUNDING, SHARE + ROUNDING - high
    return FigureLimits(min(max(least, 0.0), 1.0), min(max(greatest, 0.0), 1.0))


def _mean_size(figures: PublishedLimits) -> FigureLimits:
    """Return the limits of E c."""
    collision, rows, bins = figures.collision, figures.rows, figures.bins
    low, high = (1 + 2 * collision.low) / bins * rows.low, (1 + 2 * collision.high) / bins * rows.high
    return FigureLimits(low * (1 - ROUNDING), high * (1 + ROUNDING))


def _nodes(figures: PublishedLimits) -> Floats:
    """Return the sizes of cells: 1 to EXACT, then from EXACT on in steps of STEP of their logarithm."""
    most = max(1.0, min(figures.rows.high, sqrt(figures.rows.high * _mean_size(figures).high)))
    first = np.arange(1.0, min(most, EXACT) + 1)
    if most <= EXACT:
        return np.asarray(first)
    return np.concatenate([first, EXACT * np.exp(STEP * np.arange(ceil(log(most / EXACT) / STEP) + 1))])


def _constraints(figures: PublishedLimits, nodes: Floats) -> tuple[Floats, Floats]:
    """Return A and b of the constraints A w <= b: upper limits, then lower ones as negative numbers."""
    rows, size, top = figures.rows, _mean_size(figures), log(figures.bins)
    near = ROUNDING * (1 + top)
    low, high = figures.kl.low - top + log(rows.low) - near, figures.kl.high - top + log(rows.high) + near
    cells = figures.bins / rows.low * (1 + CONVEX)
    found = [
        (np.log(nodes), high), (-np.log(nodes), -low),
        (nodes / size.high, 1 + CONVEX), (-nodes / size.high, -size.low / size.high),
        (1 / nodes / cells, 1 + ROUNDING),
    ]  # fmt: skip
    for point in figures.curve:
        shares = _power(1 - float(point.rate), nodes - 1)
        found += [(shares, point.share.high + SHARE + ROUNDING), (-shares, SHARE + ROUNDING - point.share.low)]
    return np.array([row for row, _ in found]), np.array([limit for _, limit in found])


def _power_above(figures: PublishedLimits, nodes: Floats, people: int) -> Floats:
    """Return upper bounds on the probability that nobody else of the group has the same cell of each size."""
    others = max(figures.rows.high - 1, 1.0)
    by_people = _power(1 - (nodes - 1) / others, people - 1)
    by_size = _power(1 - (people - 1) / others, nodes - 1)
    return np.concatenate(
        [np.minimum(by_people, by_size)[:EXACT], (by_people if people <= nodes[-1] else by_size)[EXACT:]]
    )


def _power_below(figures: PublishedLimits, nodes: Floats, people: int) -> Floats:
    """Return lower bounds on the probability that nobody else of the group has the same cell of each size."""
    rows = figures.rows.low
    by_people = _power(1 - (nodes - 1) / max(rows - people + 1, 1.0), people - 1)
    by_size = _power(1 - (people - 1) / np.maximum(rows - nodes + 1, 1.0), nodes - 1)
    of_largest = _power(1 - (people - 1) / max(rows - nodes[-1] + 1, 1.0), nodes - 1)
    above = by_people if people <= nodes[-1] else of_largest
    return np.concatenate([np.maximum(by_people, by_size)[:EXACT], above[EXACT:]])


def _power(base: Floats | float, exponent: Floats | float) -> Floats:
    """Return a power of a base that is 0 where it would be negative. A linear function is not cut off, so that it stays
    one."""
    linear = np.ndim(exponent) == 0 and exponent == 1
    return np.asarray(np.power(base if linear else np.maximum(base, 0.0), exponent))


def _least(goal: Floats, constraints: Floats, most: Floats) -> float | None:
    """Return a lower bound on the expectation of `goal` over all laws that meet the constraints; None if there is no
    such law."""
    from scipy.optimize import linprog

    total = np.ones((1, len(goal)))
    solved = linprog(goal, constraints, most, total, [1.0], (0, None), method="highs")
    if solved.status != 0:
        return None
    multipliers = np.maximum(-solved.ineqlin.marginals, 0)
    return float((goal + multipliers @ constraints).min() - multipliers @ most)
