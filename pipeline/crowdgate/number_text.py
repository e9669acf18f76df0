"""Numbers as text: their style, the direction of rounding, and the decimal mark.

Text for people has the mark of `decimal_mark`. `exact_text` and `rounded_text` are for programs: file formats depend on
them.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from enum import StrEnum
from fractions import Fraction

Value = str | int | float | Fraction | Mapping[str, str] | None
BOUND = "bound"
"""The style of an upper bound: four digits, rounded up."""
LEAST = "least"
"""The style of a lower bound: four digits, rounded down."""
FIGURE_UP, FIGURE_DOWN = "figure up", "figure down"
"""The styles of a rule's figure: whole numbers in full, others in four digits, rounded up or down as `bound_number`
rounds them."""
PEOPLE = "people"
"""The style of a number of people or classes, possibly an expected one: thousands separated, whole from a hundred
on."""
SHARE = "share"
"""The style of a share in percent: never rounded to 0 or 100 %."""
PROBABILITY = "probability"
"""The style of a probability: never rounded to 0 or 1."""
CHANCE = "chance"
"""The style of an estimated probability: two decimals, never rounded to 0 or 1."""
COUNT = "count"
"""The style of counts and means of counts: thousands separated, at most one decimal."""
HUNDREDTHS = "hundredths"
"""The style of noisy counts: two decimals at most."""
COUNTED_SHARE = "counted share"
"""The style of a share of people who were counted: only 0 and 1 are shown as such, others as at least 0.01% and at most
99.99%."""
PLACE = "place"
"""The style of a number in a picture: whole ones in full, others in four digits."""
AMOUNT = "amount"
"""The style of a number in a picture: six digits."""
_MARK: ContextVar[str] = ContextVar("decimal mark", default=".")
_THIN_SPACE = "\u202f"


class Rounding(StrEnum):
    """The direction in which a number is rounded: `UP` for an upper bound, `DOWN` for a lower bound, or `NEAREST`."""

    NEAREST = ROUND_HALF_EVEN
    UP = ROUND_CEILING
    DOWN = ROUND_FLOOR


@contextmanager
def decimal_mark(mark: str) -> Iterator[None]:
    """Set the decimal mark of numbers for people inside the block; with a comma, thin spaces separate thousands."""
    before = _MARK.set(mark)
    try:
        yield
    finally:
        _MARK.reset(before)


def current_mark() -> str:
    """Return the decimal mark in force for text for people."""
    return _MARK.get()


def _marked(text: str) -> str:
    mark = _MARK.get()
    return text if mark == "." else text.translate({ord(","): _THIN_SPACE, ord("."): mark})


def format_value(value: Value, style: str = ".4g") -> str:
    """Return a value as text for people, in a style of this module or a format of Python's; a mapping to levels as
    `name: level`; None as "none"."""
    if value is None:
        return "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {level}" for name, level in value.items())
    if isinstance(value, str):
        return value
    if style in _STYLES:
        return _marked(_STYLES[style](value))
    if isinstance(value, int):
        return str(value)
    return _marked(format(int(value), "d") if style == "d" else format(float(value), style))


def decimal(number: Fraction | float, digits: int = 6, rounding: Rounding = Rounding.UP) -> str:
    """Return a bound as text for people, rounded in a direction to at most `digits` significant digits; `infinite` and
    `undefined` for values that are not finite."""
    return _marked(_decimal(number, digits, rounding))


def stated_number(number: Fraction) -> str:
    """Return a number that a policy states, as text for people: whole numbers in full, others exactly."""
    text = str(number) if _in_full(number) else _decimal(number, 15, Rounding.UP)
    return _marked(text if Fraction(text) == number else exact_text(number))


def shortened(number: Fraction, digits: int = 6, rounding: Rounding = Rounding.DOWN) -> Fraction:
    """Return a number rounded in a direction to so many significant digits, which a policy can state."""
    context = Context(prec=digits, rounding=rounding)
    return Fraction(context.divide(Decimal(number.numerator), Decimal(number.denominator)))


def bound_number(number: Fraction, rounding: Rounding = Rounding.UP) -> str:
    """Return a bound as text for people: whole numbers in full, others rounded in a direction to four significant
    digits."""
    return _marked(str(number)) if _in_full(number) else decimal(number, 4, rounding)


def nearest_number(number: Fraction) -> str:
    """Return a number that is no bound, as text for people: whole numbers in full, others in four significant
    digits."""
    return _marked(str(number) if _in_full(number) else f"{float(number):.4g}")


def rounded(number: float | Fraction, digits: int = 4) -> str:
    """Return a measured number as text for people, rounded to the nearest in `digits` significant digits."""
    return _marked(f"{float(number):.{digits}g}")


def whole(number: int) -> str:
    """Return a whole number in full, as text for people with thousands separated."""
    return _marked(f"{number:,}")


def percent(share: float | Fraction) -> str:
    """Return a share that a policy states, in percent with up to six significant digits."""
    return _marked(f"{float(100 * share):.6g} %")


def exact_text(number: Fraction) -> str:
    """Return a fraction as text that Fraction() reads back exactly: `0.95`, `1e-09`, `1/3`. One number has one text."""
    for text in (f"{float(number):.12g}", str(number)):
        if Fraction(text) == number:
            return text
    return str(number)


def rounded_text(number: float, digits: int, rounding: Rounding) -> str:
    """Return a number as text for files, rounded in a direction to at most `digits` significant digits; `infinite` and
    `undefined` for values that are not finite."""
    if not math.isfinite(number):
        return "undefined" if number != number else "infinite" if number > 0 else "-infinite"
    value = Context(prec=digits, rounding=rounding).create_decimal(Decimal(number)).normalize()
    value = value if value else abs(value)  # no -0
    plain = number == 0 or 1e-5 <= abs(number) < 10**digits
    return f"{value:f}" if plain else f"{value:e}"


def _decimal(number: Fraction | float, digits: int, rounding: Rounding) -> str:
    if not math.isfinite(number):
        return rounded_text(float(number), digits, rounding)
    exact = Fraction(number)
    divided = Context(prec=digits, rounding=rounding).divide(Decimal(exact.numerator), Decimal(exact.denominator))
    text = divided.normalize(Context(prec=digits))
    plain = not number or Fraction(1, 10**4) <= abs(exact) < 10**digits
    return f"{text:f}" if plain else f"{text:e}"


def _in_full(number: Fraction) -> bool:
    return number.denominator == 1 and abs(number) < 10**15


def _figure(number: float | Fraction, rounding: Rounding) -> str:
    """Return a figure in nine written digits, which a float holds exactly enough, rounded to four in a direction."""
    exact = Fraction(f"{float(number):.12g}") if math.isfinite(number) else None
    if exact is None:
        return rounded_text(float(number), 4, rounding)
    return str(exact) if _in_full(exact) else _decimal(exact, 4, rounding)


def _people(number: float | Fraction) -> str:
    if isinstance(number, int):
        return f"{number:,}"
    found = float(number)
    if abs(found) >= 100:
        return f"{found:,.0f}" if abs(found) < 1e15 else f"{found:.4g}"
    return f"{found:.3g}" if abs(found) >= 1e-6 or found == 0 else "below 1e-6"


def _share(number: float | Fraction, least: float = 5e-5) -> str:
    found = float(number)
    ends = ("below", "above") if found > 0 else ("above", "below")
    if 0 < abs(found) < least:
        return f"{ends[0]} {'' if found > 0 else '-'}0.01%"
    if 1 - least < abs(found) < 1:
        return f"{ends[1]} {'' if found > 0 else '-'}99.99%"
    return f"{found + 0.0:.2%}"


def _probability(number: float | Fraction) -> str:
    found = float(number)
    if 0.9999 < found < 1:
        return "above 0.9999"
    return "below 1e-300" if 0 < found < 1e-300 else f"{found:.4g}"


def _chance(number: float | Fraction) -> str:
    found = float(number)
    if found in (0, 1):
        return f"{found:.0f}"
    return "below 0.01" if found < 0.005 else "above 0.99" if found > 0.995 else f"{found:.2f}"


def _place(number: float | Fraction) -> str:
    found = float(number)
    return f"{int(found):,}" if found.is_integer() and abs(found) < 1e15 else _short_exponent(f"{found:.4g}")


def _short_exponent(text: str) -> str:
    return re.sub(r"e([+-])0+", r"e\1", text)


_STYLES: Mapping[str, Callable[[float | Fraction], str]] = {
    BOUND: lambda number: str(number) if isinstance(number, int) else _decimal(number, 4, Rounding.UP),
    LEAST: lambda number: str(number) if isinstance(number, int) else _decimal(number, 4, Rounding.DOWN),
    FIGURE_UP: lambda number: _figure(number, Rounding.UP),
    FIGURE_DOWN: lambda number: _figure(number, Rounding.DOWN),
    PEOPLE: _people,
    SHARE: _share,
    PROBABILITY: _probability,
    CHANCE: _chance,
    COUNT: lambda number: f"{float(number):,.1f}".removesuffix(".0"),
    HUNDREDTHS: lambda number: f"{float(number):.2f}".rstrip("0").rstrip("."),
    COUNTED_SHARE: lambda number: _share(number, 1e-4),
    PLACE: _place,
    AMOUNT: lambda number: _short_exponent(f"{float(number):.6g}"),
}
