"""Two correlated Normal numbers, asked in intervals.

M. Koot, Measuring and predicting anonymity (thesis, 2012), section 6.4. Categorical attributes, which it leaves open
(section 6.5), are counted by joint figures.
"""

import math
from itertools import pairwise

import numpy as np

from crowdgate.accounting.numbers import Number, exact
from crowdgate.arrays import Floats
from crowdgate.risk.bins import Bins

MOST_CELLS = 4 * 10**6
MOST_EFFORT = 5 * 10**7
"""Bound on the values of x at which Y's conditional distribution is computed, times the limits of its intervals: a
second or two."""
NODES = 12
NEAR = 41
"""Number of piece limits near a limit of Y's intervals."""
CHUNK = 1 << 20
_REACH = 8.5
"""Standard deviations to either side: one person falls outside with a probability of 2e-17."""


def bivariate_normal(
    sx: Number, sy: Number, rho: Number, dx: Number, dy: Number, mx: Number = 0, my: Number = 0
) -> Bins:
    """Return bins for a bivariate Normal (X, Y) in rectangles of the grid of dx by dy. Each is an integral over its x
    of Y's conditional distribution, by the Gauss-Legendre rule, within 1e-12. Raises ValueError for too many
    rectangles, also for the given correlation."""
    scales = [float(exact(name, each, 0, 10**15, open_low=True)) for name, each in (("sx", sx), ("sy", sy))]
    steps = [float(exact(name, each, 0, 10**15, open_low=True)) for name, each in (("dx", dx), ("dy", dy))]
    means = [float(exact(name, each, -(10**15), 10**15)) for name, each in (("mx", mx), ("my", my))]
    correlation = float(exact("rho", rho, -1, 1, open_low=True, open_high=True))
    x, y = (_grid(mean, scale, step) for mean, scale, step in zip(means, scales, steps, strict=True))
    if (x.size - 1) * (y.size - 1) > MOST_CELLS:
        raise ValueError(f"dx and dy must make at most {MOST_CELLS:,} rectangles")
    x, y = sorted((x, y), key=len)  # the result is symmetric; this order has fewer columns
    if abs(correlation) == 1:
        raise ValueError("rho must differ from -1 and 1 by 1e-15 at least")
    fine = min(4 * _REACH / _conditional_deviation(correlation), NEAR * y.size)
    if NODES * (fine + x.size) * y.size > MOST_EFFORT:
        raise ValueError(f"dx and dy must make fewer rectangles with a correlation of {correlation}")
    return _bins(np.maximum(np.array([_column(low, high, y, correlation) for low, high in pairwise(x)]), 0.0))


def rectangle(x: tuple[float, float], y: tuple[float, float], rho: float) -> float:
    """Return the probability that X and Y, both Normal with mean 0 and variance 1, are within these limits."""
    return max(0.0, float(_column(*x, np.array(y), rho)[0]))


def _grid(mean: float, scale: float, step: float) -> Floats:
    """Return the limits of the intervals of width `step`, in standard deviations (`scale`) from the mean."""
    low, high = (math.floor((mean + side * _REACH * scale) / step) for side in (-1, 1))
    if high - low > MOST_CELLS:
        raise ValueError(f"dx and dy must make at most {MOST_CELLS:,} rectangles")
    return np.asarray((np.arange(low, high + 2) * step - mean) / scale)


def _piece_ends(low: float, high: float, y: Floats, rho: float) -> Floats:
    """Return the limits of pieces of an interval of x, each at most half a conditional standard deviation of Y wide
    where a limit of Y's intervals is within ten of these. Elsewhere the conditional distribution is constant: if limits
    are few, pieces there are half a standard deviation of X."""
    rest = _conditional_deviation(rho)
    if 4 * _REACH / rest < NEAR * y.size:
        return _even(low, high, rest / 2)
    near = np.add.outer(y / rho, np.linspace(-10, 10, NEAR) * rest / rho).ravel()
    return np.unique(np.concatenate([_even(low, high, 0.5), near[(low < near) & (near < high)]]))


def _even(low: float, high: float, width: float) -> Floats:
    return np.linspace(low, high, max(1, math.ceil((high - low) / width)) + 1)


def _column(low: float, high: float, y: Floats, rho: float) -> Floats:
    """Return for each interval between limits `y` the probability that Y is in it and X between `low` and `high`."""
    low, high = max(low, -_REACH - 1), min(high, _REACH + 1)
    if low >= high:
        return np.zeros(y.size - 1)
    ends = _piece_ends(low, high, y, rho)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    half = np.diff(ends)[:, None] / 2
    at = (ends[:-1, None] + half * (1 + nodes)).ravel()
    density = np.exp(-(at**2) / 2) / math.sqrt(2 * math.pi) * (half * weights).ravel()
    rows = max(1, CHUNK // y.size)
    parts = (_conditional(at[i : i + rows], y, rho).T @ density[i : i + rows] for i in range(0, len(at), rows))
    return sum(parts, np.zeros(y.size - 1))


def _conditional(x: Floats, y: Floats, rho: float) -> Floats:
    """Return for each x (rows) the probability of each interval between limits `y` (columns) for Y, given X = x."""
    from scipy.special import ndtr

    return np.asarray(np.diff(ndtr((y - rho * x[:, None]) / _conditional_deviation(rho)), axis=1))


def _conditional_deviation(rho: float) -> float:
    """Return the standard deviation of Y given X, sqrt(1 - rho^2), for variances 1 and correlation rho."""
    return math.sqrt((1 - rho) * (1 + rho))


def _bins(table: Floats) -> Bins:
    flat = table.reshape(-1)
    return Bins.from_counts(flat[flat > 0], empty=int((flat <= 0).sum()))
