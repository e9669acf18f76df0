"""Numbers as text: exact ones round-trip, bounds are rounded to their side, and one decimal mark applies to a block."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.number_text import (
    COUNT,
    COUNTED_SHARE,
    PEOPLE,
    PLACE,
    Rounding,
    decimal,
    decimal_mark,
    exact_text,
    format_value,
    rounded_text,
    stated_number,
)

any_fraction = st.one_of(
    st.fractions(),
    st.decimals(-(10**6), 10**6, places=9).map(Fraction),
    st.floats(allow_nan=False, allow_infinity=False).map(Fraction),
)


@given(any_fraction)
def test_an_exact_text_is_read_back_exactly(number: Fraction) -> None:
    assert Fraction(exact_text(number)) == number


@pytest.mark.parametrize(
    ("number", "text"),
    [("0.5", "0.5"), ("1/3", "1/3"), ("1e-9", "1e-09"), ("2", "2"), ("-3/4", "-0.75"), ("0", "0"), ("1e12", "1e+12")],
)
def test_an_exact_number_is_written_as_people_do(number: str, text: str) -> None:
    assert exact_text(Fraction(number)) == text


@given(number=st.floats(allow_nan=False, allow_infinity=False), digits=st.integers(1, 17))
def test_a_rounded_text_has_so_many_digits_and_lies_on_its_side(number: float, digits: int) -> None:
    low, near, high = (rounded_text(number, digits, side) for side in (Rounding.DOWN, Rounding.NEAREST, Rounding.UP))
    assert Fraction(low) <= Fraction(number) <= Fraction(high)
    assert near in (low, high)
    assert all(len(Decimal(text).normalize().as_tuple().digits) <= digits for text in (low, near, high))
    assert Fraction(high) - Fraction(low) <= abs(Fraction(number)) / Fraction(10) ** (digits - 1)
    assert digits < 17 or float(near) == number


@pytest.mark.parametrize(
    ("number", "text"),
    [(math.nan, "undefined"), (math.inf, "infinite"), (-math.inf, "-infinite"), (0.0, "0"),
     (999.4, "999"), (2 / 3, "0.667"), (1e-9, "1e-9"), (1234.0, "1.23e+3")],
)  # fmt: skip
def test_a_rounded_number_is_written_one_way(number: float, text: str) -> None:
    assert rounded_text(number, 3, Rounding.NEAREST) == text


@given(st.fractions(0, 10**6), st.integers(1, 15))
def test_a_bound_is_on_its_side_and_near(number: Fraction, digits: int) -> None:
    down, up = (Fraction(decimal(number, digits, side)) for side in (Rounding.DOWN, Rounding.UP))
    assert down <= number <= up
    assert up - down <= number / Fraction(10) ** (digits - 1)


@pytest.mark.parametrize(
    ("value", "style", "text"),
    [(0.00007, COUNTED_SHARE, "below 0.01%"), (0.99995, COUNTED_SHARE, "above 99.99%"), (0.5, COUNTED_SHARE, "50.00%"),
     (1234.56, COUNT, "1,234.6"), (12.0, COUNT, "12"), (1234.0, PLACE, "1,234"), (1e-7, PLACE, "1e-7")],
)  # fmt: skip
def test_each_style_writes_one_way(value: float, style: str, text: str) -> None:
    assert format_value(value, style) == text


def test_a_comma_rules_what_people_read_and_nothing_else() -> None:
    with decimal_mark(","):
        assert format_value(12345.67, ".6g") == "12345,7"
        assert format_value(1234567, PEOPLE) == "1\u202f234\u202f567"
        assert (decimal(0.25), stated_number(Fraction(1, 8))) == ("0,25", "0,125")
        assert (exact_text(Fraction(1, 8)), format_value("a 1.5, b")) == ("0.125", "a 1.5, b")
    assert format_value(0.5) == "0.5"
