"""Singletons: people who are alone in their bin when k people fall independently into bins of known probability.

M. Koot, Measuring and predicting anonymity (thesis, 2012), chapters 4 and 5. Where the thesis approximates, these are
exact: probabilities are coefficients of power series (`saddle`, `occupancy`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from crowdgate.accounting.numbers import Number, whole
from crowdgate.arrays import Floats
from crowdgate.risk import drawn_groups, groups, occupancy, saddle
from crowdgate.risk.bins import Bins

if TYPE_CHECKING:
    from crowdgate.risk.saddle import LogProbability

__all__ = [
    "Bins",
    "all_unique_within",
    "distribution",
    "expected",
    "log_probability_all_unique",
    "log_probability_none",
    "none_within",
    "probability_all_unique",
    "probability_none",
    "variance",
]

MOST_DISTINCT = 5000
"""Largest number of distinct probabilities for a coefficient, some tenths of a second; more are merged into groups
first."""


def expected(bins: Bins, k: Number) -> float:
    """Return the expected number of singletons among `k` people: the sum over bins of k p (1 - p)^(k - 1), with 0^0 =
    1.

    Proposition 5.1. Exact too for a group drawn from a table.
    """
    if bins.table is not None:
        return drawn_groups.expected_singletons(bins.table, bins.group(whole("k", k, 0)))
    return min(float(whole("k", k, 0)), groups.expected_groups(bins, k, 1))


def variance(bins: Bins, k: Number) -> float:
    """Return the variance of the number of singletons among `k` people.

    Proposition 5.9, where (5.7) prints F^2 for F (F - 1), and the homogeneous form before it an exponent 2k - 4 for 2k
    - 2. Exact too for a group drawn from a table.
    """
    if bins.table is not None:
        return drawn_groups.variance(bins.table, bins.group(whole("k", k, 0)))
    return groups.variance_of_groups(bins, k, 1)


def distribution(bins: Bins, k: Number) -> Floats:
    """Return the probability of each number of singletons, from 0 to `k`, each within 1e-12. Raises as
    `occupancy.law`."""
    return occupancy.law(bins, whole("k", k, 0), 1)


def probability_none(bins: Bins, k: Number) -> float:
    """Return the probability of no singletons among `k` people: zeta of section 5.4."""
    return math.exp(log_probability_none(bins, k))


def log_probability_none(bins: Bins, k: Number) -> float:
    """Return the natural logarithm of the probability of no singletons among `k` people, -inf if it is 0."""
    return none_within(bins, k).value


def none_within(bins: Bins, k: Number) -> LogProbability:
    """Return the natural logarithm of the probability of no singletons among `k` people, with a bound on its error.
    More than 5,000 distinct probabilities are grouped; the bound covers this and earlier grouping (`Bins.lost`)."""
    people = whole("k", k, 0)
    if people == 0:
        return saddle.LogProbability(0.0, 0.0)
    if bins.table is not None:
        return saddle.LogProbability(drawn_groups.log_none_bound(bins.table, bins.group(people)), 0.0)
    if people == 1:
        return saddle.LogProbability(-math.inf, 0.0)
    if math.fsum(bins.counts) == 1:
        return saddle.LogProbability(0.0, 0.0)
    fewer = bins.compressed(MOST_DISTINCT)
    found = saddle.log_probability(fewer, people, saddle.NotOne())
    return saddle.LogProbability(min(found.value, 0.0), found.error + occupancy.none_error_bound(fewer.lost, people))


def probability_all_unique(bins: Bins, k: Number) -> float:
    """Return the probability that each of `k` people is alone in a bin: pi of section 4.2."""
    return math.exp(log_probability_all_unique(bins, k))


def log_probability_all_unique(bins: Bins, k: Number) -> float:
    """Return the natural logarithm of the probability that each of `k` people is alone in a bin, -inf if there are more
    people than bins."""
    return all_unique_within(bins, k).value


def all_unique_within(bins: Bins, k: Number) -> LogProbability:
    """Return the natural logarithm of the probability that each of `k` people is alone in a bin, with a bound on its
    error. More than 5,000 distinct probabilities are grouped; the bound covers this and earlier grouping
    (`Bins.lost`)."""
    people, used = bins.group(whole("k", k, 0)), math.fsum(bins.counts)
    if people <= 1:
        return saddle.LogProbability(0.0, 0.0)
    if people > used:
        return saddle.LogProbability(-math.inf, 0.0)
    fewer = bins.compressed(MOST_DISTINCT) if people < used else bins
    found = (
        saddle.log_probability(fewer, people, saddle.AtMostOne())
        if people < used
        else occupancy.log_each_bin_one(bins, people)
    )
    value = found.value + (0.0 if bins.table is None else drawn_groups.log_repeats(bins.table, people))
    return saddle.LogProbability(min(value, 0.0), found.error + occupancy.unique_error_bound(fewer.lost, people))
