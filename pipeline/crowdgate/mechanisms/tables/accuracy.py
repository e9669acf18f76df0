"""How far noise moves a published number: standard errors, 95 % intervals, and which cells are trustworthy.

All of it is public: a function of the plan and of the noisy numbers, never of the true ones. Before consistency, and
without sampling, an interval covers exactly as often as the law of the noise says (`coverage`, at least .95: integers
jump). After consistency, non-negativity and rounding, and with sampling, intervals are approximate.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from crowdgate.accounting.discrete_laws import Law
from crowdgate.mechanisms.tables.means import Estimates

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Z95 = 1.959963984540054
CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Cells:
    """Published numbers of one table, of one shape: estimates for the full table, standard errors, 95 % intervals, and
    which are trustworthy at the stated relative error."""

    value: Floats
    error: Floats
    lower: Floats
    upper: Floats
    trustworthy: Mask

    def suppressed(self) -> "Cells":
        """The same with NaN in place of every number that is not trustworthy."""
        value, error, lower, upper = (
            np.where(self.trustworthy, part, np.nan) for part in (self.value, self.error, self.lower, self.upper)
        )
        return Cells(value, error, lower, upper, self.trustworthy)


@dataclass(frozen=True)
class Expected:
    """What a query's noise will be, before any data is read: per cell, in units of the published number.

    `half_width` is that of the 95 % interval before consistency, `coverage` how often it holds the truth exactly;
    `consistent_error` is the root mean square over cells of the standard error after consistency (None: no count).
    """

    name: str
    cells: int
    error: float
    half_width: float
    coverage: float
    consistent_error: float | None = None


def exact_cells(noisy: npt.NDArray[np.int64], law: Law, unit: Fraction, beta: Fraction, relative: Fraction,
                greatest: int | None = 1) -> Cells:  # fmt: skip
    """Noisy integers with the intervals of their law. `greatest` bounds what a row adds (None: of either sign)."""
    q = law.half_width(CONFIDENCE)
    return _cells(noisy.astype(np.float64), law.variance, float(q), unit, beta, relative, greatest)


def consistent_cells(values: npt.NDArray[np.int64] | Floats, variances: Floats, beta: Fraction,
                     relative: Fraction) -> Cells:  # fmt: skip
    """Counts after consistency: 1.96 standard errors of the least-squares estimate, ends not below 0."""
    cells = _cells(np.asarray(values, dtype=np.float64), variances, 0.0, Fraction(1), beta, relative, 1)
    half = Z95 * cells.error
    lower, upper = np.maximum(cells.value - half, 0), np.maximum(cells.value + half, 0)
    return Cells(cells.value, cells.error, lower, upper, cells.trustworthy)


def estimated_cells(estimates: Estimates, relative: Fraction) -> Cells:
    """Means as cells."""
    trusted = _trusted(estimates.value, estimates.error, relative)
    return Cells(estimates.value, estimates.error, estimates.lower, estimates.upper, trusted)


def trusted_share(cells: Sequence[Cells]) -> float:
    """The share of trustworthy numbers among all; 0 where there are none."""
    flags = [table.trustworthy.reshape(-1) for table in cells]
    return float(np.concatenate(flags).mean()) if flags else 0.0


def _cells(values: Floats, variance: float | Floats, width: float | Floats, unit: Fraction, beta: Fraction,
           relative: Fraction, greatest: int | None) -> Cells:  # fmt: skip
    """Scaled to the full table: a sampled count y stands for y / beta, which adds the variance of the coins."""
    scale, rate = float(unit / beta), float(beta)
    coins = _coins(values, rate, greatest)
    value = values * scale
    error = np.sqrt(variance + coins) * scale * np.ones_like(value)
    half = _half(values, width, rate, greatest) * scale
    return Cells(value, error, value - half, value + half, _trusted(value, error, relative))


def _half(values: Floats, width: float | Floats, beta: float, greatest: int | None) -> Floats:
    """The h with h^2 = width^2 + Z95^2 coins(|value| + h): noise, and coins at the far end of the interval, where they
    move a sum the most. At the value itself they would be too small for whom chance left out of the sample."""
    if beta == 1 or greatest is None:
        return np.full_like(values, np.inf if beta != 1 else 0) + width
    each = Z95**2 * (1 - beta) * greatest
    return np.asarray(each / 2 + np.sqrt(each**2 / 4 + each * np.abs(values) + np.square(width)))


def _coins(values: Floats, beta: float, greatest: int | None) -> Floats:
    """Variance that Bernoulli sampling gives to a sampled sum S: (1 - beta) times the sampled sum of squares, estimated
    from above by greatest * |S| where all rows have one sign, without limit where they have not."""
    if beta == 1:
        return np.zeros_like(values)
    return np.full_like(values, np.inf) if greatest is None else (1 - beta) * greatest * np.abs(values)


def _trusted(value: Floats, error: Floats, relative: Fraction) -> Mask:
    with np.errstate(invalid="ignore"):
        return np.asarray((error <= float(relative) * np.abs(value)) & (value != 0))
