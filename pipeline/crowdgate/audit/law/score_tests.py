"""Exact tests of Normal scores, and what a number of scores would have shown.

Under the stated distributions the sum of squares is chi-squared, the weighted sum and the products of pairs are Normal,
and the farthest of n scores exceeds x with probability 1 - (1 - 2 P(Z > x))^n. All tests of an audit share one error
rate equally, whatever their dependence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import expm1, inf, log1p, sqrt

from crowdgate.audit.law.sums import ScoreSums
from crowdgate.system import lazy_libraries

SPREAD, CENTRE, FARTHEST, REPEATED = "spread", "centre", "farthest number", "two releases alike"
"""Tests of one family: too large or small a spread, a shift, one number too far away, and shared randomness."""
MOST_NUMBERS = 10**9


@dataclass(frozen=True)
class LawTest:
    """One test of a family of numbers, with its exact two-sided p-value under the stated distributions."""

    family: str
    test: str
    p: float


def tests(sums: ScoreSums) -> Iterator[LawTest]:
    """Yield all tests of one family of scores."""
    if not sums.numbers:
        return
    yield spread_test(sums)
    if sums.weights > 0:
        yield LawTest(sums.family, CENTRE, _two_sided(sums.weighted / sqrt(sums.weights)))
    yield LawTest(sums.family, FARTHEST, _farthest(sums.farthest, sums.numbers))
    if sums.pairs:
        yield LawTest(sums.family, REPEATED, _two_sided(sums.products / sqrt(sums.pairs)))


def spread_test(sums: ScoreSums) -> LawTest:
    """Return the test of the spread of a family of scores."""
    return LawTest(sums.family, SPREAD, _chi_squared(sums.squares, sums.numbers))


def _two_sided(z: float) -> float:
    return float(2 * lazy_libraries.special.ndtr(-abs(z)))


def _chi_squared(squares: float, numbers: int) -> float:
    special = lazy_libraries.special
    return min(
        1.0, 2 * float(min(special.gammainc(numbers / 2, squares / 2), special.gammaincc(numbers / 2, squares / 2)))
    )


def _farthest(x: float, numbers: int) -> float:
    one = _two_sided(x)
    return -expm1(numbers * log1p(-one)) if one < 1 else 1.0


def spread_limits(sums: ScoreSums, alpha: float) -> tuple[float, float]:
    """Return confidence limits, each wrong with probability `alpha`, of the noise's standard deviation as a multiple of
    the stated one."""
    special, half = lazy_libraries.special, sums.numbers / 2
    low = sums.squares / 2 / float(special.gammainccinv(half, alpha))
    under = float(special.gammaincinv(half, alpha))
    return sqrt(low), sqrt(sums.squares / 2 / under) if under else inf


def rate_limits(sums: ScoreSums, alpha: float) -> tuple[float, float] | None:
    """Return confidence limits, each wrong with probability `alpha`, of the sampling rate as a multiple of the stated
    one; None without a sample, or without classes that are never suppressed (Clopper, Pearson 1934, for these).
    """
    if sums.rate is None or not sums.rows:
        return None
    special, taken, left = lazy_libraries.special, sums.taken, sums.rows - sums.taken
    low = float(special.betaincinv(taken, left + 1, alpha)) if taken else 0.0
    high = float(special.betaincinv(taken + 1, left, 1 - alpha)) if left else 1.0
    return low / sums.rate, high / sums.rate


def spread_power(numbers: int, ratio: float, alpha: float) -> float:
    """Return the probability that the test of the spread at level `alpha` sees Normal noise whose standard deviation is
    `ratio` < 1 times the stated one, in this many numbers."""
    special, half = lazy_libraries.special, numbers / 2
    least = float(special.gammaincinv(half, alpha / 2))
    return float(special.gammainc(half, least / ratio**2)) if numbers else 0.0


def numbers_needed(ratio: float, alpha: float, power: float) -> int:
    """Return the least number of scores in which the test of the spread sees noise of `ratio` < 1 times the stated
    standard deviation with this probability."""
    low, high = 0, 1
    while spread_power(high, ratio, alpha) < power:
        if high >= MOST_NUMBERS:
            return MOST_NUMBERS
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if spread_power(middle, ratio, alpha) >= power else (middle, high)
    return high


def least_seen(numbers: int, alpha: float, power: float) -> float | None:
    """Return how much too small noise must be, as a share of the stated standard deviation, for the test of the spread
    to see it in this many numbers with this probability; None if even a tenth of the noise would not be seen."""
    if spread_power(numbers, 0.1, alpha) < power:
        return None
    low, high = 0.1, 1.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if spread_power(numbers, middle, alpha) >= power else (low, middle)
    return 1 - low
