"""Values of forecasts as people read them."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from crowdgate.accounting.numbers import decimal
from crowdgate.kind.forecast import BOUND, LEAST, PEOPLE, Figure, Listing, Value


def shown(value: Value, style: str = ".4g") -> str:
    """A value in a few digits; levels as `name: level`; nothing as "none"."""
    if value is None:
        return "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {level}" for name, level in value.items())
    if isinstance(value, str | int):
        return str(value)
    if style in (BOUND, LEAST):
        return decimal(value, 4, least=style == LEAST)
    if style == PEOPLE:
        return _people(float(value))
    number = float(value) if isinstance(value, Fraction) else value
    return format(int(number), "d") if style == "d" else format(number, style)


def _people(number: float) -> str:
    if abs(number) >= 100:
        return f"{number:,.0f}"
    return f"{number:.3g}" if abs(number) >= 1e-6 or number == 0 else "below 1e-6"


def range_of(figure: Figure) -> str:
    """The range that a figure is expected in; empty for one that is known."""
    ends = shown(figure.low, figure.format), shown(figure.high, figure.format)
    return "" if figure.low == figure.high else " to ".join(ends)


def listed(listing: Listing) -> Iterator[list[str]]:
    """The rows of a listing as text."""
    for row in listing.rows:
        yield [
            column.absent if row[column.key] is None else shown(row[column.key], column.format)
            for column in listing.columns
        ]


def sides(listing: Listing) -> list[str]:
    """The rule of each column in a Markdown table: numbers to the right, words to the left."""
    words = (any(isinstance(row[column.key], str | Mapping) for row in listing.rows) for column in listing.columns)
    return ["---" if has_words else "---:" for has_words in words]
