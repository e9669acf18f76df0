"""Renyi divergences, their sums and their conversion to (epsilon, delta)."""

from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.accounting.renyi import AMOUNT_GRID, Divergences, delta_at, greatest_amount, largest, log_conversion
from crowdgate.accounting.zcdp import zcdp_epsilon
from tests.accounting.truth import real

ORDERS = st.integers(2, 1000)
AMOUNTS = st.fractions(0, 5, max_denominator=AMOUNT_GRID)
COSTS = st.builds(lambda one, two, cut: Divergences((one, two), cut), AMOUNTS, AMOUNTS, AMOUNTS)


@given(order=ORDERS, amount=AMOUNTS, epsilon=st.fractions(0, 20))
def test_delta_is_never_below_the_conversion_in_60_digits(order: int, amount: Fraction, epsilon: Fraction) -> None:
    found = delta_at(order, amount, epsilon)
    with mp.workdps(60):
        true = mp.exp((order - 1) * (real(amount) - real(epsilon))) * (1 - mp.mpf(1) / order) ** order / (order - 1)
        assert found >= true
        assert found <= true * (1 + mp.mpf("1e-9")) or found < 1e-300 or found == float("inf")


@given(order=ORDERS, epsilon=st.fractions(0, 20), power=st.integers(-30, -1))
def test_the_greatest_amount_meets_delta_and_one_step_more_does_not(order: int, epsilon: Fraction, power: int) -> None:
    delta = Fraction(10) ** power
    found = greatest_amount(order, epsilon, delta)
    assert not found or delta_at(order, found, epsilon) <= delta
    assert delta_at(order, found + Fraction(40, AMOUNT_GRID), epsilon) > delta


def test_the_conversion_at_its_best_order_is_that_of_zcdp() -> None:
    rho, delta = Fraction(1, 100), 1e-8
    at = min(float(a * rho) + (log_conversion(a) - float(mp.log(delta))) / (a - 1) for a in range(2, 200))
    assert zcdp_epsilon(rho, Fraction(delta)) == pytest.approx(at, rel=1e-4)


@given(one=COSTS, two=COSTS)
def test_costs_add_up_and_a_charge_is_given_back_exactly(one: Divergences, two: Divergences) -> None:
    assert one + two == two + one
    assert one + two - two == one
    assert largest([one, two]) + Divergences.zero(2) == largest([two, one])
    assert one.times(3) == one + one + one


def test_no_more_is_given_back_than_was_spent() -> None:
    one = Divergences((Fraction(1), Fraction(2)), Fraction(0))
    with pytest.raises(ValueError, match="amounts and cut must be at least 0"):
        Divergences.zero(2) - one
    with pytest.raises(ValueError, match="amounts must be at 2 orders, not at 3"):
        one + Divergences.zero(3)


def test_stated_numbers_are_on_their_grids_and_above() -> None:
    cost = Divergences.rounded([0.1, 1 / 3], 1e-13)
    assert all((amount * AMOUNT_GRID).denominator == 1 for amount in cost.amounts)
    assert [float(amount) for amount in cost.amounts] == pytest.approx([0.1, 1 / 3], rel=2e-9)
    assert cost.amounts[1] > Fraction(1 / 3)
    assert Fraction(1e-13) < cost.cut < Fraction(1e-13) * Fraction("1.00000001")
