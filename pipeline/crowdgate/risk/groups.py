"""Groups of j: bins that hold exactly j of k people (doubletons, tripletons, j-tons), and the people in them.

M. Koot, Measuring and predicting anonymity (thesis, 2012), sections 5.2.3 and 6.2.1. All sums have positive terms,
except for the variance. The distribution of their number is `occupancy.law`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.accounting.numbers import Number, whole
from crowdgate.risk import drawn_groups
from crowdgate.system import lazy_libraries

if TYPE_CHECKING:
    from crowdgate.arrays import Floats
    from crowdgate.risk.bins import Bins

MOST_PAIRED = 4096
"""Largest number of distinct probabilities that a variance pairs with each other. More are merged into groups, which
changes the variance by about the square of a group's relative width."""
_ROWS = 256


def expected_groups(bins: Bins, k: Number, j: Number) -> float:
    """Return eta_j: the expected number of bins that hold exactly `j` of `k` people, j at least 1 (section 6.2.1)."""
    people, size = whole("k", k, 0), whole("j", j, 1)
    return 0.0 if size > people else math.fsum(bins.counts * _mass(bins, people, size))


def variance_of_groups(bins: Bins, k: Number, j: Number) -> float:
    """Return the variance of the number of bins with exactly `j` people; its rounding error is below 1e-13 of the mean.

    Proposition 5.9 for j = 1. Var = sum m (1 - m) + sum over pairs of m m' (e^r - 1), where m is a bin's probability to
    hold j, and r is the logarithm of the factor by which j people in one bin change this probability for the other. So
    no large terms are subtracted from each other.
    """
    people, size = whole("k", k, 0), whole("j", j, 1)
    if size > people:
        return 0.0
    fewer = bins.compressed(MOST_PAIRED)
    mass = _mass(fewer, people, size)
    some = mass > 0
    logs, m, counts = fewer.log_complements[some], mass[some], fewer.counts[some]
    with np.errstate(divide="ignore"):
        odds = fewer.probabilities[some] / np.exp(logs)
    alone = counts * m * (1 - m)
    return max(0.0, math.fsum(alone) + math.fsum(_pairs(odds, logs, m, counts, people, size)))


def share_in_groups_of(bins: Bins, k: Number, j: Number) -> float:
    """Return phi_j: the expected share of `k` people, at least 1, who are in a bin of exactly `j` (6.1)."""
    people, size = whole("k", k, 1), whole("j", j, 1)
    return size / people * expected_groups(bins, people, size)


def share_in_groups_up_to(bins: Bins, k: Number, j: Number) -> float:
    """Return phi_1 + ... + phi_j: the expected share of `k` people, at least 1, who are in a bin of at most `j`."""
    people, size = bins.group(whole("k", k, 1)), whole("j", j, 1)
    if size >= people:
        return 1.0
    if bins.table is not None:
        return drawn_groups.share_in_sets_up_to(bins.table, people, size)
    # fewer than j of the k - 1 other people are in the bin: a binomial's lower tail
    p, others = bins.probabilities, np.exp(bins.log_complements)
    special = lazy_libraries.special
    few = np.where(p > 0.5, special.betainc(people - size, size, others), special.betaincc(size, people - size, p))
    return min(1.0, math.fsum(bins.counts * bins.probabilities * few))


def _mass(bins: Bins, k: int, j: int) -> Floats:
    """Return for each distinct probability p of the bins P(Bin(k, p) = j), that such a bin holds j of k people. From
    logarithms: C(k, j) term by term, so that no large ones are subtracted from each other."""
    p = bins.probabilities
    logs = sum((np.log(p * ((k - i) / (i + 1))) for i in range(j)), np.zeros_like(p))
    with np.errstate(under="ignore"):
        others = (k - j) * bins.log_complements if k > j else np.zeros_like(p)
        return np.asarray(np.exp(logs + others))


def _pairs(odds: Floats, log_others: Floats, m: Floats, counts: Floats, k: int, j: int) -> Floats:
    """Return for each distinct probability p, by its odds and ln(1 - p), the sum of the covariances of its bins with
    all others. A bin counts as 1 if it holds j of k people (probability m), else 0."""
    if k < 2 * j:  # two bins can't both hold j
        weight = math.fsum(counts * m)
        return -counts * m * (weight - m)
    shift = math.fsum(math.log1p(-j / (k - i)) for i in range(j))
    out = np.empty(len(m))
    for first in range(0, len(m), _ROWS):
        rows = slice(first, first + _ROWS)
        with np.errstate(divide="ignore", invalid="ignore"):
            # at most 1 for two different bins, except for rounding
            product = np.minimum(np.multiply.outer(odds[rows], odds), 1.0)
            both = (k - 2 * j) * np.log1p(-product) if k > 2 * j else 0.0
            away = np.add.outer(log_others[rows], log_others)
        change = np.expm1(both - j * away + shift)
        # a single bin that is likelier than 1/2 has no pair with itself
        own = np.arange(len(m))[rows]
        itself = change[np.arange(len(own)), own]
        itself = np.where(counts[own] > 1, itself, 0.0)
        change[np.arange(len(own)), own] = 0.0
        out[rows] = counts[own] * m[own] * (change @ (counts * m) + (counts[own] - 1) * m[own] * itself)
    return out
