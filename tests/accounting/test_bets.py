"""Coverage of limits from bets, for any distribution: by enumeration of all outcomes of small distributions."""

import math
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from functools import partial
from itertools import combinations_with_replacement, product
from math import factorial, prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.accounting import bets
from crowdgate.accounting.bets import (
    BETS,
    EVEN,
    PairedGuesses,
    SeparateGuesses,
    capital_split,
    difference_limits,
    improvement_limits,
    improvement_p,
    mean_limits,
    mean_p,
    people_improvement_limits,
    ratio_limits,
)

LAWS = [(0.5, 0.0, 0.5), (0.9, 0.05, 0.05), (0.05, 0.05, 0.9), (0.02, 0.0, 0.98), (0.98, 0.0, 0.02), (0.3, 0.4, 0.3)]
VALUES = (0.0, 0.5, 1.0)
N = 5
ALPHA = 0.25
SPLITS = (EVEN, Fraction(3, 4))
"""Shares of the capital on the largest bet."""


Limits = Callable[[Any], tuple[float, float]]


def missed(law: tuple[float, ...], limits: Limits, truth: float, outcomes: Sequence[Any]) -> tuple[float, float]:
    """Return the probabilities that the truth is below the lower limit, and that it is above the upper one, for N
    outcomes: once for those that differ only in their order, on which no limit depends (as tests below show)."""
    low = high = 0.0
    for outcome in combinations_with_replacement(range(len(law)), N):
        orders = factorial(N) // prod(factorial(outcome.count(at)) for at in set(outcome))
        chance = orders * prod(law[at] for at in outcome)
        if chance:
            lower, upper = limits([outcomes[at] for at in outcome])
            low, high = low + chance * (lower > truth), high + chance * (upper < truth)
    return low, high


@pytest.mark.thorough
@pytest.mark.parametrize("law", LAWS)
def test_a_mean_lies_outside_as_seldom_as_stated(law: tuple[float, ...]) -> None:
    """For all 3^5 outcomes of five numbers."""
    assert max(missed(law, mean_of, expected(law), VALUES)) <= ALPHA


def mean_of(values: Any) -> tuple[float, float]:
    return mean_limits(values, ALPHA)


def expected(law: tuple[float, ...]) -> float:
    return sum(p * x for p, x in zip(law, VALUES, strict=True))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("least", [-0.05, -1.0, -30.0])
def test_a_mean_that_is_not_above_0_is_seldom_taken_for_one(law: tuple[float, ...], least: float) -> None:
    """For all 3^5 outcomes of five numbers, the least of which is `least` and whose mean is 0."""
    high = 1.0 - (law[0] * least + law[1] * 0.5 * least + law[2]) / max(law[2], 1e-9)
    values = (least, 0.5 * least, high)
    assert sum(p * x for p, x in zip(law, values, strict=True)) == pytest.approx(0)
    for alpha in (0.05, ALPHA):
        outcomes = product(range(3), repeat=N)
        chance = sum(
            prod(law[at] for at in each) for each in outcomes if mean_p([values[at] for at in each], least) <= alpha
        )
        assert chance <= alpha


@pytest.mark.parametrize(("values", "least"), [([0.0], 0.0), ([-1.1], -1.0), ([[0.0]], -1.0), ([float("nan")], -1.0)])
def test_numbers_below_what_they_are_at_least_are_refused(values: Any, least: float) -> None:
    with pytest.raises(ValueError, match="at least"):
        mean_p(values, least)


TRIPLES = ((1.0, 1.0, 0.5), (0.5, 1.0, 0.8), (0.0, 0.25, 0.25))
"""(attack, predicted, base): a good release, a bad one, and one in which little is predicted."""


@pytest.mark.thorough
@pytest.mark.parametrize("law", LAWS)
def test_an_improvement_lies_outside_as_seldom_as_stated(law: tuple[float, ...]) -> None:
    """Also if a bound on the base's errors is known, and if most of the capital is on the largest bet."""
    means = [sum(p * line[at] for p, line in zip(law, TRIPLES, strict=True)) for at in range(3)]
    truth = (means[0] - means[2]) / (means[1] - means[2])
    for wrong, on_largest in product((1.0, 0.5), SPLITS):
        found = missed(law, partial(improvement_of, wrong=wrong, on_largest=on_largest), truth, TRIPLES)
        assert max(found) <= ALPHA


def improvement_of(lines: Any, wrong: float, on_largest: Fraction) -> tuple[float, float]:
    attack, predicted, base = np.array(lines).T
    return improvement_limits(attack, base, predicted, ALPHA, wrong=wrong, on_largest=on_largest)


@pytest.mark.parametrize("on_largest", SPLITS)
def test_the_capital_is_split_as_stated(on_largest: Fraction) -> None:
    shares = capital_split(on_largest)
    assert shares[BETS.argmax()] == on_largest
    assert shares.sum() == pytest.approx(1, abs=1e-15)
    assert len({*shares[:-1]}) == 1


def test_capital_on_the_largest_bet_needs_fewer_releases_that_agree() -> None:
    """They exclude a gain of .1 at the least from log(4/3/.05)/log(1 + .95/9) = 32.7 releases on."""
    agree = [0.5] * 33, [0.5] * 33, [1.0] * 33
    even, most = (improvement_limits(*agree, 0.05, 1.0, 0.5, split)[1] for split in SPLITS)
    assert most < 0.1 < even


@pytest.mark.thorough
@pytest.mark.parametrize("law", LAWS)
def test_a_difference_of_precisions_lies_outside_as_seldom_as_stated(law: tuple[float, ...]) -> None:
    means = [sum(p * line[at] for p, line in zip(law, TRIPLES, strict=True)) for at in range(3)]
    for on_largest in SPLITS:
        found = missed(law, partial(difference_of, on_largest=on_largest), (means[0] - means[2]) / means[1], TRIPLES)
        assert max(found) <= ALPHA


def difference_of(lines: Any, on_largest: Fraction) -> tuple[float, float]:
    attack, predicted, base = np.array(lines).T
    return difference_limits(attack, base, predicted, ALPHA, on_largest=on_largest)


@given(st.lists(st.sampled_from(TRIPLES), min_size=2, max_size=N), st.data())
def test_limits_of_triples_do_not_depend_on_order(lines: list[tuple[float, ...]], data: st.DataObject) -> None:
    again = data.draw(st.permutations(lines))
    for limits in (partial(improvement_of, wrong=0.5), difference_of):
        for on_largest in SPLITS:
            once, other = limits(lines, on_largest=on_largest), limits(again, on_largest=on_largest)
            assert other == pytest.approx(once, abs=1e-9)


def precision_of(lines: Any) -> tuple[float, float]:
    attack, predicted, _ = np.array(lines).T
    return ratio_limits(attack, predicted, ALPHA)


@pytest.mark.thorough
@pytest.mark.parametrize("law", LAWS)
def test_a_precision_lies_outside_as_seldom_as_stated(law: tuple[float, ...]) -> None:
    """A ratio of means, not a mean of ratios."""
    means = [sum(p * line[at] for p, line in zip(law, TRIPLES, strict=True)) for at in range(2)]
    found = missed(law, precision_of, means[0] / means[1], TRIPLES)
    assert max(found) <= ALPHA


def test_a_planted_fault_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bettor who stakes the whole capital eight times over is wrong too often."""
    honest = bets._log_capital
    monkeypatch.setattr(bets, "_log_capital", lambda gains: honest(gains) + np.log(8))
    assert any(max(missed(law, mean_of, expected(law), VALUES)) > ALPHA for law in LAWS)


shares = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@given(shares, st.floats(0.001, 0.4))
def test_limits_enclose_the_average_and_do_not_depend_on_order(values: list[float], alpha: float) -> None:
    lower, upper = mean_limits(values, alpha)
    assert lower <= np.mean(values) + 1e-9
    assert upper >= np.mean(values) - 1e-9
    again = mean_limits(values[::-1], alpha)
    assert again == pytest.approx((lower, upper), abs=1e-9)


@given(st.integers(1, 400), st.floats(0.05, 0.95))
def test_certain_numbers_are_known_up_to_what_may_never_have_occurred(n: int, value: float) -> None:
    """ln(8/alpha)/(.95 n) is the largest cost of eight bets if nothing varies."""
    lower, upper = mean_limits([value] * n, 0.05)
    cost = np.expm1(np.log(8 / 0.05) / n) / 0.95
    assert lower >= value / (1 + cost) * (1 - 1e-6)
    assert 1 - upper >= (1 - value) / (1 + cost) * (1 - 1e-6)


@pytest.mark.parametrize("wrong", [0.0, 1.5, 0.1])
def test_what_is_known_of_the_base_must_be_true(wrong: float) -> None:
    with pytest.raises(ValueError, match="wrong must be"):
        improvement_limits([0.5], [0.5], [1.0], 0.05, wrong=wrong)


@pytest.mark.parametrize(("part", "whole"), [([0.5], [0.4]), ([1.5], [2.0]), ([0.1, 0.2], [0.3])])
def test_a_part_is_not_more_than_the_whole(part: list[float], whole: list[float]) -> None:
    with pytest.raises(ValueError, match="must"):
        ratio_limits(part, whole, 0.05)


def test_no_improvement_is_no_evidence() -> None:
    assert improvement_p([0.5] * 50, [0.5] * 50, [1.0] * 50) == 1.0
    assert improvement_p([0.9] * 50, [0.1] * 50, [1.0] * 50) < 1e-10


def sampled(people: int, rng: np.random.Generator, *, paired: bool) -> PairedGuesses | SeparateGuesses:
    """Draw people of whom an attack is right about .7, a baseline about .6: both about the same people, or each about
    the tenth of whom it is most certain. The improvement is .25."""
    attack, base = rng.random(people) < 0.7, rng.random(people) < 0.6
    if paired:
        counts = (attack & ~base, base & ~attack, ~attack & ~base)
        return PairedGuesses(*(float(each.sum()) for each in counts))
    tenth = people // 10
    return SeparateGuesses(float(tenth), float(attack[:tenth].sum()), float(base[-tenth:].sum()))


@pytest.mark.thorough
@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("people", [200, 4000])
def test_the_improvement_for_people_lies_outside_as_seldom_as_stated(people: int, paired: bool) -> None:
    """In 400 samples, at .1: at most 62 outside on one side, exceeded with probability .0003 if .1 is outside."""
    rng = np.random.default_rng(people)
    found = [people_improvement_limits(sampled(people, rng, paired=paired), 0.1) for _ in range(400)]
    assert sum(low > 0.25 for low, _ in found) <= 62
    assert sum(high < 0.25 for _, high in found) <= 62


@pytest.mark.parametrize("paired", [True, False])
def test_limits_of_more_people_than_there_are_miss(paired: bool) -> None:
    """As if there were thirty times as many: more than the fifth of 60 samples that may be outside at .1 on a side."""
    rng, missed = np.random.default_rng(1), 0
    for _ in range(60):
        own = sampled(400, rng, paired=paired)
        many = replace(own, **{each.name: getattr(own, each.name) * 30 for each in fields(own)})
        low, high = people_improvement_limits(many, 0.1)
        missed += low > 0.25 or high < 0.25
    assert missed > 24


def test_people_about_whom_nobody_is_wrong_leave_some_doubt() -> None:
    """Among 1,000 people about whom both are wrong, some twenty may still be guessed by one of them."""
    low, high = people_improvement_limits(PairedGuesses(0.0, 0.0, 1000.0), 0.05)
    assert -0.02 < low < 0 < high < 0.02


@pytest.mark.parametrize(("guesses", "alpha"), [((38, 38, 29), 0.01), ((30, 30, 21), 0.025), ((21, 21, 16), 0.1)])
def test_people_whose_numbers_do_not_refute_far_improvements_have_no_lower_limit(
    guesses: tuple[float, float, float], alpha: float
) -> None:
    """An improvement of -1 is refuted here, and one far below it is not: one answer does not hold for all below."""
    assert people_improvement_limits(SeparateGuesses(*guesses), alpha)[0] == -math.inf
