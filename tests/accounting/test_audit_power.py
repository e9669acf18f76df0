"""Power of trials of an attack, compared with sums over all outcomes."""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.accounting.audit_power import (
    binomial_p,
    chance_to_pass,
    chance_to_refute,
    detectable_excess,
    holm,
    passing_successes,
    refuting_successes,
)
from crowdgate.accounting.intervals import clopper_pearson
from crowdgate.accounting.numbers import Number
from crowdgate.accounting.pso import baseline, bound
from tests.examples import examples

ROWS = 299_285
ALONE = baseline(ROWS, 0.005 / ROWS)
LIMIT = ALONE + 0.01
rates, trials, levels = st.floats(0.001, 0.999), st.integers(1, 40), st.floats(1e-4, 0.5)


def chance(successes: list[int], rows: int, rate: float) -> Fraction:
    p = Fraction(rate)
    return sum((math.comb(rows, s) * p**s * (1 - p) ** (rows - s) for s in successes), Fraction(0))


@pytest.mark.thorough
@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(limit=rates, rate=rates, rows=trials, alpha=levels)
def test_the_chances_are_those_of_the_intervals_that_a_gate_would_see(
    limit: float, rate: float, rows: int, alpha: float
) -> None:
    ends = [clopper_pearson(s, rows, alpha) for s in range(rows + 1)]
    passing = [s for s, (_, upper) in enumerate(ends) if upper <= limit]
    refuting = [s for s, (lower, _) in enumerate(ends) if lower > limit]
    assert passing_successes(limit, rows, alpha) == (max(passing) if passing else None)
    assert refuting_successes(limit, rows, alpha) == (min(refuting) if refuting else None)
    for found, successes in (
        (chance_to_pass(limit, rate, rows, alpha), passing),
        (chance_to_refute(limit, rate, rows, alpha), refuting),
    ):
        true = chance(successes, rows, rate)
        assert true * (1 - Fraction(1, 10**9)) <= Fraction(found) <= true


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(alone=st.floats(0.001, 0.9), rows=trials, alpha=levels, power=st.floats(0.5, 0.99))
def test_the_excess_that_is_seen_is_the_least(alone: float, rows: int, alpha: float, power: float) -> None:
    excess = detectable_excess(alone, rows, alpha, power)
    if excess is None:
        assert clopper_pearson(rows, rows, alpha)[0] <= alone
    else:
        assert chance_to_refute(alone, alone + excess * (1 + 1e-9), rows, alpha) >= power
        assert chance_to_refute(alone, alone + excess * (1 - 1e-6), rows, alpha) < power


def test_an_attack_at_the_baseline_passes_a_limit_with_an_excess_of_one_hundredth() -> None:
    """2,500 trials at w = .005/n: sixteen attackers all pass with .998, one at .0075 with .97; one at the mechanism's
    own bound at epsilon 1 with .13: at that bound the limit cannot be relied on."""
    assert passing_successes(LIMIT, 2500, 0.05) == 27
    assert chance_to_pass(LIMIT, ALONE, 2500, 0.05) ** 16 == pytest.approx(0.9985, abs=1e-4)
    assert chance_to_pass(LIMIT, 0.0075, 2500, 0.05) == pytest.approx(0.973, abs=5e-4)
    own = bound(ROWS, 0.005 / ROWS, 1, 0)
    assert chance_to_pass(LIMIT, own, 2500, 0.05) == pytest.approx(0.130, abs=5e-4)
    assert detectable_excess(ALONE, 2500, 0.05, 0.9) == pytest.approx(0.00491, abs=1e-5)
    assert chance_to_refute(ALONE, LIMIT, 2500, 0.05) > 0.9996


def test_too_few_trials_pass_nothing_and_see_nothing() -> None:
    assert passing_successes(0.001, 100, 0.05) is None
    assert chance_to_pass(0.001, 0, 100, 0.05) == 0
    assert refuting_successes(0.9, 10, 0.05) is detectable_excess(0.9, 10, 0.05, 0.9) is None
    assert chance_to_refute(0.9, 1, 10, 0.05) == 0
    assert detectable_excess(1, 10**6, 0.05, 0.9) is None


def test_a_rate_of_zero_passes_and_a_rate_of_one_is_seen_for_certain() -> None:
    assert chance_to_pass(0.01, 0, 2500, 0.05) == pytest.approx(1, abs=1e-11)
    assert chance_to_refute(0.01, 1, 2500, 0.05) == pytest.approx(1, abs=1e-11)
    assert chance_to_pass(1, 1, 10, 0.05) == 1


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(rows=trials, share=st.floats(0, 1), rate=rates)
def test_the_p_value_is_the_sum_of_the_tail(rows: int, share: float, rate: float) -> None:
    s = round(share * rows)
    true = chance(list(range(s, rows + 1)), rows, rate)
    assert true <= Fraction(binomial_p(s, rows, rate)) <= true * (1 + Fraction(1, 10**9))


@settings(deadline=None, derandomize=True)
@given(p_values=st.lists(st.sampled_from([0.001, 0.01, 0.012, 0.04, 0.5]), max_size=6), alpha=st.floats(0.01, 0.2))
def test_holm_rejects_what_the_step_down_rejects(p_values: list[float], alpha: float) -> None:
    left, rejected = sorted(p_values), 0
    while left and Fraction(left[0]) * len(left) <= alpha:
        left, rejected = left[1:], rejected + 1
    assert sum(p <= alpha for p in holm(p_values)) == rejected


def test_adjusted_values_are_floats_on_the_upper_side() -> None:
    found = holm(["0.1", Fraction(1, 30), 0.5])
    assert [type(each) for each in found] == [float] * 3
    assert all(
        Fraction(each) >= exact
        for each, exact in zip(found, (Fraction(1, 5), Fraction(1, 10), Fraction(1, 2)), strict=True)
    )


@pytest.mark.thorough
def test_holm_keeps_the_level_when_all_hypotheses_are_true() -> None:
    """Three independent tests of 20 fair coins each, all outcomes: some rejection has probability at most alpha."""
    law = [Fraction(math.comb(20, s), 2**20) for s in range(21)]
    p_values = [binomial_p(s, 20, 0.5) for s in range(21)]
    for alpha in (0.05, 0.2):
        wrong = sum(
            math.prod(law[s] for s in outcome)
            for outcome in product(range(21), repeat=3)
            if min(holm(p_values[s] for s in outcome)) <= alpha
        )
        assert wrong <= alpha


@pytest.mark.parametrize(
    ("call", "arguments", "name"),
    [
        (chance_to_pass, (1.1, 0.1, 10, 0.05), "limit"),
        (chance_to_pass, (0.1, -1, 10, 0.05), "rate"),
        (chance_to_pass, (0.1, 0.1, 1.5, 0.05), "trials"),
        (chance_to_refute, (0.1, 0.1, 10, 0), "alpha"),
        (detectable_excess, (0.1, 10, 0.05, 1), "power"),
        (detectable_excess, (2, 10, 0.05, 0.9), "baseline"),
        (binomial_p, (11, 10, 0.5), "successes"),
        (holm, ([0.1, 1.2],), "p_values"),
    ],
)
def test_an_argument_out_of_range_is_refused_by_name(
    call: Callable[..., object], arguments: tuple[Number, ...], name: str
) -> None:
    with pytest.raises(ValueError, match=f"^{name} must"):
        call(*arguments)
