import math
from typing import Any

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.accounting.safe_k import chernoff_delta, theorem5_delta, theorem5_greatest_beta, theorem5_least_epsilon
from tests.accounting.enumeration import binomial
from tests.accounting.vectors import Entry, is_rounded_up, of
from tests.examples import examples


def listed(k: int, beta: float, epsilon: float, sizes: int) -> mp.mpf:
    """Return Theorem 5's delta as printed, for n up to `sizes`."""
    with mp.workdps(60):
        b = mp.mpf(beta)
        share = 1 - (1 - b) * mp.exp(-mp.mpf(epsilon))
        first = max(1, int(mp.ceil(k / share - 1)))
        above = (mp.fsum(m for j, m in binomial(n, b).items() if j > share * n) for n in range(first, sizes))
        return max(above)


@pytest.mark.thorough
@settings(max_examples=examples(8), deadline=None, derandomize=True)
@given(k=st.integers(1, 12), beta=st.floats(0.1, 0.95), above=st.floats(1e-6, 2))
def test_theorem_5_is_the_largest_tail_over_all_class_sizes(k: int, beta: float, above: float) -> None:
    epsilon = -math.log1p(-beta) + above
    assert theorem5_delta(k, beta, epsilon) == pytest.approx(
        float(listed(k, beta, epsilon, int(2 * k / beta) + 20)), rel=1e-9
    )


@of("d_paper")
def test_theorem_5_has_its_reference_values_or_refuses(entry: Entry) -> None:
    i = entry["inputs"]
    if isinstance(entry["expected"], str):
        with pytest.raises(ValueError, match="must be"):
            theorem5_delta(i["k"], i["beta"], i["eps"])
    else:
        assert is_rounded_up(theorem5_delta(i["k"], i["beta"], i["eps"]), entry["expected"], 1e-9)


@of("chernoff_c_n")
def test_the_printed_chernoff_bound_has_its_reference_values(entry: Entry) -> None:
    i = entry["inputs"]
    assert is_rounded_up(chernoff_delta(i["k"], i["beta"], i["eps"]), entry["expected"], 1e-9)


@of("chernoff_KL")
def test_the_divergence_form_has_its_reference_values(entry: Entry) -> None:
    i = entry["inputs"]
    assert is_rounded_up(chernoff_delta(i["k"], i["beta"], i["eps"], form="kl"), entry["expected"], 1e-9)


@settings(max_examples=examples(50), deadline=None, derandomize=True)
@given(k=st.integers(1, 300), beta=st.floats(1e-3, 0.95), above=st.floats(0, 3))
def test_both_chernoff_forms_are_above_theorem_5_and_the_printed_one_is_the_looser(
    k: int, beta: float, above: float
) -> None:
    epsilon = -math.log1p(-beta) + above
    tight = chernoff_delta(k, beta, epsilon, form="kl")
    assert theorem5_delta(k, beta, epsilon) <= tight * (1 + 1e-9) <= chernoff_delta(k, beta, epsilon) * (1 + 2e-9)


def test_the_maximum_is_found_where_it_is_not_in_the_first_block() -> None:
    first_block_only = listed(100, 0.9, 2.41771, 101)
    assert theorem5_delta(100, 0.9, 2.41771) > 3 * first_block_only


def test_at_a_knife_edge_the_atom_is_counted_on_both_sides() -> None:
    """gamma = 3/4 at beta = 1/4, epsilon = ln 3: P(J > gamma n) jumps from .0508 to .0156 for k = 3."""
    for epsilon in (math.log(3) * (1 - 1e-13), math.log(3), math.log(3) * (1 + 1e-13)):
        assert theorem5_delta(3, 0.25, epsilon) == pytest.approx(0.05078, abs=1e-4)
    assert theorem5_delta(3, 0.25, math.log(3) + 1e-9) == pytest.approx(0.015625, abs=1e-6)


@of("eps_min_theorem")
def test_the_least_epsilon_of_theorem_5_has_its_reference_values(entry: Entry) -> None:
    assert theorem5_least_epsilon(entry["inputs"]["beta"]) == pytest.approx(entry["expected"], rel=1e-14)


@of("beta_max_theorem")
def test_the_greatest_beta_of_theorem_5_has_its_reference_values(entry: Entry) -> None:
    assert theorem5_greatest_beta(entry["inputs"]["eps"]) == pytest.approx(entry["expected"], rel=1e-12)


@pytest.mark.parametrize("beta", [1e-12, 0.01, 0.1, 0.5, 0.9])
def test_the_precondition_holds_at_its_own_limit(beta: float) -> None:
    least = theorem5_least_epsilon(beta)
    assert 0 < theorem5_delta(5, beta, least) <= 1
    with pytest.raises(ValueError, match="epsilon must be at least"):
        theorem5_delta(5, beta, least * (1 - 1e-9))


@pytest.mark.parametrize("beta", [0, 1])
def test_theorem_5_does_not_speak_of_the_ends_of_beta(beta: float) -> None:
    with pytest.raises(ValueError, match="beta must be"):
        theorem5_delta(5, beta, 1)


def test_an_unknown_form_is_refused() -> None:
    unknown: Any = "other"
    with pytest.raises(ValueError, match="form must be"):
        chernoff_delta(5, 0.1, 1, form=unknown)
