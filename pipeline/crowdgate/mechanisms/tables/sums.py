"""Numbers as integers: the public grid of a numeric column, and sums, means and quantiles out of noisy integers.

Every value of a numeric domain first + step code is a whole multiple of the unit gcd(first, step). Sums are taken over
these integers, so they are exact and their sensitivity is the greatest integer: there is no float in a release before
the noise is in it. Cells outside the domain (level `(invalid)`) add nothing.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from crowdgate.domain import Grid
from crowdgate.hierarchy import INVALID_LABEL, Level

Vector = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_LIMIT = 1 << 62
_Z95 = 1.959963984540054


@dataclass(frozen=True, eq=False)
class IntegerGrid:
    """`integers[code]` for every code of the column's exact level, 0 where invalid; value = offset + unit integer."""

    column: str
    level: Level
    integers: tuple[int, ...]
    unit: Fraction
    offset: Fraction = Fraction(0)

    @property
    def greatest(self) -> int:
        """What one row can add to a sum, in units, at least 1."""
        return max(1, *(abs(value) for value in self.integers))


def integer_grid(column: str, grid: Grid, exact: Level, low: Fraction | None, high: Fraction | None) -> IntegerGrid:
    """The integers of a column, its values clamped to [low, high], which lie on the grid."""
    unit = _gcd(grid.first, grid.step)
    first, step = int(grid.first / unit), int(grid.step / unit)
    bottom = int((grid.first if low is None else low) / unit)
    top = int((grid.last if high is None else high) / unit)
    values = [min(max(first + step * code, bottom), top) for code in range(grid.size)]
    invalid = [0] * (len(exact) - grid.size)
    return IntegerGrid(column, exact, (*values, *invalid), unit)


def centred(grid: IntegerGrid) -> IntegerGrid:
    """The same around the middle of the bounds (rounded to the grid's unit), which halves what a row can add."""
    size = _valid(grid)
    middle = (min(grid.integers[:size]) + max(grid.integers[:size])) // 2
    moved = (*(value - middle for value in grid.integers[:size]), *grid.integers[size:])
    return replace(grid, integers=moved, offset=middle * grid.unit)


def count_of_valid(grid: IntegerGrid) -> IntegerGrid:
    """1 for every cell inside the domain: its sum counts the rows that a mean is taken over."""
    size = _valid(grid)
    return replace(grid, integers=(*([1] * size), *grid.integers[size:]), unit=Fraction(1))


def overflows(grid: IntegerGrid, rows: int) -> bool:
    """Whether a sum over that many rows could leave 62 bits."""
    return grid.greatest * rows >= _LIMIT


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
    unit, offset, size = float(grid.unit), float(grid.offset), _valid(grid)
    low, high = (offset + unit * pick(grid.integers[:size]) for pick in (min, max))
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


def _valid(grid: IntegerGrid) -> int:
    """How many codes lie inside the domain; an invalid one, if any, is the last."""
    return len(grid.integers) - (grid.level.labels[-1] == INVALID_LABEL)


def _gcd(first: Fraction, step: Fraction) -> Fraction:
    common = math.gcd(first.numerator * step.denominator, step.numerator * first.denominator)
    return Fraction(common, first.denominator * step.denominator)
