"""Shares, means and ratios of the full table: by weighted rows, with intervals that hold together.

Intervals follow from the box of all margins (`share_limits`) by linear programming over the table of the columns in
question. They hold for all questions about a release together with 95 % probability.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import prod

import numpy as np

from crowdgate.arrays import Bools, Floats, Integers
from crowdgate.errors import ConfigurationError, Problem, expected_names, nearest
from crowdgate.hierarchy import INVALID_LABEL
from crowdgate.kinds.rows.candidate import CalibratedMargins, PublishedRows
from crowdgate.kinds.rows.margins import margin_boxes
from crowdgate.risk.ratio_limits import MarginBoxes

Where = Mapping[str, str | Sequence[str]]
"""Maps a column to a label or to several."""
Values = Mapping[str, float | tuple[float, float]]
"""Maps a label to its number, or to the least and the greatest number that it stands for."""
MOST_CELLS = 20_000
"""The largest number of combinations of values in a question: its linear program takes seconds."""
_NUMBERS = re.compile(r"(-?\d+(?:\.\d+)?)(?: to (-?\d+(?:\.\d+)?))?")


@dataclass(frozen=True)
class RatioEstimate:
    """A share, mean or ratio of the full table: `value` by the weighted rows (None: no row is in question), and limits
    that hold together with those of all other questions with probability `level`."""

    value: float | None
    lower: float
    upper: float
    level: float = 0.95

    @property
    def use(self) -> str:
        """The source to use for this number: `rows`, or `tables` if the interval is wider than half the number or does
        not hold it."""
        held = self.value is not None and self.lower <= self.value <= self.upper
        return "rows" if held and self.upper - self.lower <= abs(self.value or 0) / 2 else "tables"

    def __str__(self) -> str:
        """Return the number with its interval, or the advice to use the tables."""
        limits = f"{self.lower:.4g} to {self.upper:.4g}"
        if self.use == "tables":
            return f"use the tables: the margins allow {limits}"
        return f"{self.value:.4g} ({limits})"


@dataclass(frozen=True, eq=False)
class WeightedTable:
    """Weighted rows of a release, and what its margins say of the full table."""

    held: PublishedRows
    weighting: CalibratedMargins

    def share(self, where: Where, among: Where) -> RatioEstimate:
        """Return the share of the full table's rows `among` that are also in `where`."""
        question = self._question([*where, *among])
        whole = question.chosen(among)
        part = question.chosen(where) * whole
        found = question.estimate(part, part, part, whole)
        return replace(found, upper=min(found.upper, 1.0))

    def ratio(self, where: Where, to: Where) -> RatioEstimate:
        """Return the number of the full table's rows in `where`, divided by that of the rows in `to`."""
        question = self._question([*where, *to])
        part, whole = question.chosen(where), question.chosen(to)
        return question.estimate(part, part, part, whole)

    def mean(self, column: str, where: Where, values: Values | None) -> RatioEstimate:
        """Return the mean of a column over the full table's rows in `where`, without invalid values."""
        question = self._question([column, *where])
        numbers = _numbers(column, self._labels(column), values)
        whole = question.chosen(where) * question.spread(column, ~np.isnan(numbers[0]))
        low, high = (question.spread(column, np.nan_to_num(each)) * whole for each in numbers)
        return question.estimate(low, (low + high) / 2, high, whole)

    def _question(self, names: Sequence[str]) -> "_Question":
        for name in names:
            if name not in self.held.labels:
                raise _unknown("column", name, list(self.held.labels))
        question = _Question(self, tuple(name for name in self.held.labels if name in names))
        if question.size > MOST_CELLS:
            found = f"{question.size} combinations of values of {', '.join(question.names)}"
            raise ConfigurationError(Problem("arguments", None, "where", found, f"at most {MOST_CELLS}: fewer columns"))
        return question

    def _labels(self, name: str) -> tuple[str, ...]:
        return self.held.labels[name]


@dataclass(frozen=True, eq=False)
class _Question:
    """The table of the columns `names`: an array with an axis for each column, flat."""

    of: WeightedTable
    names: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(self.of.held.labels[name]) for name in self.names)

    @property
    def size(self) -> int:
        return prod(self.shape)

    @cached_property
    def codes(self) -> Mapping[str, Integers]:
        """The code of each cell in each column."""
        return dict(zip(self.names, np.indices(self.shape).reshape(len(self.names), self.size), strict=True))

    def spread(self, name: str, numbers: Floats | Bools) -> Floats:
        """Return numbers of a column's labels for each cell."""
        return np.asarray(numbers, dtype=np.float64)[self.codes[name]]

    def chosen(self, where: Where) -> Floats:
        """Return 1 for each cell that has the stated labels, else 0."""
        found = np.ones(self.size)
        for name, stated in where.items():
            found *= self.spread(name, _mask(name, self.of.held.labels[name], stated))
        return found

    def estimate(self, low: Floats, middle: Floats, high: Floats, whole: Floats) -> RatioEstimate:
        """Return the sum of a number over rows, divided by the number of rows in `whole`: by weighted rows with
        `middle`, with the limits for numbers from `low` to `high`."""
        weighted = self._sums(self.of.held.rows.counts * self.of.weighting.weights)
        people = float(weighted @ whole)
        limits = self._limits(low, high, whole)
        return RatioEstimate(float(weighted @ middle) / people if people > 0 else None, *limits)

    def _limits(self, low: Floats, high: Floats, whole: Floats) -> tuple[float, float]:
        boxes, every = self._boxes(), np.ones(self.size)
        total = boxes.lower[:, 0]
        others = boxes.greatest(every - whole, every, total) if total[0] > 0 else None
        least = None if others is None else total * (1 - others)
        if least is None or not least[0] > 0:
            return _range(low, high)
        most, fewest = boxes.greatest(high, whole, least), boxes.greatest(-low, whole, least)
        if most is None or fewest is None:
            return _range(low, high)
        limits = np.clip([-fewest[0], most[0]], *_range(low, high))
        return float(limits[0]), float(limits[1])

    def _boxes(self) -> MarginBoxes:
        """Return the box of all margins of these columns, the total first, and of the released rows of each cell."""
        from scipy.sparse import csr_array, eye_array, vstack

        boxes = [each for each in margin_boxes(self.of.held.rows, self.of.weighting) if {*each.levels} <= {*self.names}]
        boxes.sort(key=lambda each: len(each.levels))
        sums, lookup = [], self.of.weighting.lookup
        for each in boxes:
            at = [lookup[axis][self.codes[axis[0]]] for axis in each.levels.items()]
            cell = np.ravel_multi_index(at, each.lower.shape) if at else np.zeros(self.size, dtype=np.int64)
            entries = np.ones(self.size), (cell, np.arange(self.size))
            sums.append(csr_array(entries, shape=(each.lower.size, self.size)))
        released = self._sums(self.of.held.rows.counts)
        lower = np.concatenate([*(each.lower.reshape(-1) for each in boxes), released])
        upper = np.concatenate([*(each.upper.reshape(-1) for each in boxes), np.full(self.size, boxes[0].upper.item())])
        return MarginBoxes(csr_array(vstack([*sums, eye_array(self.size)])), lower[None], upper[None])

    def _sums(self, numbers: Integers) -> Floats:
        """Return for each cell the sum of a number of each class of released rows."""
        rows = self.of.held.rows
        at = [rows.codes[rows.names.index(name)] for name in self.names]
        cell = np.ravel_multi_index(at, self.shape) if at else np.zeros(len(rows), dtype=np.int64)
        return np.bincount(cell, numbers, self.size).astype(np.float64)


def _range(low: Floats, high: Floats) -> tuple[float, float]:
    """Return the limits of a ratio without knowledge of the rows: by the signs of the numbers in its sum."""
    return -np.inf if (low < 0).any() else 0.0, np.inf if (high > 0).any() else 0.0


def _mask(name: str, labels: Sequence[str], stated: str | Sequence[str]) -> Floats:
    listed = [stated] if isinstance(stated, str) else list(stated)
    for label in listed:
        if label not in labels:
            raise _unknown(name, label, labels)
    return np.array([label in listed for label in labels], dtype=np.float64)


def _numbers(column: str, labels: Sequence[str], values: Values | None) -> tuple[Floats, Floats]:
    """Return the least and the greatest number of each label: those of `values`, or that the label says; NaN for
    invalid values."""
    found = [_number(column, label, values) for label in labels]
    if not {*labels} - {INVALID_LABEL} <= {*(values or {})}:
        _refuse_gaps(column, found)
    return np.array([low for low, _ in found]), np.array([high for _, high in found])


def _refuse_gaps(column: str, found: Sequence[tuple[float, float]]) -> None:
    """Refuse labels with gaps between their numbers: each may stand for all numbers up to the next one."""
    ordered = sorted(each for each in found if not np.isnan(each[0]))
    for (_, high), (low, _) in pairwise(ordered):
        if low != high + 1:
            said = f"the labels do not say which numbers between {high:g} and {low:g} they stand for"
            expected = "values with the least and the greatest number of each label"
            raise ConfigurationError(Problem("arguments", None, column, said, expected))


def _number(column: str, label: str, values: Values | None) -> tuple[float, float]:
    if values is not None and label in values:
        stated = values[label]
        return stated if isinstance(stated, tuple) else (stated, stated)
    if label == INVALID_LABEL:
        return np.nan, np.nan
    read = _NUMBERS.fullmatch(label)
    if read is None:
        found, expected = f"{label!r} is no number", "values with a number, or a pair of them, for this label"
        raise ConfigurationError(Problem("arguments", None, column, found, expected))
    return float(read[1]), float(read[2] or read[1])


def _unknown(what: str, name: str, known: Sequence[str]) -> ConfigurationError:
    expected = expected_names(known, name, "a value", "dictionary.csv")
    return ConfigurationError(Problem("arguments", None, what, repr(name), expected, nearest(name, known)))


def weighted_table(contents: object) -> WeightedTable:
    """Return the weighted rows of a release. Raises ConfigurationError for a release without margins."""
    if not isinstance(contents, PublishedRows) or contents.weighting is None:
        found = "a release without rows that margins weight"
        raise ConfigurationError(Problem("arguments", None, "release", found, "a release of rows with margins"))
    return WeightedTable(contents, contents.weighting)
