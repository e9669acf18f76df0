"""Two Normal numbers that go together, asked for in intervals.

M. Koot, Measuring and predicting anonymity (thesis, 2012), section 6.4. Categorical attributes, which it leaves open
(section 6.5), are counted by joint figures.
"""

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from crowdgate.accounting.numbers import Number, exact
from crowdgate.risk.bins import Bins

MOST_CELLS = 4 * 10**6
_REACH = 8.5
"""Standard deviations to either side: one person falls beyond with a probability of 2e-17."""


def bivariate_normal(
    sx: Number, sy: Number, rho: Number, dx: Number, dy: Number, mx: Number = 0, my: Number = 0
) -> Bins:
    """(X, Y) bivariate Normal in rectangles of the grid of dx by dy. Each is an integral over its x of Y's conditional
    law, by Gauss and Legendre's rule, within 1e-12."""
    scales = [float(exact(name, each, 0, 10**15, open_low=True)) for name, each in (("sx", sx), ("sy", sy))]
    steps = [float(exact(name, each, 0, 10**15, open_low=True)) for name, each in (("dx", dx), ("dy", dy))]
    means = [float(exact(name, each, -(10**15), 10**15)) for name, each in (("mx", mx), ("my", my))]
    correlation = float(exact("rho", rho, -1, 1, open_low=True, open_high=True))
    x, y = (_grid(mean, scale, step) for mean, scale, step in zip(means, scales, steps, strict=True))
    if (x.size - 1) * (y.size - 1) > MOST_CELLS:
        raise ValueError(f"dx and dy must make at most {MOST_CELLS:,} rectangles")
    masses = [_column(low, high, y, correlation) for low, high in pairwise(x)]
    return _bins(np.maximum(np.array(masses), 0.0))


def rectangle(x: tuple[float, float], y: tuple[float, float], rho: float) -> float:
    """The probability that X and Y, both Normal with mean 0 and variance 1, are between these ends."""
    return max(0.0, float(_column(*x, np.array(y), rho)[0]))


def _grid(mean: float, scale: float, step: float) -> NDArray[np.float64]:
    """Ends of intervals in standard deviations from the mean."""
    low, high = (math.floor((mean + side * _REACH * scale) / step) for side in (-1, 1))
    if high - low > MOST_CELLS:
        raise ValueError(f"dx and dy must make at most {MOST_CELLS:,} rectangles")
    return np.asarray((np.arange(low, high + 2) * step - mean) / scale)


def _column(low: float, high: float, y: NDArray[np.float64], rho: float) -> NDArray[np.float64]:
    from scipy.special import ndtr

    low, high = max(low, -_REACH - 1), min(high, _REACH + 1)
    if low >= high:
        return np.zeros(y.size - 1)
    rest = math.sqrt(1 - rho * rho)
    pieces = max(1, math.ceil(2 * (high - low) / rest))  # each half a conditional standard deviation, or narrower
    nodes, weights = np.polynomial.legendre.leggauss(12)
    ends = np.linspace(low, high, pieces + 1)
    half = np.diff(ends)[:, None] / 2
    at = (ends[:-1, None] + half * (1 + nodes)).ravel()
    density = np.exp(-(at**2) / 2) / math.sqrt(2 * math.pi) * (half * weights).ravel()
    return np.asarray(density @ np.diff(ndtr((y - rho * at[:, None]) / rest), axis=1))


def _bins(table: NDArray[np.float64]) -> Bins:
    flat = table.reshape(-1)
    return Bins.from_counts(flat[flat > 0], empty=int((flat <= 0).sum()))
