"""Prediction for a group of people from a distribution on bins, before any of them is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, expm1, inf, nextafter, sqrt
from typing import TYPE_CHECKING

from crowdgate.accounting.numbers import Number, whole
from crowdgate.risk.groups import share_in_groups_up_to
from crowdgate.risk.singletons import all_unique_within, expected, none_within, variance

if TYPE_CHECKING:
    from crowdgate.risk.bins import Bins
    from crowdgate.risk.saddle import LogProbability

SIZES = (1, 5, 10, 50, 100)
"""Sizes of small groups, as in Koot's Table 3.3."""

ABOVE_ZERO, BELOW_ONE = nextafter(0.0, 1.0), nextafter(1.0, 0.0)
"""Bounds for probabilities that are nearer to 0 and 1 than floats can show."""


@dataclass(frozen=True)
class Prediction:
    """`people` fall independently into `cells` bins. A singleton, alone in its bin, is identified by it to anybody who
    knows that the person is in the data.

    `singletons` are expected, with the standard deviation `spread`; `none` is the probability of no singleton,
    `all_unique` of all people being singletons, as logarithms with a bound on their error, which also covers merged
    bins. For a group drawn from a table `none` is a lower bound (Markov). `shares` maps group sizes to the expected
    share of people whose bin holds at most this number.
    """

    people: int
    cells: float
    singletons: float
    spread: float
    none: LogProbability
    all_unique: LogProbability
    shares: Mapping[int, float]

    @property
    def at_least_one(self) -> float:
        """The probability of at least one singleton; 1 only if certain. If the logarithm is too imprecise, the value is
        kept between the mean as an upper bound (Markov) and a lower bound from mean and spread (Cauchy-Schwarz)."""
        if not self.singletons:
            return 0.0
        ratio = self.spread / self.singletons
        least = 1 / (1 + ratio * ratio)  # a square that is too large for a float is inf, where ** would raise
        found = max(least, min(-expm1(self.none.value), self.singletons))
        return 1.0 if self.none.value == -inf else min(found, BELOW_ONE)

    @property
    def all_singletons(self) -> float:
        """The probability that all people are singletons; 0 and 1 only if certain."""
        if self.people == 1 or self.all_unique.value == -inf:
            return float(self.people == 1)
        return min(max(exp(self.all_unique.value), ABOVE_ZERO), BELOW_ONE)


def predict_singletons(bins: Bins, people: Number, sizes: Sequence[int] = SIZES) -> Prediction:
    """Return the prediction for a group of 1 to 1e15 people, in about a second."""
    k = bins.group(whole("people", people, 1))
    shares = {size: share_in_groups_up_to(bins, k, size) for size in sizes}
    none, unique = none_within(bins, k), all_unique_within(bins, k)
    return Prediction(k, bins.cells, expected(bins, k), sqrt(variance(bins, k)), none, unique, shares)
