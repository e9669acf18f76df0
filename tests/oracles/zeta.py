"""The exact law of the number of singletons among k people in N equally likely bins, for up to 300 people."""

from fractions import Fraction
from math import comb, perm

from crowdgate.accounting.numbers import Number, whole
from crowdgate.risk.zeta import MOST, zeta


def singletons_distribution(k: Number, N: Number) -> list[Fraction]:
    """P(S = j) for j = 0 .. k, exactly: section 5.4.2, with zeta(0, 0) = 1 where every bin holds a singleton."""
    people, bins = whole("k", k, 0, MOST), whole("N", N, 1)
    return [_exactly(people, bins, alone) for alone in range(people + 1)]


def _exactly(k: int, N: int, j: int) -> Fraction:
    if j > N or (j == N and k > N):
        return Fraction(0)
    rest = Fraction(N - j, N) ** (k - j) * (zeta(k - j, N - j) if j < N else 1)
    return comb(N, j) * perm(k, j) * Fraction(1, N**j) * rest
