"""Public domains: every value an attribute may take, named in the contract before any data is seen.

A row is a tuple of small codes on these domains. A cell is mapped through its text, so `39`, `39.0` and `"39"` are one
value; what the domain does not hold has code INVALID.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np
import numpy.typing as npt

from crowdgate.limits import MOST_VALUES

INVALID = -1

Codes = npt.NDArray[np.int32]
_NUMBER = re.compile(r"\s*[-+]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][-+]?\d{1,2})?\s*", re.ASCII)
_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})([T ]00:00(:00(\.0+)?)?Z?)?", re.ASCII)
_EXACTLY = Context(prec=400)


@dataclass(frozen=True)
class Grid:
    """A numeric domain: `size` cells of width `step` from `first`; `top` and `bottom` clamp what lies outside.

    With `whole` a value must lie exactly on the grid, otherwise it belongs to the cell [v, v + step) that holds it.
    """

    first: Fraction
    step: Fraction
    size: int
    top: bool = False
    bottom: bool = False
    whole: bool = True

    @property
    def last(self) -> Fraction:
        """Lower end of the last cell."""
        return self.first + self.step * (self.size - 1)

    def code(self, value: Fraction) -> int:
        """Code of a number, or INVALID."""
        cell = (value - self.first) / self.step
        if cell >= self.size - 1 and self.top:
            return self.size - 1
        if cell < 0 and self.bottom:
            return 0
        exact = not self.whole or cell.denominator == 1
        return int(cell // 1) if exact and 0 <= cell < self.size else INVALID


@dataclass(frozen=True)
class Domain:
    """The values of one attribute in their public order. `labels[code]` is what a reader of the release sees."""

    labels: tuple[str, ...]
    source: str
    grid: Grid | None = None
    first_day: date | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {label: code for code, label in enumerate(self.labels)}

    @cached_property
    def _numbers(self) -> dict[Fraction, int]:
        """Codes of named values that are numbers, without those that two names share (`1` and `01`)."""
        stated = [
            (number, code) for code, label in enumerate(self.labels) if (number := parse_number(label)) is not None
        ]
        count = Counter(number for number, _ in stated)
        return {number: code for number, code in stated if count[number] == 1}

    def code(self, text: str | None) -> int:
        """Code of one cell's text, or INVALID. A label is its own text; a number may be written another way (`1.0`)."""
        if text is None:
            return INVALID
        if text in self._codes:
            return self._codes[text]
        if self.grid is not None:
            number = parse_number(text)
            return INVALID if number is None else self.grid.code(number)
        if self.first_day is not None:
            day = parse_date(text)
            offset = INVALID if day is None else (day - self.first_day).days
            return offset if 0 <= offset < len(self.labels) else INVALID
        number = parse_number(text) if self._numbers else None
        return INVALID if number is None else self._numbers.get(number, INVALID)

    def codes(self, texts: Iterable[str | None]) -> Codes:
        """Codes of distinct texts, INVALID where the domain does not hold the text."""
        return np.fromiter((self.code(text) for text in texts), dtype=np.int32)


def categories(values: Sequence[str], source: str) -> Domain:
    """A domain of named values. Raises ValueError for an empty list, an empty name or a name used twice."""
    if not values or len(set(values)) != len(values) or not all(values):
        raise ValueError("values must be a non-empty list of distinct, non-empty names")
    return Domain(tuple(values), source)


def numbers(first: Fraction, last: Fraction, step: Fraction, source: str, *, top: bool = False, bottom: bool = False,
            whole: bool = True) -> Domain:  # fmt: skip
    """A numeric domain from `first` to `last`. Raises ValueError when the grid is empty, uneven or too fine."""
    if step <= 0 or last < first or (last - first) % step:
        raise ValueError("from, to and step must give at least one cell and end exactly on `to`")
    size = int((last - first) / step) + 1
    if size == 1 and top and bottom:
        raise ValueError("one cell that is top and bottom at once holds every number: give it two ends")
    if size > MOST_VALUES:
        raise ValueError(f"a domain has at most {MOST_VALUES} values: use a larger step")
    unit = lcm(first.denominator, step.denominator)
    start, each = int(first * unit), int(step * unit)  # whole numbers: a million labels in a second
    labels = [_label(start + each * i, unit) for i in range(size)]
    if bottom:
        labels[0] += " or less"
    if top:
        labels[-1] += "+"
    return Domain(tuple(labels), source, grid=Grid(first, step, size, top, bottom, whole))


def dates(first: date, last: date, source: str) -> Domain:
    """A domain of days, both ends included. Raises ValueError when it is empty or too long."""
    size = (last - first).days + 1
    if not 1 <= size <= MOST_VALUES:
        raise ValueError(f"a domain of dates has 1 to {MOST_VALUES} days")
    days = (date.fromordinal(first.toordinal() + i).isoformat() for i in range(size))
    return Domain(tuple(days), source, first_day=first)


def parse_number(text: str) -> Fraction | None:
    """The number that a cell's text states exactly, or None (also for NaN, infinities and absurd lengths)."""
    return Fraction(Decimal(text.strip())) if _NUMBER.fullmatch(text) else None


def parse_date(text: str) -> date | None:
    """The ISO day that a cell's text states (a midnight time is allowed), or None."""
    match = _DATE.fullmatch(text)
    try:
        return date.fromisoformat(match[1]) if match else None
    except ValueError:
        return None


def number_label(value: Fraction) -> str:
    """A number as a reader sees it. Negative ones carry U+2212: a cell that begins with `-` runs as a formula."""
    return _label(value.numerator, value.denominator)


def _label(numerator: int, denominator: int) -> str:
    if numerator % denominator == 0:
        text = str(numerator // denominator)
    else:
        text = f"{_EXACTLY.normalize(_EXACTLY.divide(Decimal(numerator), Decimal(denominator))):f}"
    return text.replace("-", "\N{MINUS SIGN}")
