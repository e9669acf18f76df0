"""The solvers: their results are valid, and no better number is."""

import math
import re
import time
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from crowdgate.accounting.safe_k import (
    Bound,
    exact_delta,
    greatest_beta,
    least_epsilon,
    least_k,
    theorem5_delta,
    theorem5_least_epsilon,
)
from tests.accounting.vectors import Entry, of
from tests.examples import examples

DELTA = {"exact": exact_delta, "theorem5": theorem5_delta}
bounds = st.sampled_from(["exact", "theorem5"])
deltas = st.floats(-30, -0.1).map(lambda log: 10**log)


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(beta=st.floats(0.001, 0.95), above=st.floats(0.001, 3), delta=deltas, bound=bounds)
def test_the_least_k_holds_and_one_less_does_not(beta: float, above: float, delta: float, bound: Bound) -> None:
    epsilon = above + (theorem5_least_epsilon(beta) if bound == "theorem5" else 0)
    k = least_k(epsilon, delta, beta, bound)
    assert DELTA[bound](k, beta, epsilon) <= delta
    assert k == 1 or DELTA[bound](k - 1, beta, epsilon) > delta


@settings(max_examples=examples(40), deadline=None, derandomize=True)
@given(epsilon=st.floats(0.01, 4), k=st.integers(1, 500), delta=deltas)
def test_the_greatest_beta_holds_and_a_little_more_does_not(epsilon: float, k: int, delta: float) -> None:
    beta = greatest_beta(epsilon, delta, k)
    assert exact_delta(k, beta, epsilon) <= delta
    assert beta == 1 or exact_delta(k, min(1, beta * (1 + 1e-9)), epsilon) > delta


@settings(max_examples=examples(20), deadline=None, derandomize=True)
@given(epsilon=st.floats(0.01, 4), k=st.integers(1, 60), delta=deltas, share=st.floats(0.01, 1))
def test_theorem_5_holds_up_to_its_greatest_beta(epsilon: float, k: int, delta: float, share: float) -> None:
    beta = greatest_beta(epsilon, delta, k, "theorem5")
    assert theorem5_delta(k, beta, epsilon) <= delta
    assert theorem5_delta(k, beta * share, epsilon) <= delta * (1 + 1e-9)


def test_theorem_5_can_hold_again_above_its_greatest_beta() -> None:
    beta = greatest_beta(0.5, 1e-6, 10, "theorem5")
    assert theorem5_delta(10, beta * (1 + 1e-6), 0.5) > 1e-6
    assert theorem5_delta(10, 0.0714, 0.5) < 1e-6 < theorem5_delta(10, 0.0715, 0.5)


@settings(max_examples=examples(40), deadline=None, derandomize=True)
@given(k=st.integers(1, 500), beta=st.floats(0.001, 0.95), delta=deltas, bound=bounds)
def test_the_least_epsilon_holds_and_a_little_less_does_not(k: int, beta: float, delta: float, bound: Bound) -> None:
    assume(beta**k < delta * (1 - 1e-6))
    epsilon = least_epsilon(delta, k, beta, bound)
    assert DELTA[bound](k, beta, epsilon) <= delta
    lowest = theorem5_least_epsilon(beta) if bound == "theorem5" else 0
    assert epsilon == lowest or DELTA[bound](k, beta, max(lowest, epsilon - 1e-9 * (1 + epsilon))) > delta


@pytest.mark.parametrize(("epsilon", "k"), [("1", 58), ("0.95", 62), (".85", 69)])
def test_the_bundled_budgets_have_their_k(epsilon: str, k: int) -> None:
    assert least_k(epsilon, "1e-9", "0.5") == k


@of("min_k_exact")
def test_the_least_k_has_its_reference_values(entry: Entry) -> None:
    i = entry["inputs"]
    assert least_k(i["eps"], i["delta"], i["beta"]) == entry["expected"]


@of("min_k_paper")
def test_the_least_k_of_theorem_5_has_its_reference_values_or_is_refused(entry: Entry) -> None:
    i = entry["inputs"]
    if isinstance(entry["expected"], str):
        with pytest.raises(ValueError, match="epsilon must be at least"):
            least_k(i["eps"], i["delta"], i["beta"], "theorem5")
    else:
        assert least_k(i["eps"], i["delta"], i["beta"], "theorem5") == entry["expected"]


@of("k_arx (beta=1-exp(-eps))")
def test_the_k_of_arx_is_larger_than_theorem_5_needs_which_is_larger_than_needed(entry: Entry) -> None:
    i = entry["inputs"]
    beta = -math.expm1(-i["eps"])
    paper, exact = (int(number) for number in re.findall(r": (\d+)", entry["note"]))
    assert least_k(i["eps"], i["delta"], beta) == exact
    at_knife_edges_safe = least_k(i["eps"], i["delta"], beta, "theorem5")
    assert exact < paper <= at_knife_edges_safe == entry["expected"] - 1


@of("beta_max")
@pytest.mark.parametrize(("bound", "name"), [("exact", "exact"), ("theorem5", "paper")])
def test_the_greatest_beta_has_its_reference_values(entry: Entry, bound: Bound, name: str) -> None:
    i = entry["inputs"]
    assert greatest_beta(i["eps"], i["delta"], i["k"], bound) == pytest.approx(entry["expected"][name], rel=1e-6)


@of("eps_min")
@pytest.mark.parametrize(("bound", "name"), [("exact", "exact"), ("theorem5", "paper")])
def test_the_least_epsilon_has_its_reference_values(entry: Entry, bound: Bound, name: str) -> None:
    i = entry["inputs"]
    assert least_epsilon(i["delta"], i["k"], i["beta"], bound) == pytest.approx(entry["expected"][name], rel=1e-6)


def test_a_target_that_no_float_holds_is_rounded_down() -> None:
    """0.1^5 = 1e-5 exactly, but the float 0.1 is above 1/10 and a target must not be."""
    assert least_k(3, Fraction(1, 10**5), "0.1") == 6
    assert least_k(3, "1.0000000001e-5", "0.1") == 5


def test_numbers_between_two_floats_are_rounded_to_the_dearer_one(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[float, ...]] = []

    def recorded(*arguments: float) -> float:
        seen.append(arguments)
        return 1e-9

    monkeypatch.setattr("crowdgate.accounting.safe_k.delta_of", recorded)
    epsilon, beta = Fraction(1, 3), Fraction(1, 3)
    assert Fraction(float(beta)) < beta
    least_k(epsilon + Fraction(1, 10**9), "1e-8", beta)
    least_k(Fraction(0.3) - Fraction(1, 10**30), "1e-8", beta)
    assert seen[0][1] == math.nextafter(float(beta), 1)
    assert Fraction(seen[0][2]) <= epsilon + Fraction(1, 10**9)
    assert seen[1][2] == math.nextafter(0.3, 0)
    with pytest.raises(ValueError, match="none is enough"):
        least_k(epsilon, Fraction(1e-9) - Fraction(1, 10**30), beta)


def test_the_ends_of_the_arguments_have_answers() -> None:
    assert least_k(0, 1e-9, 0) == 1
    assert least_k(1, 1, 1) == 1
    assert greatest_beta(1, 1, 5) == 1
    assert greatest_beta(0, 0.25, 1) == 0.25
    assert least_epsilon(0.25, 1, 0.25) == 0
    assert least_epsilon(1e-9, 5, 0) == 0


@pytest.mark.parametrize("bound", ["exact", "theorem5"])
def test_what_nothing_reaches_is_refused(bound: Bound) -> None:
    unknown: Any = "other"
    with pytest.raises(ValueError, match="beta"):
        least_k(1, 1e-9, 1, bound)
    with pytest.raises(ValueError, match="delta must be at least"):
        least_epsilon(1e-6, 5, 0.1, bound)
    with pytest.raises(ValueError, match="delta must be"):
        least_k(1, 0, 0.1, bound)
    with pytest.raises(ValueError, match="bound must be"):
        least_k(1, 1e-9, 0.1, unknown)
    with pytest.raises(ValueError, match="epsilon must be"):
        greatest_beta(0 if bound == "theorem5" else -1, 1e-9, 5, bound)


def test_theorem_5_is_refused_or_answered_at_the_ends_of_its_arguments() -> None:
    with pytest.raises(ValueError, match="beta must be"):
        least_epsilon(1e-6, 5, 0, "theorem5")
    with pytest.raises(ValueError, match="delta must be at least"):
        least_epsilon(1e-6, 5, 1 - Fraction(1, 10**40), "theorem5")
    assert greatest_beta(Fraction(1, 10**290), 1e-300, 1, "theorem5") == 0
    assert 0 < greatest_beta(40, 1e-9, 5, "theorem5") < 1


@pytest.mark.parametrize("bound", ["exact", "theorem5"])
def test_every_solver_takes_less_than_fifty_milliseconds_up_to_k_of_ten_thousand(bound: Bound) -> None:
    solvers = (
        lambda: least_k(0.7 if bound == "theorem5" else 0.031, 1e-9, 0.5, bound),
        lambda: greatest_beta(0.01, 1e-9, 10_000, bound),
        lambda: least_epsilon(1e-9, 10_000, 0.5, bound),
        lambda: DELTA[bound](10_000, 0.5, 0.7),
    )
    for solver in solvers:
        start = time.process_time()
        solver()
        assert time.process_time() - start < 0.05
