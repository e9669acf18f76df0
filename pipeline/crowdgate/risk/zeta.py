"""The probability of no singletons among k people in N equally likely bins, as exact fractions.

M. Koot, Measuring and predicting anonymity (thesis, 2012), sections 5.4.1-5.4.2 and Table A.1 (k <= 50, N <= 20).
"""

from fractions import Fraction
from functools import cache
from math import comb

from crowdgate.accounting.numbers import Number, whole

MOST = 300
"""Largest number of people: the recursion takes k^2 N steps. `risk.singletons.probability_none` permits more, in
floats."""


def zeta(k: Number, N: Number) -> Fraction:
    """Return the probability of no singletons, exactly, for 0 <= k <= 300 people in N >= 1 equally likely bins.

    Section 5.4.1: a person's bin has j >= 1 of the other k - 1, and none of the rest may be alone in the other N - 1
    bins: zeta(k, N) = sum_j C(k - 1, j) N^-j (1 - 1/N)^(k - 1 - j) zeta(k - 1 - j, N - 1). zeta(0, N) = 1, zeta(1, N) =
    0; for k >= 2, zeta(k, 1) = 1. Here the recursion runs over the occupied bins, of which there are at most k / 2, and
    then their choice among N is counted.
    """
    people, bins = whole("k", k, 0, MOST), whole("N", N, 1)
    used = min(bins, people // 2)
    ways = sum(comb(bins, full) * _onto(people, full) for full in range(used + 1))
    return Fraction(ways, bins**people)


@cache
def _onto(k: int, N: int) -> int:
    """Return the number of ways in which k people fill all of N bins with at least two each."""
    if N == 0 or k < 2 * N:
        return int(k == N == 0)
    return N * sum(comb(k - 1, j) * _onto(k - 1 - j, N - 1) for j in range(1, k))
