"""Numbers asked in intervals [i Delta, (i + 1) Delta): their bins, and the best width.

M. Koot, Measuring and predicting anonymity (thesis, 2012), section 6.3. With these bins everything in `risk` is exact:
mean, variance, groups. A smaller width never gives fewer singletons if it divides the larger one: merging two bins of
probabilities p and q changes k p (1-p)^(k-1) + k q (1-q)^(k-1) to k (p+q) (1-p-q)^(k-1), which is not more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.accounting.numbers import Number, exact, whole
from crowdgate.risk.bins import Bins
from crowdgate.risk.singletons import expected

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from crowdgate.arrays import Floats

MOST_INTERVALS = 2 * 10**6
_NOTHING = 1e-33
"""Probability of an exponential's tail that is omitted, for one person: for 10^15 people the probability of anyone in
the tail is 1e-18."""


def uniform(A: Number, Delta: Number) -> Bins:
    """Return the bins of a number uniform on [0, A], asked in intervals of width Delta. The last interval is the rest
    of A, if less than Delta."""
    length, width = (exact(name, value, 0, 10**15, open_low=True) for name, value in (("A", A), ("Delta", Delta)))
    full = whole("A / Delta", length // width, 0)
    rest = length - full * width
    if not rest:
        return Bins.uniform(full)
    return (
        Bins.grouped([width / length * (full + 1), rest / length * (full + 1)], [full, 1]) if full else Bins.uniform(1)
    )


def exponential(lam: Number, Delta: Number) -> Bins:
    """Return the bins of an exponential number of mean 1 / lam, asked in intervals of width Delta: interval i has L^i
    (1 - L), L = e^(-lam Delta)."""
    step = _positive("lam", lam) * _positive("Delta", Delta)
    last = _intervals(-math.log(_NOTHING) / step)
    return Bins.from_counts(_bins_of_masses(np.exp(-step * np.arange(last)) * -np.expm1(-step)))


def normal(mu: Number, sigma: Number, Delta: Number, people: Number = 1) -> Bins:
    """Return the bins of a Normal number (mean mu, standard deviation sigma), asked in intervals of width Delta,
    without tails in which any of `people` falls with a probability below 1e-15."""
    from scipy.special import ndtr, ndtri_exp

    mean, scale, width = float(exact("mu", mu, -(10**15), 10**15)), _positive("sigma", sigma), _positive("Delta", Delta)
    reach = -float(ndtri_exp(math.log(1e-15 / max(1, whole("people", people, 0)))))
    low, high = (math.floor((mean + side * reach * scale) / width) for side in (-1, 1))
    ends = (np.arange(low, low + _intervals(high - low) + 2) * width - mean) / scale
    lower = ndtr(-np.abs(ends))  # tails keep their digits there
    masses = np.abs(np.diff(lower))
    across = (ends[:-1] < 0) & (ends[1:] > 0)
    return Bins.from_counts(_bins_of_masses(np.where(across, 1 - lower[:-1] - lower[1:], masses)))


def density(edges: ArrayLike, counts: ArrayLike, Delta: Number) -> Bins:
    """Return the bins of a numeric column, asked in intervals of width Delta, from its histogram: counts[i] people
    spread evenly from edges[i] to edges[i + 1]."""
    ends, many = np.asarray(edges, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    if ends.ndim != 1 or many.shape != (ends.size - 1,) or not (np.diff(ends) > 0).all():
        raise ValueError("edges must rise, and counts be one fewer than edges")
    if not (many >= 0).all() or not many.sum() > 0:
        raise ValueError("counts must not be negative, and not all 0")
    width = _positive("Delta", Delta)
    low = math.floor(ends[0] / width)
    grid = (low + np.arange(_intervals(math.ceil(ends[-1] / width) - low) + 1)) * width
    below = np.interp(grid, ends, np.concatenate([[0.0], np.cumsum(many)]))
    return Bins.from_counts(_bins_of_masses(np.diff(below)))


def best_width(make: Callable[[Number], Bins], widths: Sequence[Number], people: Number, most: Number) -> Number | None:
    """Return the least of these widths for which at most `most` of `people` are expected to be singletons; None if none
    is.

    `make` returns a width's bins, such as `lambda width: normal(170, 7, width)`.
    """
    limit = float(exact("most", most, 0, 10**15))
    sizes = sorted(widths, key=lambda width: exact("widths", width, 0, 10**15, open_low=True))
    return next((width for width in sizes if expected(make(width), people) <= limit), None)


def _positive(name: str, value: Number) -> float:
    return float(exact(name, value, 0, 10**15, open_low=True))


def _intervals(count: float) -> int:
    if not count <= MOST_INTERVALS:
        raise ValueError(f"Delta must make at most {MOST_INTERVALS:,} intervals, not {count:.3g}")
    return math.ceil(count)


def _bins_of_masses(masses: Floats) -> Floats:
    return masses[masses > 0]
