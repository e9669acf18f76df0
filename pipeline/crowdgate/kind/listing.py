"""Listings as values: rows under titles, for people and for programs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from crowdgate.number_text import Value, format_value

Column = str | tuple[str, str] | tuple[str, str, str]


@dataclass(frozen=True)
class ListingColumn:
    """A column of a listing: its key in JSON, its title, the style of its numbers (see `format_value`), and the text
    for a missing value."""

    key: str
    title: str
    format: str = ".4g"
    absent: str = "none"


@dataclass(frozen=True)
class Listing:
    """Rows for people and for programs. A `single` listing has at most one row, which is an object in JSON. A `further`
    listing is for pages and programs, not for a terminal."""

    name: str
    title: str
    columns: tuple[ListingColumn, ...]
    rows: tuple[Mapping[str, Value], ...]
    note: str = ""
    single: bool = False
    further: bool = False

    @property
    def titles(self) -> list[str]:
        """The titles of the columns."""
        return [column.title for column in self.columns]

    @property
    def words(self) -> list[bool]:
        """For each column, True if it holds words, which are aligned to the left."""
        return [any(isinstance(row[column.key], str | Mapping) for row in self.rows) for column in self.columns]

    @property
    def sides(self) -> list[str]:
        """The alignment rule of each column in a Markdown table: numbers to the right, words to the left."""
        return ["---" if words else "---:" for words in self.words]

    @property
    def texts(self) -> Iterator[list[str]]:
        """The rows as text."""
        for row in self.rows:
            yield [
                column.absent if row[column.key] is None else format_value(row[column.key], column.format)
                for column in self.columns
            ]

    def to_json(self) -> Any:
        """Return the rows as JSON values."""
        rows = [{key: json_value(value) for key, value in row.items()} for row in self.rows]
        return next(iter(rows), None) if self.single else rows


def text_listing(title: str, columns: Sequence[Column], rows: Iterable[Iterable[Value]], note: str = "") -> Listing:
    """Return a listing for people alone. A column is its title, or title, style and optionally the text for a missing
    value, which is otherwise empty."""
    parts = ((each,) if isinstance(each, str) else each for each in columns)
    named = tuple(_text_column(str(at), *each) for at, each in enumerate(parts))
    return Listing(title, title, named, tuple({str(at): each for at, each in enumerate(row)} for row in rows), note)


def _text_column(key: str, title: str, style: str = ".4g", absent: str = "") -> ListingColumn:
    return ListingColumn(key, title, style, absent)


def json_value(value: Value) -> Any:
    """Return a value as a JSON value."""
    if isinstance(value, Fraction):
        return float(value)
    return dict(value) if isinstance(value, Mapping) else value
