"""The plain guarantee never states more than the bound behind it."""

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.accounting import pso
from crowdgate.forecast.singling_out_curve import singling_out
from crowdgate.manifest import plain_guarantee
from crowdgate.number_text import exact_text
from crowdgate.planning.budgets import budget_left_text
from crowdgate.policy.policy import GateRule

powers = st.integers(-30, -1).flatmap(
    lambda power: st.integers(1, 99).map(lambda digits: digits * Fraction(10) ** power)
)


def gate(weight: str, measure: str = "pso_bound") -> GateRule:
    return GateRule.model_validate({"measure": measure, "at_most": "1", "with": {"weight": weight}})


@given(people=st.integers(1, 10**9), rows=st.integers(1, 20), epsilon=st.fractions(0, 20), delta=powers, weight=powers)
def test_plain_words_are_rounded_towards_safety(
    people: int, rows: int, epsilon: Fraction, delta: Fraction, weight: Fraction
) -> None:
    weight, delta = min(weight, Fraction(1)), min(delta, Fraction(1))
    bound = Fraction(pso.bound(people * rows, weight, epsilon, delta))
    plainly, _ = plain_guarantee(people, rows, (epsilon, delta), [gate(exact_text(weight))])
    if bound > Fraction(1, 2):
        assert "nothing is promised" in plainly
        return
    numbers = [int(each) for each in re.findall(r"(?<!\^)\b[0-9]+\b", plainly.replace(",", ""))]
    chances = numbers[3 if rows > 1 else 2]
    assert chances * bound <= 1
    assert (chances + 1) * bound > Fraction(9, 10) or chances == 10**15
    fitting = Fraction(10) ** int(found[1]) if (found := re.search(r"10\^([0-9]+)", plainly)) else Fraction(numbers[-1])
    assert fitting * weight >= 1
    assert fitting * weight < Fraction(11) + weight


def test_the_words_of_one_release_of_the_bundled_budget() -> None:
    plainly, numbers = plain_guarantee(300_000, 1, (Fraction(1), Fraction(1, 10**9)), [gate("1e-9")])
    assert plainly == (
        "Of at most 300,000 people, there is at most 1 chance in 890 that anyone can be pointed at by means of this "
        "release and all earlier ones of the same people: described so that exactly one of them fits, in words that "
        "fit at most 1 person in 1,000,000,000."
    )
    assert "n = 300,000 rows" in numbers
    assert "w = 1e-9" in numbers
    assert "epsilon 1 and delta 1e-9" in numbers


def test_the_weight_is_that_of_the_gate_by_which_least_is_promised() -> None:
    both = [gate("1e-9"), gate("2e-9")]
    assert plain_guarantee(1000, 1, (Fraction(1), Fraction(0)), both) == plain_guarantee(
        1000, 1, (Fraction(1), Fraction(0)), both[1:]
    )


def test_the_weight_of_a_gate_on_another_bound_changes_neither_words_nor_curve() -> None:
    own, spent = gate("1e-9"), (Fraction(1), Fraction(0))
    both = [own, gate("1e-3", "pso_bound_in_sample")]
    assert plain_guarantee(1000, 1, spent, both) == plain_guarantee(1000, 1, spent, [own])
    assert singling_out(1000, {"all": spent}, both) == singling_out(1000, {"all": spent}, [own])


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
