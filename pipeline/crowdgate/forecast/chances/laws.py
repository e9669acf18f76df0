"""Laws of past measurements of a table that stays as it is, and what they show of the probability that a gate passes.

All laws are about distances beyond the gate's limit: a run passes if its distance is at most 0. Each gives, for a
probability, how likely past distances as extreme as those seen are if the gate passes with it. A confidence interval
of the probability inverts this, and a hold of a release is a test by it.

- A charged count is an unknown constant with discrete Laplace noise of known scale. With a flat prior the posterior of
  the constant has the coverage of a confidence interval (Pitman 1939, Biometrika 30).
- A measure whose spread is steady is Normal with unknown mean and variance. The interval is that of the noncentral t
  distribution (Johnson, Welch 1940, Biometrika 31), as the prior is the right Haar measure.
- Of other measures only the number of runs that passed is used (Clopper, Pearson 1934, Biometrika 26).
- Of one count of independent indicators there are the bounds of Cantelli and Chernoff.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb, erfc, exp, log, sqrt
from statistics import NormalDist
from typing import Protocol

import numpy as np

from crowdgate.arrays import Floats

OUTSIDE = 0.025
"""The probability that the pass probability lies beyond each limit of its confidence interval."""
POINTS = 150
"""The number of grid points for a variance."""
MOST_POINTS = 4000
"""The greatest number of grid points for a constant."""
FAR = 40.0
"""Distance, in scales of noise, beyond which a constant has a posterior probability below e^-40."""
STEPS = 24
"""Steps of bisection, to 1e-7."""


class Law(Protocol):
    """A law of past distances, and of the probability that the next run passes."""

    @property
    def value(self) -> float:
        """The probability that the next run passes."""

    def above(self, chance: float) -> float:
        """Return the p-value of past distances if the gate passes with probability at least `chance`: that of distances
        as far beyond the limit. It falls with `chance`."""

    def below(self, chance: float) -> float:
        """Return the p-value of past distances if the gate passes with probability at most `chance`."""


def confidence_limits(law: Law) -> tuple[float, float]:
    """Return the 95 % confidence limits of the probability that the next run passes, if the table stays as it is."""
    low = _first(lambda chance: law.below(chance) > OUTSIDE)
    high = 1 - _first(lambda miss: law.above(1 - miss) > OUTSIDE)
    return low, max(low, high)


def _first(holds: Callable[[float], bool]) -> float:
    """Return the least number from 0 to 1, nearly, for which `holds`, which holds for all larger ones; 1 if none."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low


@dataclass(frozen=True, eq=False)
class ConstantLaw:
    """The law of an unknown constant with discrete Laplace noise: on a grid of constants (in whole units beyond the
    limit) the posterior, and the probability that the next run passes. `log_evidence` is the logarithm of the
    likelihood, summed over all constants."""

    weights: Floats
    chances: Floats
    log_evidence: float

    @property
    def value(self) -> float:
        """The predictive probability that the next run passes."""
        return float(self.weights @ self.chances)

    def above(self, chance: float) -> float:
        """Return the posterior probability that the gate passes with probability at least `chance`."""
        return float(self.weights[self.chances >= chance].sum())

    def below(self, chance: float) -> float:
        """Return the posterior probability that the gate passes with probability at most `chance`."""
        return float(self.weights[self.chances <= chance].sum())


def constant_law(beyond: Sequence[int], scale: float) -> ConstantLaw:
    """Return the law of past distances, in whole units, with discrete Laplace noise of this scale."""
    shown = np.sort(np.asarray(beyond, dtype=np.float64))
    runs = len(shown)
    room = FAR * scale / sqrt(runs) + 1
    low, high = np.floor(shown[(runs - 1) // 2] - room), np.ceil(shown[runs // 2] + room)
    step = max(1.0, np.ceil((high - low) / MOST_POINTS))
    constants = np.arange(low, high + step, step)
    rate = exp(-1 / scale)
    logs = -np.abs(np.subtract.outer(constants, shown)).sum(axis=1) / scale
    weights = np.exp(logs - logs.max())
    most = float(logs.max()) + runs * (log(-np.expm1(-1 / scale)) - log(1 + rate))
    room_left = -constants  # the next run passes if its noise is at most this
    tail = np.exp(-(np.abs(room_left) + (room_left >= 0)) / scale) / (1 + rate)
    chances = np.where(room_left >= 0, 1 - tail, tail)
    return ConstantLaw(weights / weights.sum(), chances, most + log(float(weights.sum()) * step))


@dataclass(frozen=True, eq=False)
class SpreadLaw:
    """The law of Normal distances of unknown mean and variance: the number of runs, their mean, and a posterior of the
    standard deviation on a grid."""

    runs: int
    mean: float
    deviations: Floats
    weights: Floats

    @property
    def value(self) -> float:
        """The predictive probability that the next run passes."""
        return self._probability(-self.mean / (self.deviations * sqrt(1 + 1 / self.runs)))

    def above(self, chance: float) -> float:
        """Return the posterior probability that the gate passes with probability at least `chance`."""
        if not 0 < chance < 1:
            return float(chance <= 0)
        apart = NormalDist().inv_cdf(chance) + self.mean / self.deviations
        return self._probability(-sqrt(self.runs) * apart)

    def below(self, chance: float) -> float:
        """Return the posterior probability that the gate passes with probability at most `chance`."""
        return 1 - self.above(chance)

    @property
    def prediction_distance(self) -> float:
        """The distance from the mean that the next distance exceeds on each side with probability OUTSIDE."""
        wide, most = self.deviations * sqrt(1 + 1 / self.runs), float(self.deviations.max()) * FAR
        return most * _first(lambda part: self._probability(-most * part / wide) <= OUTSIDE)

    def _probability(self, scores: Floats) -> float:
        return float(self.weights @ (np.fromiter(map(erfc, (scores / -sqrt(2)).tolist()), float, len(scores)) / 2))


def spread_law(beyond: Sequence[float], least: float) -> SpreadLaw:
    """Return the law of two or more past distances; the posterior density of the logarithm of their standard deviation
    is that of the right Haar measure, so that limits have their level exactly. A bound on the deviation would destroy
    that: `least` counts only for equal distances. Raises ValueError for equal distances and no `least`."""
    shown = np.asarray(beyond, dtype=np.float64)
    runs, squares = len(shown), float(((shown - shown.mean()) ** 2).sum())
    if runs < 2 or not max(squares, least):
        raise ValueError("past distances must be two or more that differ, or least positive")
    low = squares / (runs + 80) or least**2
    high = max(squares / (runs - 1), low) * 10 ** (18 / (runs - 1))
    variances = np.geomspace(low, high, POINTS)
    logs = -(runs - 1) / 2 * np.log(variances) - squares / (2 * variances)
    weights = np.exp(logs - logs.max())
    return SpreadLaw(runs, float(shown.mean()), np.sqrt(variances), weights / weights.sum())


@dataclass(frozen=True)
class FrequencyLaw:
    """The law of the number of runs that passed, of independent runs."""

    passed: int
    runs: int

    @property
    def value(self) -> float:
        """Jeffreys' estimate of the probability that a run passes."""
        return (self.passed + 0.5) / (self.runs + 1)

    def above(self, chance: float) -> float:
        """Return the probability of at most so many passes if each has probability `chance`."""
        return self._between(chance, 0, self.passed)

    def below(self, chance: float) -> float:
        """Return the probability of at least so many passes if each has probability `chance`."""
        return self._between(chance, self.passed, self.runs)

    def _between(self, chance: float, least: int, most: int) -> float:
        runs = self.runs
        return sum(comb(runs, at) * chance**at * (1 - chance) ** (runs - at) for at in range(least, most + 1))


def below_indicators(seen: float, limit: float, chance: float) -> float:
    """Return the p-value of one count of independent events below a limit.

    A count of variance v at most its mean m reaches the limit with probability at least `chance` only if limit - m is
    at most sqrt(v (1 - chance) / chance) (Cantelli). A count of at most `seen` has probability at most that of
    Chernoff's bound, exp(m' - m) (m / m')^m' at m' = `seen`.
    """
    odds = (1 - chance) / chance
    root = (-sqrt(odds) + sqrt(odds + 4 * limit)) / 2  # of m + sqrt(odds m) = limit
    least = root * root
    if seen >= least:
        return 1.0
    return exp(seen - least + (seen * log(least / seen) if seen else 0.0))
