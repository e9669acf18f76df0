"""The law of the next of some numbers that were measured one after the other: Bayesian prediction by a mixture.

Every run shows x_i = m + c_i + e_i. The e_i are independent Normal numbers of one variance v; the c_i are how the level
changes from run to run: not at all, as a random walk whose steps have variance q v, or along a line whose slope has
variance g v (STEPS and SLOPES; all are equally likely beforehand). m is uniform, and so is log v, above the variance
that the measuring itself is known to have. Without such a floor and without changes the prediction is Student's t with
n - 1 degrees of freedom, mean of the past and variance s^2 (1 + 1/n) (Geisser 1993, Predictive Inference, section 2.2),
which is calibrated whatever m and v are. With the floor the variance is cut off below; runs that differ by nothing else
get the weight of ALONE e-foldings of v, since the same table is often released again.

That the forecast chances are calibrated, and how sharp they are, is measured by simulation on policies that are drawn
(Gneiting, Balabdaoui, Raftery 2007; Brier 1950): tests/jobs/chances/test_calibration.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import erfc, sqrt

import numpy as np

from crowdgate.kind.forecast import Floats, Odds

STEPS = (0.0, 0.25, 1.0, 4.0, 100.0)
"""Variances of a step of the walk, in parts of v; 0: no change."""
SLOPES = (1.0, 10.0)
ALONE = 5.0
POINTS = 120
"""Variances that stand for all."""
WIDEST = 1e4
"""The greatest of them, in parts of what the past shows."""
SURE = 1e-4
"""No number of past runs makes more certain than that."""


@dataclass(frozen=True, eq=False)
class Next:
    """The next number: a mixture of Normal laws, one for each way of changing (rows) and each variance (columns)."""

    means: Floats
    deviations: Floats
    weights: Floats

    def at_most(self, limit: float) -> Odds:
        """The chance that it is at most that; the ends are those of the ways of changing by themselves."""
        apart = (limit - self.means) / self.deviations
        below = np.array([_normal(z) for z in apart.flat]).reshape(apart.shape)
        each = (below * self.weights).sum(axis=1) / self.weights.sum(axis=1)
        value = float((below * self.weights).sum())
        return Odds(*(min(1 - SURE, max(SURE, found)) for found in (value, float(each.min()), float(each.max()))))


def _normal(z: float) -> float:
    return erfc(-z / sqrt(2)) / 2


def next_number(past: Sequence[float], floor: float) -> Next:
    """The law of what comes after `past`, oldest first, whose measuring alone has a standard deviation of `floor`
    (above 0). Raises ValueError for less than two numbers, or other ones than finite."""
    shown = np.asarray(past, dtype=np.float64)
    if len(shown) < 2 or not np.isfinite(shown).all() or not 0 < floor < np.inf:
        raise ValueError("past must be two finite numbers or more, and floor positive")
    fits = [_fit(shown, kernel) for kernel in _kernels(len(shown) + 1)]
    least = floor**2
    variances = np.geomspace(least, max(least, *(fit.rest for fit in fits)) * WIDEST, POINTS)
    width = np.full(POINTS, np.log(variances[1] / variances[0]))
    width[0] += ALONE
    logs = np.array([fit.log_weight - (len(shown) - 1) / 2 * np.log(variances) - fit.rest / 2 / variances
                     for fit in fits]) + np.log(width)  # fmt: skip
    weights = np.exp(logs - logs.max())
    means = np.array([[fit.mean] for fit in fits])
    deviations = np.sqrt(np.outer([fit.variance for fit in fits], variances))
    return Next(means, deviations, weights / weights.sum())


@dataclass(frozen=True)
class _Fit:
    """What one way of changing says of the next number: its mean, its variance in parts of v, the squares that are left
    of the past, and the logarithm of how well it fits but for these."""

    mean: float
    variance: float
    rest: float
    log_weight: float


def _kernels(runs: int) -> Iterator[Floats]:
    """Covariances of so many runs in parts of v, one for each way of changing."""
    at = np.arange(1, runs + 1, dtype=np.float64)
    for step in STEPS:
        yield np.eye(runs) + step * np.minimum.outer(at, at)
    for slope in SLOPES:
        yield np.eye(runs) + slope * np.outer(at, at)


def _fit(shown: Floats, kernel: Floats) -> _Fit:
    """Kriging with an unknown mean (Rasmussen, Williams 2006, equations 2.41 and 2.42, with a flat prior)."""
    inside, across, own = kernel[:-1, :-1], kernel[:-1, -1], float(kernel[-1, -1])
    ones = np.ones(len(shown))
    of_ones, of_across = np.linalg.solve(inside, np.column_stack([ones, across])).T
    known = float(ones @ of_ones)
    mean = float(of_ones @ shown) / known
    rest = shown - mean
    variance = own - float(across @ of_across) + (1 - float(ones @ of_across)) ** 2 / known
    left = float(rest @ np.linalg.solve(inside, rest))
    weight = -(float(np.linalg.slogdet(inside)[1]) + float(np.log(known))) / 2
    return _Fit(mean + float(of_across @ rest), variance, left, weight)
