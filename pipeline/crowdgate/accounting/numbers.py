"""Numbers as people state them, and their conversion to floats in a stated direction.

A parameter of a guarantee is an exact number. Before floating-point operations, it is rounded to the side on which the
guarantee stays true: epsilon and a target delta down, beta and a spent delta up.
"""

import math
import numbers
import re
from fractions import Fraction

Number = int | float | Fraction | str

_DECIMAL = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]{1,4})?", re.ASCII)
_LONGEST = 400
_LEAST_POSITIVE = math.nextafter(0.0, 1.0)
GREATEST_EPSILON = 10**6
GREATEST_COUNT = 10**15


def exact(
    name: str, value: Number, low: Number, high: Number, *, open_low: bool = False, open_high: bool = False
) -> Fraction:
    """Return `value` as a Fraction between `low` and `high`.

    Raises ValueError, naming the argument and the range, for anything else: nan, infinities, booleans, text that is not
    one decimal number.
    """
    number = _fraction(value)
    bottom, top = Fraction(low), Fraction(high)
    inside = number is not None and bottom <= number <= top
    if number is None or not inside or (open_low and number == bottom) or (open_high and number == top):
        range_ = f"{'(' if open_low else '['}{low}, {high}{')' if open_high else ']'}"
        raise ValueError(f"{name} must be a number in {range_}, not {_value_text(value)}")
    return number


def whole(name: str, value: Number, low: int, high: int = GREATEST_COUNT) -> int:
    """Return `value` as an int between `low` and `high`. Raises ValueError naming the argument and the range."""
    number = _fraction(value)
    if number is None or number.denominator != 1 or not low <= number <= high:
        raise ValueError(f"{name} must be a whole number in [{low}, {high}], not {_value_text(value)}")
    return int(number)


def epsilon_of(value: Number, name: str = "epsilon") -> Fraction:
    """Return `value` as an exact epsilon, a Fraction from 0 to 1,000,000 nats. Raises ValueError for anything else."""
    return exact(name, value, 0, GREATEST_EPSILON)


def probability(name: str, value: Number, *, open_low: bool = False, open_high: bool = False) -> Fraction:
    """Return `value` as an exact probability, a Fraction from 0 to 1, without 0 if `open_low` and without 1 if
    `open_high`. Raises ValueError for anything else."""
    return exact(name, value, 0, 1, open_low=open_low, open_high=open_high)


def up(number: Fraction) -> float:
    """Return the least float that is not below `number`."""
    near = float(number)
    return near if Fraction(near) >= number else math.nextafter(near, math.inf)


def down(number: Fraction) -> float:
    """Return the greatest float that is not above `number`."""
    near = float(number)
    return near if Fraction(near) <= number else math.nextafter(near, -math.inf)


def raised(value: float, slack: float = 2e-15) -> float:
    """Return `value` >= 0, increased by the relative `slack`: covers the rounding of the few operations that computed
    it."""
    return math.nextafter(value * (1 + slack), math.inf) if value > 0 else value


def exp_up(log: float) -> float:
    """Return e^log, rounded up: 0 only for minus infinity, infinite only above 709."""
    if log > 709:
        return math.inf
    return max(raised(math.exp(log)), _LEAST_POSITIVE) if log > -math.inf else 0.0


def log_rest(number: Fraction) -> float:
    """Return ln(1 - number) for 0 <= number < 1, accurate to the last two bits, also if the number is nearly 1."""
    return math.log1p(-float(number)) if 2 * number < 1 else math.log(max(float(1 - number), _LEAST_POSITIVE))


def _fraction(value: object) -> Fraction | None:
    if isinstance(value, str):
        return Fraction(value) if len(value) <= _LONGEST and _DECIMAL.fullmatch(value) else None
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    return Fraction(float(value)) if math.isfinite(value) else None


def _value_text(value: object) -> str:
    if isinstance(value, numbers.Rational) and max(abs(int(value.numerator)), int(value.denominator)) > 10**50:
        return "a number of more than fifty digits"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
