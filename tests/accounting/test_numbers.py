import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.accounting.numbers import down, exact, exp_up, probability, raised, up, whole

fractions = st.fractions(min_value=0, max_value=10**6)


@given(fractions)
def test_up_and_down_are_the_nearest_floats_on_their_side(number: Fraction) -> None:
    assert Fraction(down(number)) <= number <= Fraction(up(number))
    assert up(number) in (down(number), math.nextafter(down(number), math.inf))


@pytest.mark.parametrize("written", ["1e-9", "0.000000001", "1E-9", ".1e-8", "+1e-9", "10.e-10"])
def test_decimal_text_is_exact(written: str) -> None:
    assert probability("delta", written) == Fraction(1, 10**9)


@pytest.mark.parametrize("value", [5, 5.0, "5", Fraction(5), np.int64(5), np.float64(5), "5.0", "0.5e1"])
def test_a_whole_number_may_have_any_type(value: Any) -> None:
    assert whole("k", value, 1) == 5


WRONG = [True, np.True_, None, [], b"1", 1j, "1_0", "１", "1e10000", "-", "5\n", "∞", float("-inf"), "0.5.5"]


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_what_is_no_number_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"^beta must be a number in \[0, 1\]"):
        probability("beta", wrong)
    with pytest.raises(ValueError, match=r"^k must be a whole number in \[1, "):
        whole("k", wrong, 1)


def test_open_ends_are_shown_and_refused() -> None:
    with pytest.raises(ValueError, match=r"in \(0, 1\), not 0"):
        exact("beta", 0, 0, 1, open_low=True, open_high=True)
    with pytest.raises(ValueError, match=r"in \(0, 1\), not 1"):
        exact("beta", 1, 0, 1, open_low=True, open_high=True)


def test_a_message_stays_short() -> None:
    for wrong in (10**5000, Fraction(10**5000, 3), "9" * 300, "x" * 10**6):
        with pytest.raises(ValueError, match=r"^k must be") as refusal:
            whole("k", wrong, 1)
        assert len(str(refusal.value)) < 200


@pytest.mark.parametrize("length", [0, 57, 58, 59, 200])
def test_what_is_refused_is_quoted_in_at_most_60_characters(length: int) -> None:
    wrong = "x" * length
    with pytest.raises(ValueError, match=r"^k must be") as refusal:
        whole("k", wrong, 1)
    quoted = str(refusal.value).rpartition("not ")[2]
    assert len(quoted) == min(length + 2, 60)
    assert quoted == repr(wrong) or quoted.endswith("x...")


@given(st.floats(0, 1e300))
def test_raised_is_hardly_above(value: float) -> None:
    assert value <= raised(value) <= value * (1 + 1e-14) + 1e-323


@given(st.floats(-800, 709))
def test_a_raised_exponential_is_never_zero(log: float) -> None:
    assert math.exp(log) <= exp_up(log) <= math.exp(log) * (1 + 1e-14) + 1e-322
    assert exp_up(log) > 0
