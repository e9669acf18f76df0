"""Numbers as integers: the public grid of a numeric column, and sums, means and quantiles out of noisy integers.

Every number of a domain, first + (precision or step) code, is a whole multiple of the unit gcd(first, precision or
step). Sums are taken over these integers, so they are exact and their sensitivity is the greatest integer: there is no
float in a release before the noise is in it. Cells outside the domain (level `(invalid)`) add nothing.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from crowdgate.domain import Grid
from crowdgate.hierarchy import Level

Vector = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
MOST_ADDED = 1 << 62
"""What one privacy unit can add to a sum, in units: the noise is drawn for changes up to here."""
_Z95 = 1.959963984540054


@dataclass(frozen=True, eq=False)
class IntegerGrid:
    """What the rows of every code of the column's finest level add to a sum: `integers[code]`, and nothing where the
    cell is invalid (codes behind those); value = offset + unit integer."""

    column: str
    level: Level
    integers: Vector
    unit: Fraction
    offset: Fraction = Fraction(0)

    @property
    def low(self) -> int:
        """The least integer."""
        return int(self.integers.min())

    @property
    def high(self) -> int:
        """The greatest integer."""
        return int(self.integers.max())

    @property
    def greatest(self) -> int:
        """What one row can add to a sum, in units, at least 1."""
        return max(1, abs(self.low), abs(self.high))

    @cached_property
    def weights(self) -> Vector:
        """What a row of every code of the level adds."""
        return np.pad(self.integers, (0, len(self.level) - len(self.integers)))


def integer_grid(column: str, grid: Grid, finest: Level, low: Fraction | None, high: Fraction | None) -> IntegerGrid:
    """The integers of a column, its numbers clamped to [low, high], which lie on the grid."""
    unit = common_unit(grid)
    bottom = int((grid.first if low is None else low) / unit)
    top = int((grid.greatest if high is None else high) / unit)
    values = int(grid.first / unit) + int(grid.unit / unit) * np.arange(grid.codes, dtype=np.int64)
    return IntegerGrid(column, finest, np.clip(values, bottom, top), unit)


def centred(grid: IntegerGrid) -> IntegerGrid:
    """The same around the middle of the bounds (rounded to the grid's unit), which halves what a row can add."""
    middle = (grid.low + grid.high) // 2
    return replace(grid, integers=grid.integers - middle, offset=middle * grid.unit)


def count_of_valid(grid: IntegerGrid) -> IntegerGrid:
    """1 for every cell inside the domain: its sum counts the rows that a mean is taken over."""
    return replace(grid, integers=np.ones_like(grid.integers), unit=Fraction(1))


def count_at_end(grid: IntegerGrid, *, high: bool) -> IntegerGrid:
    """1 for every cell at or beyond an end of the bounds: its sum counts the rows that are clamped, or just there."""
    at_end = grid.integers == (grid.high if high else grid.low)
    return replace(grid, integers=at_end.astype(np.int64), unit=Fraction(1))


@dataclass(frozen=True, eq=False)
class Estimates:
    """Numbers with standard errors and the ends of approximate 95 % intervals, of one shape; NaN where undefined."""

    value: Floats
    error: Floats
    lower: Floats
    upper: Floats


def means(grid: IntegerGrid, sums: Vector, counts: Vector, sum_variance: float, count_variance: float,
          beta: Fraction = Fraction(1)) -> Estimates:  # fmt: skip
    """offset + unit sum / count, where `sums` are noisy sums around the offset and `counts` noisy counts.

    The standard error is that of the ratio to first order (delta method), good where the count is many times its own
    error; where the noisy count is below 1 the mean is not stated. Means are clamped to the column's bounds. A sample
    of rate `beta` adds at most (1 - beta) greatest^2 / count to the variance.
    """
    unit, offset = float(grid.unit), float(grid.offset)
    low, high = offset + unit * grid.low, offset + unit * grid.high
    with np.errstate(divide="ignore", invalid="ignore"):
        n = np.where(counts >= 1, counts, np.nan)
        ratio = sums / n
        value = np.clip(offset + unit * ratio, low, high)
        kept = (value - offset) / unit
        coins = float(1 - beta) * grid.greatest**2 * n
        error = unit * np.sqrt(sum_variance + kept**2 * count_variance + coins) / n
    return Estimates(value, error, np.clip(value - _Z95 * error, low, high), np.clip(value + _Z95 * error, low, high))


def quantile_bins(histogram: Floats, probability: float, variance: float) -> tuple[npt.NDArray[np.int64], ...]:
    """(bin, lowest, highest) along the last axis: where the cumulated non-negative counts reach `probability`.

    The second and third move the target by 1.96 standard errors of the cumulated noise: an approximate 95 % interval,
    in bins, of the noise alone. -1 where nothing is left to count.
    """
    counts = np.maximum(histogram, 0)
    cumulated = np.cumsum(counts, axis=-1)
    total = cumulated[..., -1:]
    bins = np.arange(1, counts.shape[-1] + 1)
    spread = _Z95 * np.sqrt(variance * bins * (1 - probability) ** 2 + variance * (bins[-1] - bins) * probability**2)
    target = probability * total
    found = [_first(cumulated >= target + move) for move in (0.0, -spread, spread)]
    empty = total[..., 0] <= 0
    return tuple(np.where(empty, -1, bin_) for bin_ in found)


def _first(reached: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    last = reached.shape[-1] - 1
    out: npt.NDArray[np.int64] = np.where(reached.any(axis=-1), reached.argmax(axis=-1), last).astype(np.int64)
    return out


def common_unit(grid: Grid) -> Fraction:
    """The greatest number that all numbers of a grid are whole multiples of."""
    first, step = grid.first, grid.unit
    common = math.gcd(first.numerator * step.denominator, step.numerator * first.denominator)
    return Fraction(common, first.denominator * step.denominator)


def most_units(grid: Grid) -> int:
    """The greatest absolute value of a grid's numbers, in their common unit."""
    return int(max(abs(grid.first), abs(grid.greatest)) / common_unit(grid))
