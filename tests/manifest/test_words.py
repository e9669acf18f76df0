"""The plain guarantee never states more than the bound behind it."""

import math
import re
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.accounting import pso, pso_baselines
from crowdgate.accounting.pso_curve import stated_bounds
from crowdgate.forecast.singling_out_curve import singling_out
from crowdgate.manifest import guarantee_summary, plain_guarantee
from crowdgate.planning.budgets import budget_left_text
from crowdgate.policy.policy import GateRule

powers = st.integers(-30, -1).flatmap(
    lambda power: st.integers(1, 99).map(lambda digits: digits * Fraction(10) ** power)
)


def numbers(sentence: str) -> list[Fraction]:
    return [Fraction(each) for each in re.findall(r"[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?", sentence.replace(",", ""))]


@given(people=st.integers(1, 10**9), rows=st.integers(1, 20), epsilon=st.fractions(0, 20), delta=powers)
def test_sentences_are_rounded_towards_safety(people: int, rows: int, epsilon: Fraction, delta: Fraction) -> None:
    delta = min(delta, Fraction(1))
    found = plain_guarantee(people, rows, (epsilon, delta))
    for divisor, sentence in zip((10, 100, 1000), found[3:6], strict=True):
        weight = Fraction(1, divisor * people * rows)
        bound = Fraction(pso.bound(people * rows, weight, epsilon, delta))
        one, fitting, *stated = numbers(sentence)
        assert one == 1
        assert fitting == 1 / weight
        if bound >= 1:
            assert "no bound below 1" in sentence
            continue
        blind = Fraction(pso_baselines.baseline_up_to(people * rows, weight))
        two_digits = Fraction(11, 10) * (1 + Fraction(1, 10**8))  # 1.0 rounded up to the next number of two digits
        for number, true in zip(stated, (bound, bound / blind, blind), strict=True):
            assert true * (1 - Fraction(1, 10**8)) <= number <= true * two_digits


@given(epsilon=st.fractions(0, 20), delta=powers)
def test_the_cost_and_its_factor_are_no_smaller_than_the_true_ones(epsilon: Fraction, delta: Fraction) -> None:
    delta = min(delta, Fraction(1))
    cost, meaning, *_ = plain_guarantee(1000, 1, (epsilon, delta))
    times = Fraction(math.exp(epsilon))
    stated = [*numbers(cost), *numbers(meaning)]
    room = (Fraction(1, 10**5), Fraction(1, 10**5), Fraction(1, 100), Fraction(1, 10**5))  # by the digits of each
    for number, true, above in zip(stated, (epsilon, delta, times, delta), room, strict=True):
        assert true * (1 - Fraction(1, 10**12)) <= number <= true * (1 + above)


@given(costs=st.lists(st.fractions(0, 5, max_denominator=1000), min_size=2, max_size=12, unique=True))
def test_policies_are_ordered_as_their_costs(costs: list[Fraction]) -> None:
    def bounds(epsilon: Fraction) -> list[float]:
        return [each.bound for each in stated_bounds(1000, ((epsilon, Fraction(1, 10**9)),))]

    for smaller, larger in pairwise(sorted(costs)):
        assert len(bounds(smaller)) == 3
        assert all(a < b or a == b == 1 for a, b in zip(bounds(smaller), bounds(larger), strict=True))


def test_the_words_of_one_release_of_the_bundled_budget() -> None:
    assert plain_guarantee(300_000, 1, (Fraction(1), Fraction(1, 10**9))) == (
        "Privacy cost of this release and all earlier ones of these people: epsilon 1, delta 1e-9.",
        "One person's data make any result at most 2.72 times as probable as it is without them, apart from a "
        "probability of 1e-9.",
        "Predicate singling out: an attacker describes exactly one of at most 300,000 people.",
        "With predicates that fit at most 1 person in 3,000,000, the probability is at most 0.28, 3.1 times the 0.091 "
        "without any release.",
        "With predicates that fit at most 1 person in 30,000,000, the probability is at most 0.028, 2.8 times the 0.01 "
        "without any release.",
        "With predicates that fit at most 1 person in 300,000,000, the probability is at most 0.0031, 3.1 times the "
        "0.001 without any release.",
        "The bound is n (e^epsilon w + delta), with n = 300,000 rows, w the probability that a predicate fits a row "
        "drawn at random, epsilon 1 and delta 1e-9 (Cohen, Nissim 2020).",
        "It holds if people are independent of each other, if nobody can predict the secret random bits and the noise, "
        "and if the contract is true.",
    )


def test_a_first_release_is_called_so_and_the_summary_has_all_three_weights() -> None:
    cost = (Fraction(1), Fraction(1, 10**9))
    assert guarantee_summary(300_000, 1, cost, first=True) == (
        "Privacy cost of this release, as the first of these people: epsilon 1, delta 1e-9. An attacker describes "
        "exactly one of at most 300,000 people with probability at most 0.28, 0.028 and 0.0031, beside 0.091, "
        "0.01 and 0.001 without any release (3.1, 2.8 and 3.1 times). (Predicates that fit 1 person in "
        "3,000,000, 30,000,000 and 300,000,000.)"
    )


def test_the_weight_of_a_gate_on_another_bound_does_not_change_the_curve() -> None:
    own, spent = gate("1e-9"), (Fraction(1), Fraction(0))
    both = [own, gate("1e-3", "pso_bound_in_sample")]
    assert singling_out(1000, {"all": [spent]}, both) == singling_out(1000, {"all": [spent]}, [own])


def gate(weight: str, measure: str = "pso_bound") -> GateRule:
    return GateRule.model_validate({"measure": measure, "at_most": "1", "with": {"weight": weight}})


@pytest.mark.parametrize(
    ("epsilon", "delta", "left"),
    [(("4", "1"), ("1e-8", "1e-8"), 25), (("3", "1"), ("0", "0"), 33), (("3", "2"), ("1e-8", "0"), 0)],
)
def test_what_is_left_of_a_budget_is_rounded_down(epsilon: tuple[str, str], delta: tuple[str, str], left: int) -> None:
    entry = {
        "population": "p",
        "registered": {"epsilon": epsilon[0], "delta": delta[0]},
        "left": {"epsilon": epsilon[1], "delta": delta[1]},
    }
    assert budget_left_text(entry).startswith(f"p has {left} % of its lifetime budget left: epsilon {epsilon[1]} of")
