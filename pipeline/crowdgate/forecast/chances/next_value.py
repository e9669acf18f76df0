"""Predictive distribution of the next of successive measurements: a Bayesian mixture.

Every run shows x_i = m + c_i + e_i. The e_i are independent Normal numbers of one variance v. The c_i are the change of
the level from run to run: none, a random walk whose steps have variance q v, or a line whose slope has variance g v
(STEPS and SLOPES). No change has prior probability 1/2, as in Jeffreys (1961, chapter V); the other models share the
rest. m is uniform, and so is log v, above the known variance of the measurement. Without that floor and without changes
the prediction is Student's t with n - 1 degrees of freedom, mean of the past and variance s^2 (1 + 1/n) (Geisser 1993,
Predictive Inference, section 2.2), whose quantiles are exact for all m and v. With the floor the variance is cut off
below. Runs that do not differ beyond it get the weight of ALONE e-foldings of v, since the same table is often released
again.

The calibration of the forecast probabilities, and their sharpness, are measured by simulation on random policies
(Gneiting, Balabdaoui, Raftery 2007; Brier 1950): tests/forecast/chances/test_calibration.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import erfc, log, pi, sqrt

import numpy as np

from crowdgate.arrays import Floats

STEPS = (0.0, 0.25, 1.0, 4.0, 100.0)
"""The variances of a step of the random walk, in units of v, the variance of a measurement's error; the first, 0, is no
change."""
SLOPES = (1.0, 10.0)
ALONE = 5.0
POINTS = 120
"""The number of grid points for the variance."""
WIDEST = 1e4
"""The greatest variance of the grid, relative to the spread of the past."""
UNCHANGED = 0.5
"""The prior probability that nothing changes."""
ONE = np.ones(1)
TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True, eq=False)
class PredictiveDistribution:
    """The predictive distribution: a mixture of Normal laws, one for each model of change (rows, the first without
    change) and each variance (columns).
    """

    means: Floats
    deviations: Floats
    weights: Floats

    @property
    def likely(self) -> Floats:
        """The posterior probability of each model of change."""
        return np.asarray(self.weights.sum(axis=1))

    def below(self, limit: float) -> Floats:
        """Return for each model of change the probability that the next number is at most `limit`."""
        apart = (limit - self.means) / self.deviations
        below = np.array([_normal(z) for z in apart.flat]).reshape(apart.shape)
        return np.asarray((below * self.weights).sum(axis=1) / np.maximum(self.likely, TINY))


def _normal(z: float) -> float:
    return erfc(-z / sqrt(2)) / 2


def predictive_distribution(
    past: Sequence[float], floor: float, unchanged: float | None = None
) -> PredictiveDistribution:
    """Return the predictive distribution of the number that follows the numbers `past`, oldest first.

    `floor` is the standard deviation of the measurement, above 0. With `unchanged`, the logarithm of the evidence of a
    law without change, `floor` is the known deviation, and that evidence takes the place of the first model's. Raises
    ValueError for fewer than two numbers, or numbers that are not finite.
    """
    shown = np.asarray(past, dtype=np.float64)
    if len(shown) < 2 or not np.isfinite(shown).all() or not 0 < floor < np.inf:
        raise ValueError("past must be two finite numbers or more, and floor positive")
    ways, runs = _change_models(len(shown)), len(shown)
    level = ways.of_ones @ shown / ways.known
    apart = shown - level[:, None]
    rest = np.einsum("wi,wij,wj->w", apart, ways.inverse, apart)
    variances, width = _variances(floor**2, float(rest.max())) if unchanged is None else (np.array([floor**2]), ONE)
    fits = ways.log_weights[:, None] - (runs - 1) / 2 * np.log(variances) - np.divide.outer(rest, variances) / 2
    if unchanged is not None:
        fits[0] = log(UNCHANGED) + unchanged + (runs - 1) / 2 * log(2 * pi)
    weights = np.exp(fits - fits.max()) * width
    means = level + (ways.of_across * apart).sum(axis=1)
    return PredictiveDistribution(
        means[:, None], np.sqrt(np.multiply.outer(ways.variances, variances)), weights / weights.sum()
    )


def _variances(least: float, squares: float) -> tuple[Floats, Floats]:
    """Return the grid of variances and their prior weights."""
    variances = np.geomspace(least, max(least, squares) * WIDEST, POINTS)
    width = np.full(POINTS, np.log(variances[1] / variances[0]))
    width[0] += ALONE
    return variances, width


@dataclass(frozen=True, eq=False)
class _ChangeModels:
    """Quantities of each model of change (first axis) that depend on the number of past runs only, not on their
    measurements.

    K is the covariance of the past measurements in units of v, the variance of their errors, and 1 the vector of ones.
    The fields are K^-1, K^-1 1, 1' K^-1 1, K^-1 times the covariance with the next measurement, and the variance of the
    next. The last is the logarithm of the prior probability times |K|^-1/2 (1' K^-1 1)^-1/2, the weight of a model
    apart from its residual squares. Kriging with an unknown mean (Rasmussen, Williams 2006, equations 2.41 to 2.43,
    with a flat prior).
    """

    inverse: Floats
    of_ones: Floats
    known: Floats
    of_across: Floats
    variances: Floats
    log_weights: Floats


@lru_cache
def _change_models(runs: int) -> _ChangeModels:
    kernels = np.array(list(_kernels(runs + 1)))
    across, own = kernels[:, :-1, -1], kernels[:, -1, -1]
    inverse = np.linalg.inv(kernels[:, :-1, :-1])
    of_ones = inverse.sum(axis=2)
    known = of_ones.sum(axis=1)
    of_across = np.einsum("wij,wj->wi", inverse, across)
    left = 1 - of_across.sum(axis=1)
    variances = own - (across * of_across).sum(axis=1) + left**2 / known
    before = np.full(len(kernels), (1 - UNCHANGED) / max(1, len(kernels) - 1))
    before[0] = UNCHANGED
    log_weights = (np.linalg.slogdet(inverse)[1] - np.log(known)) / 2 + np.log(before)
    return _ChangeModels(inverse, of_ones, known, of_across, variances, log_weights)


def _kernels(runs: int) -> Iterator[Floats]:
    """Yield, for each model of change, the covariance matrix of `runs` successive measurements in units of v, the
    variance of their errors."""
    at = np.arange(1, runs + 1, dtype=np.float64)
    for step in STEPS:
        yield np.eye(runs) + step * np.minimum.outer(at, at)
    for slope in SLOPES:
        yield np.eye(runs) + slope * np.outer(at, at)
