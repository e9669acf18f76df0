"""Numbers as integers: the public grid of a numeric column, whose sums are exact.

Each number of a domain, first + (precision or step) code, is a whole multiple of the unit gcd(first, precision or
step). Sums are taken over these integers, so they are exact and their sensitivity is the greatest integer: a release
has no floats before noise is added. Cells outside the domain (level `(invalid)`) add nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from crowdgate.arrays import Integers

if TYPE_CHECKING:
    from crowdgate.domain import Grid
    from crowdgate.hierarchy import Level

MOST_ADDED = 1 << 62
"""The most that one privacy unit can add to a sum, in units: noise is drawn for changes up to this number."""


Rounding = Literal["nearest", "down", "none"]


@dataclass(frozen=True)
class ClampAndRounding:
    """Treatment of numbers: clamped to [low, high] and rounded to low + whole multiples of `precision`, to the nearest
    (a tie upwards) or down; "none": they are such multiples, or invalid."""

    low: Fraction
    high: Fraction
    precision: Fraction
    rounding: Rounding


@dataclass(frozen=True, eq=False)
class IntegerGrid:
    """The contribution of rows to a sum by code of the column's finest level: `integers[code]`, and nothing for invalid
    cells (codes behind those); value = offset + unit integer, of numbers treated as stated in `taken`."""

    column: str
    level: Level
    integers: Integers
    unit: Fraction
    taken: ClampAndRounding
    offset: Fraction = Fraction(0)

    @property
    def low(self) -> int:
        """The least integer that a row with a valid cell contributes."""
        return int(self.integers.min())

    @property
    def high(self) -> int:
        """The greatest integer that a row with a valid cell contributes."""
        return int(self.integers.max())

    @property
    def greatest(self) -> int:
        """The largest contribution of one row to a sum, in units, at least 1."""
        return max(1, abs(self.low), abs(self.high))

    @cached_property
    def weights(self) -> Integers:
        """The integer that a row contributes to a sum, by code of `level`: 0 for invalid cells."""
        return np.pad(self.integers, (0, len(self.level) - len(self.integers)))


def integer_grid(column: str, grid: Grid, finest: Level, low: Fraction | None, high: Fraction | None) -> IntegerGrid:
    """Return the integer grid of a numeric column: the integer that each of its numbers contributes to a sum, after
    clamping to [low, high], which lie on the grid."""
    unit = common_unit(grid)
    bottom = int((grid.first if low is None else low) / unit)
    top = int((grid.greatest if high is None else high) / unit)
    values = int(grid.first / unit) + int(grid.unit / unit) * np.arange(grid.codes, dtype=np.int64)
    rounding: Rounding = "nearest" if grid.precision is not None else "none" if grid.whole else "down"
    taken = ClampAndRounding(bottom * unit, top * unit, grid.unit, rounding)
    return IntegerGrid(column, finest, np.clip(values, bottom, top), unit, taken)


def centred(grid: IntegerGrid) -> IntegerGrid:
    """Return the grid with differences from the middle of the bounds (rounded to the grid's unit), which halves the
    largest contribution of a row."""
    middle = (grid.low + grid.high) // 2
    return replace(grid, integers=grid.integers - middle, offset=middle * grid.unit)


def count_of_valid(grid: IntegerGrid) -> IntegerGrid:
    """Return a grid in which each cell inside the domain contributes 1: its sum counts the rows of a mean."""
    return replace(grid, integers=np.ones_like(grid.integers), unit=Fraction(1))


def count_at_bound(grid: IntegerGrid, *, high: bool) -> IntegerGrid:
    """Return a grid in which each cell at or beyond a bound (`high` or low) contributes 1: its sum counts the rows that
    are clamped, or exactly at the bound."""
    at_end = grid.integers == (grid.high if high else grid.low)
    return replace(grid, integers=at_end.astype(np.int64), unit=Fraction(1))


def common_unit(grid: Grid) -> Fraction:
    """Return the greatest number of which all numbers of a domain's grid are whole multiples."""
    first, step = grid.first, grid.unit
    common = math.gcd(first.numerator * step.denominator, step.numerator * first.denominator)
    return Fraction(common, first.denominator * step.denominator)


def most_units(grid: Grid) -> int:
    """Return the greatest absolute value of the numbers of a domain's grid, in their common unit."""
    return int(max(abs(grid.first), abs(grid.greatest)) / common_unit(grid))
