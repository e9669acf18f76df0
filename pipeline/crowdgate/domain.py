"""Public domains: all values that an attribute may take, listed in the contract before any data are seen.

A row is a tuple of small codes on these domains. A cell is mapped through its text, so `39`, `39.0` and `"39"` are one
value; a text outside the domain has code INVALID. A code is a value, unless numbers are stored more exactly than they
are shown: then the codes of a value are the numbers of a finer grid that lie in its interval.
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

from crowdgate.arrays import Bools, Codes, Floats
from crowdgate.limits import MOST_VALUES

INVALID = -1

_NUMBER = re.compile(r"\s*[-+]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})([eE][-+]?\d{1,2})?\s*", re.ASCII)
_INTEGER = re.compile(r"\s*[-+]?\d{1,15}\s*", re.ASCII)
_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})([T ]00:00(:00(\.0+)?)?Z?)?", re.ASCII)
_TIME = re.compile(
    r"[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?", re.ASCII
)
"""A time of day after an ISO day, with or without its distance from UTC."""
_EXACTLY = Context(prec=400)


@dataclass(frozen=True)
class Grid:
    """A numeric domain: `size` cells of width `step` from `first`; `top` and `bottom` clamp numbers outside it.

    With `whole` a value must lie exactly on the grid, otherwise it belongs to the cell [v, v + step) that holds it.
    With a `precision`, which divides the step, it is clamped and then rounded to the nearest of first, first +
    precision, ..., greatest, a tie upwards; with `whole` it must be a whole number.
    """

    first: Fraction
    step: Fraction
    size: int
    top: bool = False
    bottom: bool = False
    whole: bool = True
    precision: Fraction | None = None

    @property
    def last(self) -> Fraction:
        """Lower limit of the grid's last cell."""
        return self.first + self.step * (self.size - 1)

    @property
    def unit(self) -> Fraction:
        """Difference between the numbers of two adjacent codes: the precision, or the step if there is none."""
        return self.step if self.precision is None else self.precision

    @property
    def each(self) -> int:
        """Number of codes of one cell. Only a last cell that clamps has a single code, since numbers above its lower
        limit count as that limit."""
        return int(self.step / self.unit)

    @property
    def codes(self) -> int:
        """Number of codes of the whole grid."""
        return self.each * (self.size - 1) + (1 if self.top else self.each)

    @property
    def greatest(self) -> Fraction:
        """The number that the last code represents."""
        return self.first + self.unit * (self.codes - 1)

    def code(self, value: Fraction) -> int:
        """Return the code of a number, or INVALID if the grid does not contain it."""
        return self._cell(value) if self.precision is None else self._nearest(value, self.precision)

    def _nearest(self, value: Fraction, precision: Fraction) -> int:
        outside = (value < self.first and not self.bottom) or (value >= self.last + self.step and not self.top)
        if outside or (self.whole and value.denominator != 1):
            return INVALID
        return min(max(int((value - self.first) / precision + Fraction(1, 2)), 0), self.codes - 1)

    def rounded(self, values: Floats) -> tuple[Codes, Bools]:
        """Return the codes of many numbers on a grid with a precision, and for each True if a double determines the
        code: it is not near a tie or a limit of the domain."""
        start, end, each = float(self.first), float(self.last + self.step), float(self.unit)
        with np.errstate(invalid="ignore", over="ignore"):
            at = (values - start) / each + 0.5
            slack = 2.0**-48 * ((np.abs(values) + abs(start) + abs(end)) / each + 1)
            near_end = np.minimum(np.abs(values - start), np.abs(values - end)) <= slack * each
            sure = (np.abs(at - np.rint(at)) > slack) & ~near_end
        outside = ((values < start) & (not self.bottom)) | ((values >= end) & (not self.top))
        codes = np.clip(np.where(sure, np.floor(at), 0), 0, self.codes - 1).astype(np.int32)
        return np.where(outside, np.int32(INVALID), codes), sure

    def _cell(self, value: Fraction) -> int:
        cell = (value - self.first) / self.step
        if cell >= self.size - 1 and self.top:
            return self.size - 1
        if cell < 0 and self.bottom:
            return 0
        exact = not self.whole or cell.denominator == 1
        return int(cell // 1) if exact and 0 <= cell < self.size else INVALID


@dataclass(frozen=True)
class Domain:
    """The values of one attribute in their public order: `labels` are the texts that a reader of the release sees.

    `written` are the texts of named values in the table, if they differ from the labels (1 for Male). `missing` are
    texts, or numbers however they are written, that state that a value is missing.
    """

    labels: tuple[str, ...]
    source: str
    grid: Grid | None = None
    first_day: date | None = None
    written: tuple[str, ...] | None = None
    missing: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def size(self) -> int:
        """Number of domain codes: one for each value, or for each number of the grid where that is finer than the
        values."""
        return len(self.labels) if self.grid is None else self.grid.codes

    @cached_property
    def values(self) -> Codes:
        """For each domain code the place of its value in `labels`."""
        each = 1 if self.grid is None else self.grid.each
        values = np.arange(self.size, dtype=np.int32) // np.int32(each)
        values.flags.writeable = False
        return values

    @cached_property
    def _codes(self) -> dict[str, int]:
        """Domain code of each label; the first one if several codes belong to the value."""
        each = 1 if self.grid is None else self.grid.each
        found = {label: each * at for at, label in enumerate(self.labels)}
        return found if self.written is None else found | {text: at for at, text in enumerate(self.written)}

    @cached_property
    def _numbers(self) -> dict[Fraction, int]:
        """Domain codes of the named values that are numbers, by number. Numbers that two names share (`1` and `01`) are
        left out."""
        stated = [
            (number, code)
            for code, text in enumerate(self.written or self.labels)
            if (number := parse_number(text)) is not None
        ]
        count = Counter(number for number, _ in stated)
        return {number: code for number, code in stated if count[number] == 1}

    @cached_property
    def missing_numbers(self) -> frozenset[Fraction]:
        """The numbers that state that a value is missing."""
        return frozenset(number for text in self.missing if (number := parse_number(text)) is not None)

    def is_missing(self, text: str) -> bool:
        """Return whether a cell's text states that its value is missing."""
        return text.strip() in self.missing or (
            bool(self.missing_numbers) and parse_number(text) in self.missing_numbers
        )

    def code(self, text: str | None) -> int:
        """Return the code of one cell's text, or INVALID. A label is its own text (the first number of an interval); a
        number may be written differently (`1.0`)."""
        if text is None or (self.missing and self.is_missing(text)):
            return INVALID
        if text in self._codes:
            return self._codes[text]
        if self.grid is not None:
            number = parse_number(text)
            return INVALID if number is None else self.grid.code(number)
        if self.first_day is not None:
            day = day_of(text)
            offset = INVALID if day is None else (day - self.first_day).days
            return offset if 0 <= offset < len(self.labels) else INVALID
        number = parse_number(text) if self._numbers else None
        return INVALID if number is None else self._numbers.get(number, INVALID)

    def codes(self, texts: Iterable[str | None]) -> Codes:
        """Return the codes of distinct texts, INVALID for texts outside the domain."""
        if self.grid is None or self.grid.precision is None:
            return np.fromiter((self.code(text) for text in texts), dtype=np.int32)
        cells = list(texts)
        doubles = np.fromiter((_double(text, self.grid.whole) for text in cells), dtype=np.float64, count=len(cells))
        codes, sure = self.grid.rounded(doubles)
        if self.missing_numbers:
            sure &= ~np.isin(doubles, [float(number) for number in self.missing_numbers])
        for at in np.flatnonzero(~sure):
            codes[at] = self.code(cells[at])
        return codes


def categories(values: Sequence[str], source: str) -> Domain:
    """Return a domain of named values. Raises ValueError for an empty list, an empty name or a name used twice."""
    if not values or len(set(values)) != len(values) or not all(values):
        raise ValueError("values must be a non-empty list of distinct, non-empty names")
    return Domain(tuple(values), source)


def numbers(first: Fraction, last: Fraction, step: Fraction, source: str, *, top: bool = False, bottom: bool = False,
            whole: bool = True, precision: Fraction | None = None) -> Domain:  # fmt: skip
    """Return a numeric domain from `first` to `last`. Raises ValueError if the grid is empty, uneven or too fine."""
    if last < first:
        raise ValueError("`from` is above `to`")
    if step <= 0 or (last - first) % step:
        raise ValueError("steps from `from` must end exactly on `to`, with one value at least")
    size = int((last - first) / step) + 1
    if size == 1 and top and bottom:
        raise ValueError("one cell that is top and bottom at once holds every number: give it two ends")
    if size > MOST_VALUES:
        raise ValueError(f"a domain has at most {MOST_VALUES} values: use a larger step")
    if precision is not None and (precision <= 0 or step % precision):
        raise ValueError("precision must be above 0 and divide the step: an interval holds so many numbers")
    grid = Grid(first, step, size, top, bottom, whole, precision)
    if grid.codes > MOST_VALUES:
        raise ValueError(f"a domain has at most {MOST_VALUES} numbers: use a coarser precision")
    if precision is not None and whole and (first.denominator != 1 or precision.denominator != 1):
        raise ValueError(
            "from, step and precision of whole numbers must be whole: with decimals, write logicalType: number"
        )
    unit = lcm(first.denominator, step.denominator)
    start, each = int(first * unit), int(step * unit)  # whole numbers: a million labels in a second
    labels = [_label(start + each * i, unit) for i in range(size)]
    if bottom:
        labels[0] += " or less"
    if top:
        labels[-1] += "+"
    return Domain(tuple(labels), source, grid=grid)


def dates(first: date, last: date, source: str) -> Domain:
    """Return a domain of days, from `first` to `last` inclusive. Raises ValueError if it is empty or too long."""
    size = (last - first).days + 1
    if not 1 <= size <= MOST_VALUES:
        raise ValueError(f"a domain of dates has 1 to {MOST_VALUES} days")
    days = (date.fromordinal(first.toordinal() + i).isoformat() for i in range(size))
    return Domain(tuple(days), source, first_day=first)


def cell_value(domain: Domain, code: int) -> str | int | float:
    """Return the value of a domain's code as Great Expectations gets it: a number, or the text in the table."""
    if domain.grid is None:
        return (domain.written or domain.labels)[code]
    number = domain.grid.first + domain.grid.unit * code
    return int(number) if number.denominator == 1 else float(number)


def parse_number(text: str) -> Fraction | None:
    """Return the number that a cell's text states exactly, or None (also for NaN, infinities and absurd lengths)."""
    return Fraction(Decimal(text.strip())) if _NUMBER.fullmatch(text) else None


def parse_date(text: str) -> date | None:
    """Return the ISO day that a text states (a midnight time is allowed), or None."""
    match = _DATE.fullmatch(text)
    try:
        return date.fromisoformat(match[1]) if match else None
    except ValueError:
        return None


def day_of(text: str) -> date | None:
    """Return the ISO day of a cell, whose time of day is left out, or None. The day is the one that is written."""
    return parse_date(text[:10]) if len(text) == 10 or _TIME.fullmatch(text, 10) else parse_date(text)


def _double(text: str | None, whole: bool) -> float:
    """Return the number that a text states, as a double; NaN if the double may differ from it."""
    if text is None or not _NUMBER.fullmatch(text) or (whole and not _INTEGER.fullmatch(text)):
        return np.nan
    return float(text)


def number_label(value: Fraction) -> str:
    """Return a number as shown to readers. Negative ones have U+2212: a spreadsheet runs a cell that begins with `-` as
    a formula."""
    return _label(value.numerator, value.denominator)


def _label(numerator: int, denominator: int) -> str:
    if numerator % denominator == 0:
        text = str(numerator // denominator)
    else:
        text = f"{_EXACTLY.normalize(_EXACTLY.divide(Decimal(numerator), Decimal(denominator))):f}"
    return text.replace("-", "\N{MINUS SIGN}")
