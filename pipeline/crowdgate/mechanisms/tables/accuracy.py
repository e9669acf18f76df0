"""Effect of noise on a published number: errors, 95 % intervals, and trustworthy cells.

All of these are public: functions of the plan and of the noisy numbers, never of the true ones. Before consistency, and
without sampling, the coverage of an interval is exactly that of the noise distribution (`coverage`, at least .95, as
integers are discrete).

The interval of a count after consistency is that of the linear estimate behind it. Its width in standard errors holds
for any weighted sum of such noise (`noise_sums`); it is cut at 0, and widened to contain the published number. So its
coverage is at least as high, however negative numbers and fractions were removed. With sampling at rate beta, noise of
variance v, and n people, the sampled and noisy y has mean beta n and variance v + beta (1 - beta) n: the interval is
all n with |y - beta n| at most `width` such standard deviations (a score interval, Wilson 1927). With c = width^2 (1 -
beta), beta n = y + c/2 +- sqrt(c^2/4 + width^2 (v + (1 - beta) y)). Below 0 y is taken as 0 under the root, which
widens the interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import Bools, Floats, Integers

if TYPE_CHECKING:
    from crowdgate.accounting.discrete_laws import Law
    from crowdgate.mechanisms.tables.means import MeanEstimates

Z95 = 1.959963984540054
CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Cells:
    """Published numbers of one table, of one shape: estimates for the full table, their errors (root mean square), 95 %
    intervals, and the cells whose interval is within the stated relative error. `unbiased` are linear estimates, with
    their standard errors: those behind consistent counts, elsewhere the values themselves."""

    value: Floats
    error: Floats
    lower: Floats
    upper: Floats
    trustworthy: Bools
    unbiased: Floats
    standard_error: Floats

    def suppressed(self) -> Cells:
        """Return the cells with NaN in place of each number that is not trustworthy."""
        parts = {name: np.where(self.trustworthy, part, np.nan) for name, part in vars(self).items()}
        return Cells(**{**parts, "trustworthy": self.trustworthy})


@dataclass(frozen=True)
class ExpectedNoise:
    """Expected noise of a query, before any data are read: per cell, in units of the published number.

    `half_width` is that of the 95 % interval before consistency, `coverage` its exact coverage probability;
    `consistent_error` is the root mean square over cells of the standard error after consistency (None: no count).
    """

    name: str
    cells: int
    error: float
    half_width: float
    coverage: float
    consistent_error: float | None = None


def exact_cells(noisy: Integers, law: Law, unit: Fraction, beta: Fraction, relative: Fraction,
                greatest: int | None = 1) -> Cells:  # fmt: skip
    """Return noisy integers as cells: scaled by unit / beta, with the exact 95 % intervals of their noise. `relative`
    is the largest relative error of a trustworthy cell; `greatest` bounds a row's contribution (None: of either
    sign)."""
    q = law.half_width(CONFIDENCE)
    return _cells(noisy.astype(np.float64), law.variance, float(q), unit, beta, relative, greatest)


def consistent_cells(
    values: Integers | Floats, estimates: Floats, variances: Floats, errors: Floats, width: Fraction, beta: Fraction,
    relative: Fraction,
) -> Cells:  # fmt: skip
    """Return counts after consistency as cells scaled to the full table. `estimates` are the linear estimates behind
    the counts, with their variances, for the counted rows (the sample, if any); `errors` are those of the scaled
    counts. `width` is half of an interval in standard errors."""
    rate = float(beta)
    value, unbiased = values / rate, estimates / rate
    standard_error = np.sqrt(variances + _sampling_variance(np.maximum(estimates, 0), rate, 1)) / rate
    moved = float(width**2 * (1 - beta) / (2 * beta))
    half = np.sqrt(moved * moved + np.square(float(width) * standard_error))
    lower = np.minimum(np.maximum(unbiased + moved - half, 0), value)
    upper = np.maximum(unbiased + moved + half, value)
    trusted = is_trustworthy(value, lower, upper, relative)
    return Cells(value, errors, lower, upper, trusted, unbiased, standard_error)


def estimated_cells(estimates: MeanEstimates, relative: Fraction) -> Cells:
    """Return means as cells: values, errors, intervals, and True for those whose interval is within `relative` of the
    value."""
    value, error, lower, upper = estimates.value, estimates.error, estimates.lower, estimates.upper
    return Cells(value, error, lower, upper, is_trustworthy(value, lower, upper, relative), value, error)


def _cells(values: Floats, variance: float | Floats, width: float | Floats, unit: Fraction, beta: Fraction,
           relative: Fraction, greatest: int | None) -> Cells:  # fmt: skip
    """Return the cells of noisy values, scaled to the full table: a sampled count y estimates y / beta, which adds the
    sampling variance."""
    scale, rate = float(unit / beta), float(beta)
    coins = _sampling_variance(values, rate, greatest)
    value = values * scale
    error = np.sqrt(variance + coins) * scale * np.ones_like(value)
    half = _half(values, width, rate, greatest) * scale
    lower, upper = value - half, value + half
    return Cells(value, error, lower, upper, is_trustworthy(value, lower, upper, relative), value, error)


def _half(values: Floats, width: float | Floats, beta: float, greatest: int | None) -> Floats:
    """Return the half width h of the interval of each noisy value: h^2 = width^2 + Z95^2 times the sampling variance of
    (|value| + h), the far end of the interval, where that variance is greatest. At the value itself it would be too
    small for samples that are small by chance."""
    if beta == 1 or greatest is None:
        return np.full_like(values, np.inf if beta != 1 else 0) + width
    each = Z95 * Z95 * (1 - beta) * greatest
    return np.asarray(each / 2 + np.sqrt(each * each / 4 + each * np.abs(values) + np.square(width)))


def _sampling_variance(values: Floats, beta: float, greatest: int | None) -> Floats:
    """Return the variance that Bernoulli sampling gives to a sampled sum S: (1 - beta) times the sampled sum of
    squares, estimated from above by greatest * |S| if all rows have one sign, otherwise infinite."""
    if beta == 1:
        return np.zeros_like(values)
    return np.full_like(values, np.inf) if greatest is None else (1 - beta) * greatest * np.abs(values)


def is_trustworthy(value: Floats, lower: Floats, upper: Floats, relative: Fraction) -> Bools:
    """Return True for each value that is not 0 and differs from both limits of its 95 % interval by at most `relative`
    of it; False for an empty (NaN) value."""
    with np.errstate(invalid="ignore"):
        farthest = np.maximum(upper - value, value - lower)
        return np.asarray((farthest <= float(relative) * np.abs(value)) & (value != 0))
