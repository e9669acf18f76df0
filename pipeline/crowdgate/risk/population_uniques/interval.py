"""An interval for the number of population uniques, from a Bernoulli sample: by all laws of a family that fit it.

The family: the numbers of classes of 1, 2, 3, ... people are a mixture of geometric laws with any weights. These are
the completely monotone sequences, to which the expected numbers of Ewens's and Pitman's models belong. A Bernoulli
sample of a geometric class is geometric again: with success probability 1 - q and fraction f at least i people of a
class are sampled with probability f r^(i - 1) / (1 - q (1 - f)), where r = q f / (1 - q (1 - f)). So each mixture has
expected numbers of sample classes, which are compared with the observed ones.

The interval is a profile of weighted least squares. It holds each number of population uniques at which the best
mixture fits by at most Z^2 worse than the best of all (S. S. Wilks, 1938, for one parameter). A single model gives a
number without this range, and two models that fit equally well may differ by a factor of 10.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from crowdgate.arrays import Floats
    from crowdgate.risk.class_sizes import ClassSizes

Z = 2.17
"""Quantile of the standard Normal at 98.5 %: two-sided 97 %. Real class sizes belong to the family only nearly, and
with this the stated 95 % is kept on all tables of the tests."""
WIDEST = 3
"""Greatest quotient of the two limits at which the number is called known."""
_ENDS = (*range(1, 9), 10, 13, 17, 23, 31, 45, 70, 120, 250, 600, 1500)
"""The least class size of each group of sample classes."""
_LAWS = 50
_STEPS = 25


@dataclass(frozen=True)
class UniquesInterval:
    """The number of population uniques: the best fit, with 95 % confidence limits."""

    value: float
    low: float
    high: float

    @property
    def known(self) -> bool:
        """False if the limits differ by more than the factor WIDEST: the sample does not tell the number."""
        return self.high <= WIDEST * self.low or self.high < 1


def uniques_interval(classes: ClassSizes, fraction: float) -> UniquesInterval | None:
    """Return the interval for a Bernoulli sample of a population at this rate, from above 0 to 1; None for an empty
    sample. Of a whole population the uniques are counted."""
    if not classes.people:
        return None
    single = classes.of_size(1)
    if fraction == 1:
        return UniquesInterval(single, single, single)
    fit = _Fit(classes, fraction)
    best = fit.best_uniques
    most = best + (single + 3 * Z * sqrt(single + 1) + Z * Z) / fraction
    low = 0.0 if fit.holds(0.0) else _last(fit.holds, best, 0.0)
    return UniquesInterval(best, low, _last(fit.holds, best, most))


class _Fit:
    """Mixtures compared with the sample: a column for each geometric law, a row for each group of sample classes, each
    divided by its standard deviation (of a Poisson number with the mean of the best fit)."""

    def __init__(self, classes: ClassSizes, fraction: float) -> None:
        self._seen = np.histogram(classes.sizes, [*_ENDS, np.inf], weights=classes.counts)[0]
        means = np.geomspace(1, max(10.0, 5 * float(classes.sizes[-1]) / fraction), _LAWS)
        others = 1 - 1 / means
        self._single = 1 / means
        self._expected = _group_probabilities(others, fraction)

    @cached_property
    def _weights(self) -> Floats:
        weights = 1 / np.sqrt(self._seen + 1)
        for _ in range(3):
            mixture, _ = _least_squares(self._expected * weights[:, None], self._seen * weights)
            weights = 1 / np.sqrt(np.maximum(self._expected @ mixture, 0.5))
        return np.asarray(weights)

    @cached_property
    def _scaled(self) -> tuple[Floats, Floats]:
        return self._expected * self._weights[:, None], self._seen * self._weights

    @cached_property
    def _best(self) -> tuple[Floats, float]:
        return _least_squares(*self._scaled)

    @property
    def best_uniques(self) -> float:
        """Expected number of population uniques of the best mixture."""
        return float(self._best[0] @ self._single)

    def holds(self, uniques: float) -> bool:
        """Return True if some mixture with about this number of population uniques fits nearly as well as the best. The
        number itself is Poisson, given the mixture."""
        weight = 1 / sqrt(max(1.0, uniques))
        rows = np.vstack([self._scaled[0], self._single * weight])
        _, loss = _least_squares(rows, np.append(self._scaled[1], uniques * weight))
        return loss - self._best[1] <= Z * Z


def _group_probabilities(others: Floats, fraction: float) -> Floats:
    """Return for each group of sample classes (rows) and each law the probability of a class to be sampled so."""
    missed = 1 - others * (1 - fraction)
    ends = np.array(_ENDS, dtype=np.float64)[:, None]
    with np.errstate(under="ignore"):
        above = fraction / missed * (others * fraction / missed) ** (ends - 1)
    return np.asarray(above - np.vstack([above[1:], np.zeros(len(others))]))


def _least_squares(rows: Floats, seen: Floats) -> tuple[Floats, float]:
    """Return the weights of at least 0 with the least sum of squares, and this sum."""
    from scipy.optimize import nnls

    found, residual = nnls(rows, seen)
    return np.asarray(found), float(residual) ** 2


def _last(holds: Callable[[float], bool], inside: float, outside: float) -> float:
    """Return the place between a number that holds and one that may not, up to which it holds, by bisection."""
    for _ in range(_STEPS):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside
