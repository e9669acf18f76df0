"""Values of forecasts as people read them."""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from crowdgate.accounting.numbers import decimal
from crowdgate.kind.forecast import BOUND, LEAST, PEOPLE, PROBABILITY, SHARE, Figure, Listing, Value


def format_value(value: Value, style: str = ".4g") -> str:
    """A value in a few digits; levels as `name: level`; nothing as "none"."""
    if value is None:
        return "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {level}" for name, level in value.items())
    if isinstance(value, str):
        return value
    if style in _STYLES:
        return _STYLES[style](value)
    if isinstance(value, int):
        return str(value)
    if style in (BOUND, LEAST):
        return decimal(value, 4, least=style == LEAST)
    number = float(value) if isinstance(value, Fraction) else value
    return format(int(number), "d") if style == "d" else format(number, style)


def percent(share: float | Fraction) -> str:
    """A share that was stated, as it was."""
    return f"{float(100 * share):.6g} %"


def _people(number: float | Fraction) -> str:
    if isinstance(number, int):
        return f"{number:,}"
    found = float(number)
    if abs(found) >= 100:
        return f"{found:,.0f}" if abs(found) < 1e15 else f"{found:.4g}"
    return f"{found:.3g}" if abs(found) >= 1e-6 or found == 0 else "below 1e-6"


def _share(number: float | Fraction) -> str:
    found = float(number)
    ends = ("below", "above") if found > 0 else ("above", "below")
    if 0 < abs(found) < 5e-5:
        return f"{ends[0]} {'' if found > 0 else '-'}0.01%"
    if 1 - 5e-5 < abs(found) < 1:
        return f"{ends[1]} {'' if found > 0 else '-'}99.99%"
    return f"{found + 0.0:.2%}"


def _probability(number: float | Fraction) -> str:
    found = float(number)
    if 0.9999 < found < 1:
        return "above 0.9999"
    return "below 1e-300" if 0 < found < 1e-300 else f"{found:.4g}"


_STYLES: Mapping[str, Callable[[float | Fraction], str]] = {
    PEOPLE: _people,
    SHARE: _share,
    PROBABILITY: _probability,
}


def range_of(figure: Figure) -> str:
    """The range that a figure is expected in; empty for one that is known."""
    ends = format_value(figure.low, figure.format), format_value(figure.high, figure.format)
    return "" if figure.low == figure.high else " to ".join(ends)


def listing_rows(listing: Listing) -> Iterator[list[str]]:
    """The rows of a listing as text."""
    for row in listing.rows:
        yield [
            column.absent if row[column.key] is None else format_value(row[column.key], column.format)
            for column in listing.columns
        ]


def alignment_rules(listing: Listing) -> list[str]:
    """The rule of each column in a Markdown table: numbers to the right, words to the left."""
    words = (any(isinstance(row[column.key], str | Mapping) for row in listing.rows) for column in listing.columns)
    return ["---" if has_words else "---:" for has_words in words]
