"""Means from noisy sums and noisy counts: a ratio, and an interval that is valid for each possible count.

The interval contains each mean t that the noisy sum s and count c do not refute: those with |s - t c| at most the 95 %
half width of the distribution of X - t Y, the noise of both (Fieller 1954). Each noise is within 1 of one of a
continuous distribution (see `continuous_half_width`), so this half width is at most the root of the squares of both,
plus 1 + |t|.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.mechanisms.tables.error_methods import BY_OTHER_GROUPS, LATEST_METHOD, ErrorMethod
from crowdgate.mechanisms.tables.mean_errors import NoisyGroups, mean_posterior
from crowdgate.system import lazy_libraries

if TYPE_CHECKING:
    from crowdgate.accounting.discrete_laws import Law

Numbers = Integers | Floats
_Z95 = 1.959963984540054
_ROUNDS = 3
FEW_ROWS = 3
"""A mean is stated where its noisy number of rows is at least this many standard errors."""


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


def means(
    bounds: ColumnBounds, sums: Numbers, counts: Numbers, laws: tuple[Law, Law], beta: Fraction,
    method: ErrorMethod = LATEST_METHOD,
) -> MeanEstimates:  # fmt: skip
    """Return offset + unit sum / count, with `sums` noisy sums around the offset and `counts` noisy counts; clamped to
    the bounds. All numbers are NaN where the noisy count is below 1 or below `FEW_ROWS` of its standard errors.

    The error is the root mean square distance from the true mean, which is Normal (`mean_posterior`) and cut off at the
    bounds. In earlier methods it is Normal around the ratio, with the ratio's standard error to first order.
    """
    few = counts < max(1.0, FEW_ROWS * laws[1].variance ** 0.5)
    found = first_order_means(bounds, sums, np.where(few, 0, counts), laws, beta)
    s, n = (np.asarray(each, dtype=np.float64) for each in (sums, counts))
    unit, offset = float(bounds.unit), float(bounds.offset)
    if method in BY_OTHER_GROUPS:
        variances = laws[0].variance, laws[1].variance
        centre, spread = mean_posterior(NoisyGroups(s, n, *variances, bounds.low, bounds.high, float(beta)), method)
    else:
        with np.errstate(invalid="ignore", divide="ignore"):
            centre, spread = s / n, found.error / unit
    low, high = (float(bounds.offset + bounds.unit * end) for end in (bounds.low, bounds.high))
    return replace(found, error=_clamped_error(offset + unit * centre, found.value, unit * spread, low, high))


def _clamped_error(ratio: Floats, value: Floats, error: Floats, low: float, high: float) -> Floats:
    """Return the root mean square distance of `value` from a Normal number around `ratio` that is cut off at the
    bounds. A ratio far beyond a bound is taken for one 8 standard errors beyond it."""
    ndtr = lazy_libraries.special.ndtr
    with np.errstate(invalid="ignore", divide="ignore"):
        middle = np.clip(ratio, low - 8 * error, high + 8 * error)
        a, b = (low - middle) / error, (high - middle) / error
        mass = np.where(a > 0, ndtr(-a) - ndtr(-b), ndtr(b) - ndtr(a))
        at_a, at_b = (np.exp(-np.square(z) / 2) / np.sqrt(2 * np.pi) for z in (a, b))
        mean = middle + error * (at_a - at_b) / mass
        spread = 1 + (a * at_a - b * at_b) / mass - np.square((at_a - at_b) / mass)
        return np.asarray(np.sqrt(np.square(value - mean) + np.square(error) * np.maximum(spread, 0)))


def first_order_means(
    bounds: ColumnBounds, sums: Numbers, counts: Numbers, laws: tuple[Law, Law], beta: Fraction
) -> MeanEstimates:
    """Return means as releases gave them that do not state the errors of their values: NaN where the noisy count is
    below 1, with the standard error to first order of the clamped ratio.

    If the noise does not exclude a count of 0, the interval is that of the bounds.
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
