"""Lower confidence limits of epsilon from canaries: values of the paper's bound, validity, and how much they reach."""

from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import comb, exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from crowdgate.accounting.canaries import canary_p, epsilon_limit
from tests.examples import examples

ALPHA = Fraction(1, 20)
DIGITS = Context(prec=40, rounding=ROUND_FLOOR)
DELTAS = st.sampled_from([0.0, 1e-9, 1e-4, 1e-2, 0.3])


def bound_of_the_paper(right: int, guesses: int, canaries: int, odds: Fraction, delta: Fraction) -> Fraction:
    """Return the bound of Theorem 5.2, exactly, at e^epsilon = `odds`."""
    q = odds / (1 + odds)
    mass: list[Fraction] = [comb(guesses, v) * q**v * (1 - q) ** (guesses - v) for v in range(guesses + 1)]
    worst = max((sum(mass[right - i : right], Fraction(0)) / i for i in range(1, right + 1)), default=Fraction(0))
    return min(Fraction(1), sum(mass[right:], Fraction(0)) + 2 * canaries * delta * worst)


@settings(max_examples=examples(200))
@given(st.integers(1, 40), st.floats(0, 1), st.integers(0, 40), st.floats(0, 9), DELTAS)
def test_the_p_value_is_never_below_the_exact_bound(
    guesses: int, share: float, others: int, epsilon: float, delta: float
) -> None:
    right = round(share * guesses)
    odds = Fraction(DIGITS.exp(Decimal(epsilon)))
    exact = bound_of_the_paper(right, guesses, guesses + others, odds, Fraction(delta))
    found = Fraction(canary_p(right, guesses, guesses + others, epsilon, delta))
    assert exact <= found <= min(Fraction(1), exact * (1 + Fraction(1, 10**9)) + Fraction(1, 10**280))


@settings(max_examples=examples(100))
@given(st.integers(1, 12), st.integers(0, 20), DELTAS, st.data())
def test_what_refutes_an_epsilon_refutes_every_smaller_one(
    guesses: int, others: int, delta: float, data: st.DataObject
) -> None:
    """So a bisection finds the greatest epsilon that is refuted, and its limit is valid."""
    right = data.draw(st.integers(1, guesses))
    found = [canary_p(right, guesses, guesses + others, at / 20, delta) for at in range(100)]
    refuted = [each <= 0.3 for each in found]
    assert refuted == sorted(refuted, reverse=True)


@pytest.mark.parametrize(("right", "epsilon"), [(502_000, 0.0), (591_800, 0.37), (926_300, 2.53)])
def test_a_million_guesses_have_the_tail_of_the_binomial(right: int, epsilon: float) -> None:
    tail = special.betainc(right, 10**6 - right + 1, 1 / (1 + exp(-epsilon)))
    assert canary_p(right, 10**6, 10**6, epsilon, 0) == pytest.approx(tail, rel=1e-7)


def test_the_limit_has_the_values_of_a_hand_computation() -> None:
    """75 right guesses of 75: q^75 = .05, so that epsilon is log(q / (1 - q))."""
    q = 0.05 ** (1 / 75)
    assert epsilon_limit(75, 75, 500, 0, ALPHA) == pytest.approx(log(q / (1 - q)), abs=2e-4)
    assert epsilon_limit(75, 75, 500, Fraction(1, 10_000), ALPHA) == pytest.approx(3.06, abs=5e-3)
    assert epsilon_limit(40, 75, 500, 0, ALPHA) == 0
    assert epsilon_limit(0, 0, 500, 0, ALPHA) == 0


@pytest.mark.parametrize(("right", "guesses", "canaries", "delta"), [(9, 12, 20, 1e-3), (5, 5, 30, 1e-2), (7, 9, 9, 0)])
def test_the_p_value_is_the_bound_of_the_paper(right: int, guesses: int, canaries: int, delta: float) -> None:
    q = 1 / (1 + exp(-0.7))
    mass = [comb(guesses, v) * q**v * (1 - q) ** (guesses - v) for v in range(guesses + 1)]
    worst = max(sum(mass[max(0, right - i) : right]) / i for i in range(1, canaries + 1))
    expected = sum(mass[right:]) + 2 * canaries * delta * worst
    assert canary_p(right, guesses, canaries, 0.7, delta) == pytest.approx(min(1, expected), rel=1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_the_limit_is_valid_for_randomized_response(epsilon: float) -> None:
    """Randomized response has exactly this epsilon. 200 runs of 500 canaries at level .05: more than 25 limits above
    it have probability below 1e-5."""
    rng = np.random.default_rng(11)
    right = rng.binomial(500, 1 / (1 + exp(-epsilon)), 200)
    limits = {int(each): epsilon_limit(int(each), 500, 500, 0, ALPHA) for each in {*right}}
    found = [limits[int(each)] for each in right]
    assert sum(each > epsilon for each in found) <= 25
    assert np.median(found) >= 0.5 * epsilon


@pytest.mark.parametrize("epsilon", [0.5, pytest.param(1.0, marks=pytest.mark.soak), 3.0])
def test_the_limit_is_valid_where_delta_is_lost_at_once(epsilon: float) -> None:
    """With probability delta for each canary all is revealed; 200 runs, as above, with guesses of the canaries that are
    known first."""
    rng, delta = np.random.default_rng(13), 2e-3
    known = rng.binomial(500, delta, 200)
    right = known + rng.binomial(100 - known, 1 / (1 + exp(-epsilon)))
    wrong = {int(each): epsilon_limit(int(each), 100, 500, delta, ALPHA) > epsilon for each in {*right}}
    assert sum(wrong[int(each)] for each in right) <= 25


def test_one_release_of_500_canaries_published_as_they_are_shows_a_large_epsilon() -> None:
    """All guesses are right: the limit is that of 500 of 500, which is 5.1; half of any true epsilon up to 10."""
    assert epsilon_limit(500, 500, 500, 0, ALPHA) >= 5.1
