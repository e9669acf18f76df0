"""Metrics of Great Expectations, computed from the counts of values, or of pairs of values, in place of rows.

Each is by name what Great Expectations computes with pandas on the rows, in which a missing value is None.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

Kwargs = Mapping[str, Any]


@dataclass(frozen=True)
class CountedCells:
    """The distinct cells of one or two columns, each with the number of rows that have it."""

    cells: Sequence[tuple[Any, ...]]
    counts: Sequence[int]

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(self.counts)

    @cached_property
    def values(self) -> list[tuple[Any, int]]:
        """The values of the one column that are not missing, in their order, each with its count."""
        found = [(cell[0], count) for cell, count in zip(self.cells, self.counts, strict=True) if cell[0] is not None]
        return sorted(found)

    @cached_property
    def valid(self) -> int:
        """The number of rows with a value in the one column."""
        return sum(count for _, count in self.values)

    def failing(self, holds: Callable[[Any], bool]) -> int:
        """Return the number of rows whose value does not meet a condition; missing values are left out."""
        return sum(count for value, count in self.values if not holds(value))

    def at(self, place: int) -> Any:
        """Return the value at a place of the sorted column."""
        for value, count in self.values:
            place -= count
            if place < 0:
                return value
        return math.nan


def _between(kwargs: Kwargs) -> Callable[[Any], bool]:
    low, high = kwargs.get("min_value"), kwargs.get("max_value")

    def holds(value: Any) -> bool:
        above = low is None or (value > low if kwargs.get("strict_min") else value >= low)
        return above and (high is None or (value < high if kwargs.get("strict_max") else value <= high))

    return holds


def _sum(of: CountedCells) -> int | float:
    if all(isinstance(value, int) for value, _ in of.values):
        return sum(int(value) * count for value, count in of.values)
    return math.fsum(value * count for value, count in of.values)


def _mean(of: CountedCells) -> float:
    return _sum(of) / of.valid if of.valid else math.nan


def _deviation(of: CountedCells) -> float:
    mean = _mean(of)
    squares = math.fsum(count * (value - mean) ** 2 for value, count in of.values)
    return math.sqrt(squares / (of.valid - 1)) if of.valid > 1 else math.nan


def _median(of: CountedCells) -> float:
    return (of.at((of.valid - 1) // 2) + of.at(of.valid // 2)) / 2 if of.valid else math.nan


def _quantiles(of: CountedCells, kwargs: Kwargs) -> list[Any]:
    """Return the nearest value to each quantile, of two as near the one at an even place, as numpy's `nearest` does."""
    return [of.at(round(share * 100 / 100 * (of.valid - 1))) if of.valid else math.nan for share in kwargs["quantiles"]]


def _modes(of: CountedCells) -> list[Any]:
    most = max((count for _, count in of.values), default=0)
    return [value for value, count in of.values if count == most]


def _not_in_set(of: CountedCells, kwargs: Kwargs) -> list[Any]:
    return [value for value, _ in of.values if value not in kwargs["value_set"]]


def _missing(of: CountedCells, kwargs: Kwargs) -> list[Any]:
    held = {value for value, _ in of.values}
    return [value for value in dict.fromkeys(kwargs["value_set"]) if value not in held]


_IGNORED: dict[str, Callable[[Sequence[bool]], bool]] = {
    "both_values_are_missing": all,
    "either_value_is_missing": any,
    "neither": lambda _: False,
}
"""Which pairs are ignored, by their cells that are missing."""


def _pairs(of: CountedCells, kwargs: Kwargs) -> list[tuple[tuple[Any, Any], int]]:
    """Return the pairs of values that are not to be ignored, each with its count."""
    skip = _IGNORED[kwargs.get("ignore_row_if") or "both_values_are_missing"]
    pairs = zip(of.cells, of.counts, strict=True)
    return [((cell[0], cell[1]), count) for cell, count in pairs if not skip([each is None for each in cell])]


def _failing_pairs(of: CountedCells, kwargs: Kwargs, holds: Callable[[Any, Any], bool]) -> int:
    return sum(count for pair, count in _pairs(of, kwargs) if not holds(*pair))


def _equal(first: Any, second: Any) -> bool:
    return first is not None and first == second


def _greater(or_equal: bool | None) -> Callable[[Any, Any], bool]:
    def holds(first: Any, second: Any) -> bool:
        if first is None or second is None:
            return False
        return bool(first >= second if or_equal else first > second)

    return holds


def _filtered(of: CountedCells, kwargs: Kwargs) -> int:
    return sum(count for _, count in _pairs(of, kwargs))


METRICS: dict[str, Callable[[CountedCells, Kwargs], Any]] = {
    "table.row_count": lambda of, _: of.rows,
    "column_values.nonnull.unexpected_count": lambda of, _: of.rows - of.valid,
    "column_values.in_set.unexpected_count": lambda of, kw: of.failing(set(kw["value_set"]).__contains__),
    "column_values.not_in_set.unexpected_count": lambda of, kw: (
        of.valid - of.failing(set(kw["value_set"]).__contains__)
    ),
    "column_values.between.unexpected_count": lambda of, kw: of.failing(_between(kw)),
    "column_values.unique.unexpected_count": lambda of, _: sum(count for _, count in of.values if count > 1),
    "column.distinct_values.count": lambda of, _: len(of.values),
    "column.distinct_values.not_in_set": _not_in_set,
    "column.distinct_values.not_in_set.count": lambda of, kw: len(_not_in_set(of, kw)),
    "column.distinct_values.missing_from_column": _missing,
    "column.distinct_values.missing_from_column.count": lambda of, kw: len(_missing(of, kw)),
    "column.most_common_value": lambda of, _: _modes(of),
    "column.unique_proportion": lambda of, _: len(of.values) / of.valid if of.valid else 0,
    "column.non_null_proportion": lambda of, _: of.valid / of.rows if of.rows else 0,
    "column.mean": lambda of, _: _mean(of),
    "column.median": lambda of, _: _median(of),
    "column.min": lambda of, _: of.at(0),
    "column.max": lambda of, _: of.at(of.valid - 1) if of.valid else math.nan,
    "column.sum": lambda of, _: _sum(of),
    "column.standard_deviation": lambda of, _: _deviation(of),
    "column.quantile_values": _quantiles,
    "column_pair_values.equal.unexpected_count": lambda of, kw: _failing_pairs(of, kw, _equal),
    "column_pair_values.equal.filtered_row_count": _filtered,
    "column_pair_values.a_greater_than_b.unexpected_count": lambda of, kw: _failing_pairs(
        of, kw, _greater(kw.get("or_equal"))
    ),
    "column_pair_values.a_greater_than_b.filtered_row_count": _filtered,
    "column_pair_values.in_set.unexpected_count": lambda of, kw: _failing_pairs(
        of, kw, lambda *pair: pair in {tuple(each) for each in kw["value_pairs_set"]}
    ),
    "column_pair_values.in_set.filtered_row_count": _filtered,
}
"""The metrics by their name in Great Expectations, as functions of the counts and of the metric's arguments."""
