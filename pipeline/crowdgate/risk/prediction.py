"""What a law on bins foretells of a group of people, before anybody is asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import expm1, sqrt

from crowdgate.accounting.numbers import Number, whole
from crowdgate.risk.bins import Bins
from crowdgate.risk.groups import share_in_groups_up_to
from crowdgate.risk.saddle import LogProbability
from crowdgate.risk.singletons import all_unique_within, expected, none_within, variance

SIZES = (1, 5, 10, 50, 100)
"""Of small groups, as in Koot's Table 3.3."""


@dataclass(frozen=True)
class Prediction:
    """`people` fall independently into `cells` bins. Whoever is alone in a bin is known by it to anybody who knows that
    the person is in the data.

    `singletons` are expected, with the standard deviation `spread`; `none` is the probability that there is none,
    `all_unique` that all are, as logarithms with a bound on their error. `shares` gives, for sizes of groups, the
    expected share of people whose bin holds at most so many.
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
        """The probability of at least one singleton."""
        return -expm1(self.none.value)


def predicted(bins: Bins, people: Number, sizes: Sequence[int] = SIZES) -> Prediction:
    """The prediction for a group of at least one person."""
    k = whole("people", people, 1)
    shares = {size: share_in_groups_up_to(bins, k, size) for size in sizes}
    none, unique = none_within(bins, k), all_unique_within(bins, k)
    return Prediction(k, bins.cells, expected(bins, k), sqrt(variance(bins, k)), none, unique, shares)
