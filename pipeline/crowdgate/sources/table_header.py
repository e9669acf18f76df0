"""The header of a table, which is public without its rows: the names of its columns, and the types of their cells."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from crowdgate.contracts.contract import Attribute
from crowdgate.domain import parse_date, parse_number


class CellType(StrEnum):
    """The types of cells that a file states for a column."""

    UNKNOWN = "cells of any type"
    TEXT = "texts"
    WHOLE = "whole numbers"
    NUMBER = "numbers"
    FLAG = "true or false"
    DAY = "days"
    MOMENT = "moments"
    TIME = "times of day"
    NESTED = "lists or structures"


@dataclass(frozen=True)
class HeaderColumn:
    """A column as a file's header names it. `fault` is a reason why it can't be read, in words."""

    name: str
    type: CellType = CellType.UNKNOWN
    fault: str | None = None


@dataclass(frozen=True)
class TableHeader:
    """The columns of a table by its header, such as that of one file, without cells, counts and statistics.

    `name` is the file's or the table's, `source` says what was read, such as `the footer`. `hints` are the columns by
    delimiter, where another delimiter than the contract's gives several columns. `certain` is False if the names could
    be cells of a file that has no header line.
    """

    name: str
    source: str
    columns: tuple[HeaderColumn, ...]
    hints: tuple[tuple[str, tuple[str, ...]], ...] = ()
    certain: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in their order."""
        return tuple(column.name for column in self.columns)


def type_fault(attribute: Attribute, column: HeaderColumn) -> str | None:
    """Return the cells that an attribute's domain expects, if no cell of the column's type can be in it; else None."""
    domain, kind = attribute.domain, column.type
    if domain is None or kind in (CellType.UNKNOWN, CellType.TEXT):
        return None
    if attribute.form.first is not None:  # 02139 as a number is 2139
        return "texts, whose firstCharacters are read"
    if domain.grid is not None:
        return None if kind in (CellType.WHOLE, CellType.NUMBER) else "numbers, as its domain has"
    if domain.first_day is not None:
        return None if kind in (CellType.DAY, CellType.MOMENT) else "days, as its domain has"
    return None if any(_may_state(kind, label) for label in domain.written or domain.labels) else "values of its domain"


def _may_state(kind: CellType, label: str) -> bool:
    """Return whether a cell of this type can have a label as its text."""
    if kind is CellType.FLAG:
        return label in ("true", "false")
    if kind in (CellType.DAY, CellType.MOMENT):
        return parse_date(label[:10]) is not None
    if kind is CellType.TIME:
        return label[:1].isdigit()
    number = parse_number(label)
    return number is not None and (kind is CellType.NUMBER or number.denominator == 1)


def repeated_names(names: tuple[str, ...]) -> Iterator[int]:
    """Yield the place, from 1, of each column that has the name of a column before it."""
    seen: set[str] = set()
    for at, name in enumerate(names, 1):
        if name in seen:
            yield at
        seen.add(name)
