"""Means from noisy sums and noisy counts: a ratio, and an interval that is valid for each possible count.

The interval contains each mean t that the noisy sum s and count c do not refute: those with |s - t c| at most the 95 %
half width of the distribution of X - t Y, the noise of both (Fieller 1954). Each noise is within 1 of one of a
continuous distribution (see `continuous_half_width`), so this half width is at most the root of the squares of both,
plus 1 + |t|.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import numpy as np

from crowdgate.arrays import Floats, Integers

if TYPE_CHECKING:
    from crowdgate.accounting.discrete_laws import Law

Numbers = Integers | Floats
_Z95 = 1.959963984540054
_ROUNDS = 3


class ColumnBounds(Protocol):
    """The numbers of a column: offset + unit times the whole numbers from low to high."""

    @property
    def unit(self) -> Fraction:
        """Difference of the column's values for adjacent whole numbers."""

    @property
    def offset(self) -> Fraction:
        """The column's value for the whole number 0."""

    @property
    def low(self) -> int:
        """The whole number of the column's least value, which is offset + unit * low."""

    @property
    def high(self) -> int:
        """The whole number of the column's greatest value, which is offset + unit * high."""


@dataclass(frozen=True, eq=False)
class MeanEstimates:
    """Estimated means with standard errors and the limits of 95 % confidence intervals, all of one shape; NaN where
    undefined."""

    value: Floats
    error: Floats
    lower: Floats
    upper: Floats


def means(bounds: ColumnBounds, sums: Numbers, counts: Numbers, laws: tuple[Law, Law], beta: Fraction) -> MeanEstimates:
    """Return offset + unit sum / count, with `sums` noisy sums around the offset and `counts` noisy counts; clamped to
    the bounds, and NaN where the noisy count is below 1.

    The standard error is that of the ratio to first order (delta method), valid if the count is many times its standard
    error. If the noise does not exclude a count of 0, the interval is that of the bounds.
    """
    with np.errstate(invalid="ignore"):
        s, n = np.asarray(sums, dtype=np.float64), np.where(counts >= 1, counts, np.nan)
        ratio = np.clip(s / n, bounds.low, bounds.high)
        noise = laws[0].variance + np.square(ratio) * laws[1].variance
        error = np.sqrt(noise + _sampling_variance(bounds, ratio, ratio, n, beta)) / n
        ends = _ratio_limits(bounds, s, n, laws, beta)
    unit, offset = float(bounds.unit), float(bounds.offset)
    lower, upper = (offset + unit * np.clip(end, bounds.low, bounds.high) for end in ends)
    return MeanEstimates(offset + unit * ratio, unit * error, lower, upper)


def _ratio_limits(
    bounds: ColumnBounds, s: Floats, n: Floats, laws: tuple[Law, Law], beta: Fraction
) -> tuple[Floats, Floats]:
    """Return the least and the greatest ratio of a sum to a count that the noise and the sampling randomness do not
    refute. `s` are the noisy sums, `n` the noisy counts.

    The effect of sampling on s - t n depends on t. It is bounded for all t of an interval that contains all possible
    ratios, then for those of the interval that this bound gives: ratios outside this interval are refuted by their own
    bound as well.
    """
    wide, narrow = (law.continuous_half_width() for law in laws)
    least, greatest = np.full_like(s, bounds.low), np.full_like(s, bounds.high)
    for _ in range(_ROUNDS if beta != 1 else 1):
        coins = _sampling_variance(bounds, least, greatest, n + narrow + 1, beta)
        a = np.sqrt(wide * wide + _Z95 * _Z95 * coins)
        known = n - 1 > narrow
        least = np.where(known, np.maximum(-_greatest(-s, n, a, narrow), bounds.low), bounds.low)
        greatest = np.where(known, np.minimum(_greatest(s, n, a, narrow), bounds.high), bounds.high)
    empty = np.isnan(n)
    return np.where(empty, np.nan, least), np.where(empty, np.nan, greatest)


def _greatest(s: Floats, n: Floats, a: Floats, b: float) -> Floats:
    """Return the greatest ratio t with n t - s <= sqrt(a^2 + t^2 b^2) + 1 + |t|, where n > b + 1. `s` is a noisy sum,
    `n` a noisy count, `a` and `b` are bounds on the noise of each."""
    sign = np.where(s + a + 1 >= 0, 1.0, -1.0)  # sign of t
    m, slope = s + 1, n - sign
    d = np.square(slope) - b * b
    return np.asarray((slope * m + np.sqrt(np.maximum(np.square(a) * d + np.square(b * m), 0))) / d)


def _sampling_variance(bounds: ColumnBounds, least: Floats, greatest: Floats, n: Floats, beta: Fraction) -> Floats:
    """Return the variance that Bernoulli sampling gives to the sampled sum of (value - t) over n rows, for the worst t
    from `least` to `greatest`: rows of mean t between the bounds have a mean square of at most (high - t) (t - low)
    (Bhatia, Davis 2000)."""
    nearest = np.clip((bounds.low + bounds.high) / 2, least, greatest)
    return np.asarray(float(1 - beta) * np.maximum(n, 0) * (bounds.high - nearest) * (nearest - bounds.low))
