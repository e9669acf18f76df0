import math
from collections.abc import Callable
from itertools import count

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from crowdgate.accounting.intervals import clopper_pearson
from crowdgate.accounting.numbers import Number
from crowdgate.accounting.pso import trials_to_certify, trials_to_pass, trials_to_refute
from tests.accounting.vectors import Entry, of
from tests.examples import examples


def at_least(s: int, trials: int, rate: float) -> float:
    return math.fsum(math.comb(trials, j) * rate**j * (1 - rate) ** (trials - j) for j in range(s, trials + 1))


def first_refutation(limit: float, rate: float, alpha: float, power: float) -> tuple[int, int]:
    """Return (T, s) by trying each T from 1."""
    least = ((trials, next(s for s in count() if at_least(s, trials, limit) <= alpha)) for trials in count(1))
    return next((trials, s) for trials, s in least if s <= trials and at_least(s, trials, rate) >= power)


def passes(trials: int, limit: float, rate: float, alpha: float, power: float) -> bool:
    passing = [s for s in range(trials + 1) if 1 - at_least(s + 1, trials, limit) <= alpha]
    return bool(passing) and 1 - at_least(max(passing) + 1, trials, rate) >= power


def first_pass(*arguments: float) -> int:
    return next(trials for trials in count(1) if passes(trials, *arguments))


errors = {"alpha": st.floats(0.01, 0.2), "power": st.floats(0.5, 0.95)}


@settings(max_examples=examples(30), deadline=None, derandomize=True)
@given(limit=st.floats(0.01, 0.5), gap=st.floats(0.25, 0.45), **errors)
def test_the_trials_to_refute_are_the_first_that_do(limit: float, gap: float, alpha: float, power: float) -> None:
    assert trials_to_refute(limit, limit + gap, alpha, power) == first_refutation(limit, limit + gap, alpha, power)


@settings(max_examples=examples(30), deadline=None, derandomize=True)
@given(limit=st.floats(0.3, 0.9), gap=st.floats(0.25, 0.3), **errors)
def test_the_trials_to_pass_are_the_first_that_do(limit: float, gap: float, alpha: float, power: float) -> None:
    assert trials_to_pass(limit, limit - gap, alpha, power) == first_pass(limit, limit - gap, alpha, power)


@of("trials_to_refute")
def test_the_trials_to_refute_have_their_reference_values(entry: Entry) -> None:
    i = entry["inputs"]
    assert list(trials_to_refute(i["p0"], i["p_true"], i["alpha"], i["power"])) == entry["expected"]


@of("trials_zero_success_certify")
def test_the_trials_to_certify_have_their_reference_values(entry: Entry) -> None:
    assert trials_to_certify(entry["inputs"]["p0"], entry["inputs"]["alpha"]) == entry["expected"]


def test_rates_a_factor_of_two_apart_need_a_thousand_trials() -> None:
    assert trials_to_refute(0.01, 0.02, 0.05, 0.9)[0] == 1235
    assert trials_to_pass(0.02, 0.01, 0.05, 0.9) == 1271


@settings(deadline=None, derandomize=True)
@given(limit=st.floats(1e-4, 1), alpha=st.floats(1e-6, 0.9))
def test_no_success_in_the_trials_to_certify_is_just_enough(limit: float, alpha: float) -> None:
    trials = trials_to_certify(limit, alpha)
    assert (1 - limit) ** trials <= alpha * (1 + 1e-9)
    assert trials == 1 or (1 - limit) ** (trials - 1) > alpha * (1 - 1e-9)
    assert trials_to_pass(limit, 0, alpha, 0.5) in (trials, trials + 1)


def test_a_power_of_the_limit_is_reached_exactly() -> None:
    assert trials_to_certify(0.5, 0.25) == 2
    assert trials_to_certify("0.9", "0.001") == 3
    assert trials_to_certify(1, 0.01) == 1


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(trials=st.integers(1, 60), share=st.floats(0, 1), alpha=st.floats(0.001, 0.4))
def test_the_limits_are_where_the_observation_becomes_improbable(trials: int, share: float, alpha: float) -> None:
    successes = round(share * trials)
    lower, upper = clopper_pearson(successes, trials, alpha)
    assert 0 <= lower <= successes / trials <= upper <= 1
    assert successes == 0 or at_least(successes, trials, lower) == pytest.approx(alpha, rel=1e-6)
    assert successes == trials or 1 - at_least(successes + 1, trials, upper) == pytest.approx(alpha, rel=1e-6)


@of("clopper_pearson_upper_onesided")
def test_the_upper_limit_has_its_reference_value(entry: Entry) -> None:
    i = entry["inputs"]
    assert clopper_pearson(i["s"], i["T"], i["alpha"])[1] == pytest.approx(entry["expected"], rel=1e-9)


@of("clopper_pearson_lower_onesided")
def test_the_lower_limit_has_its_reference_value(entry: Entry) -> None:
    i = entry["inputs"]
    assert clopper_pearson(i["s"], i["T"], i["alpha"])[0] == pytest.approx(entry["expected"], rel=1e-8)


@settings(max_examples=examples(40), deadline=None, derandomize=True)
@given(limit=st.floats(0.01, 0.5), gap=st.floats(0.1, 0.4), **errors)
def test_a_refutation_is_a_lower_limit_above_the_limit(limit: float, gap: float, alpha: float, power: float) -> None:
    trials, successes = trials_to_refute(limit, limit + gap, alpha, power)
    assert clopper_pearson(successes, trials, alpha)[0] >= limit * (1 - 1e-9)
    assume(successes > 0)
    assert clopper_pearson(successes - 1, trials, alpha)[0] <= limit * (1 + 1e-9)


def test_nothing_observed_says_nothing() -> None:
    assert clopper_pearson(0, 0, 0.05) == (0, 1)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("call", "arguments", "name"),
    [
        (trials_to_refute, (0.1, 0.1, 0.05, 0.9), "true_rate"),
        (trials_to_refute, (0.5, 0.5001, 0.05, 0.9), "true_rate"),
        (trials_to_refute, (0.1, 0.2, 0, 0.9), "alpha"),
        (trials_to_refute, (0.1, 0.2, 0.05, 1), "power"),
        (trials_to_pass, (0.1, 0.1, 0.05, 0.9), "true_rate"),
        (trials_to_certify, (0, 0.05), "limit"),
        (trials_to_certify, (0.1, 1), "alpha"),
        (clopper_pearson, (5, 4, 0.05), "successes"),
        (clopper_pearson, (-1, 4, 0.05), "successes"),
        (clopper_pearson, (1, 4, 0), "alpha"),
    ],
)
def test_an_argument_out_of_range_is_refused_by_name(
    call: Callable[..., object], arguments: tuple[Number, ...], name: str
) -> None:
    with pytest.raises(ValueError, match=f"^{name} must"):
        call(*arguments)


@pytest.mark.parametrize("rate", [0.1, 0.05])
def test_a_rate_on_the_wrong_side_of_the_limit_is_not_called_too_close(rate: float) -> None:
    with pytest.raises(ValueError, match=r"^true_rate must be a number in \(limit, 1\] = \(0\.1, 1\], not "):
        trials_to_refute(0.1, rate, 0.05, 0.9)
    with pytest.raises(ValueError, match=r"^true_rate must be a number in \[0, limit\) = \[0, 0\.05\), not "):
        trials_to_pass(0.05, rate, 0.05, 0.9)
