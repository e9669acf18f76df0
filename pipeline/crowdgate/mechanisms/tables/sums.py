"""Numbers as integers: the public grid of a numeric column, whose sums are exact.

Every number of a domain, first + (precision or step) code, is a whole multiple of the unit gcd(first, precision or
step). Sums are taken over these integers, so they are exact and their sensitivity is the greatest integer: there is no
float in a release before the noise is in it. Cells outside the domain (level `(invalid)`) add nothing.
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
"""What one privacy unit can add to a sum, in units: the noise is drawn for changes up to here."""


Rounding = Literal["nearest", "down", "none"]


@dataclass(frozen=True)
class ClampAndRounding:
    """How numbers are taken: clamped to [low, high] and rounded to low + whole multiples of `precision`, to the nearest
    (a tie upwards) or down; "none": they are such multiples, or invalid."""

    low: Fraction
    high: Fraction
    precision: Fraction
    rounding: Rounding


@dataclass(frozen=True, eq=False)
class IntegerGrid:
    """What the rows of every code of the column's finest level add to a sum: `integers[code]`, and nothing where the
    cell is invalid (codes behind those); value = offset + unit integer, of numbers that are taken as stated."""

    column: str
    level: Level
    integers: Integers
    unit: Fraction
    taken: ClampAndRounding
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
    def weights(self) -> Integers:
        """What a row of every code of the level adds."""
        return np.pad(self.integers, (0, len(self.level) - len(self.integers)))


def integer_grid(column: str, grid: Grid, finest: Level, low: Fraction | None, high: Fraction | None) -> IntegerGrid:
    """The integers of a column, its numbers clamped to [low, high], which lie on the grid."""
    unit = common_unit(grid)
    bottom = int((grid.first if low is None else low) / unit)
    top = int((grid.greatest if high is None else high) / unit)
    values = int(grid.first / unit) + int(grid.unit / unit) * np.arange(grid.codes, dtype=np.int64)
    rounding: Rounding = "nearest" if grid.precision is not None else "none" if grid.whole else "down"
    taken = ClampAndRounding(bottom * unit, top * unit, grid.unit, rounding)
    return IntegerGrid(column, finest, np.clip(values, bottom, top), unit, taken)


def centred(grid: IntegerGrid) -> IntegerGrid:
    """The same around the middle of the bounds (rounded to the grid's unit), which halves what a row can add."""
    middle = (grid.low + grid.high) // 2
    return replace(grid, integers=grid.integers - middle, offset=middle * grid.unit)


def count_of_valid(grid: IntegerGrid) -> IntegerGrid:
    """1 for every cell inside the domain: its sum counts the rows that a mean is taken over."""
    return replace(grid, integers=np.ones_like(grid.integers), unit=Fraction(1))


def count_at_bound(grid: IntegerGrid, *, high: bool) -> IntegerGrid:
    """1 for every cell at or beyond an end of the bounds: its sum counts the rows that are clamped, or just there."""
    at_end = grid.integers == (grid.high if high else grid.low)
    return replace(grid, integers=at_end.astype(np.int64), unit=Fraction(1))


def common_unit(grid: Grid) -> Fraction:
    """The greatest number that all numbers of a grid are whole multiples of."""
    first, step = grid.first, grid.unit
    common = math.gcd(first.numerator * step.denominator, step.numerator * first.denominator)
    return Fraction(common, first.denominator * step.denominator)


def most_units(grid: Grid) -> int:
    """The greatest absolute value of a grid's numbers, in their common unit."""
    return int(max(abs(grid.first), abs(grid.greatest)) / common_unit(grid))
