import math
from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.accounting.numbers import Number
from crowdgate.accounting.safe_k import delta_at, exact_delta, gamma, log_binomial_tail, log_exact_delta, theorem5_delta
from tests.accounting.enumeration import binomial, deltas, divergence, suppressed, together
from tests.accounting.vectors import Entry, is_rounded_up, of
from tests.examples import examples

betas = st.one_of(st.sampled_from([0.5, 0.1, 0.9, 0.25, 0.99]), st.floats(0.05, 0.999))
epsilons = st.one_of(st.sampled_from([0.0, 1e-9, math.log(2), math.log(3), 1.0, 10.0]), st.floats(0, 4))


@settings(max_examples=examples(25), deadline=None, derandomize=True)
@given(k=st.integers(1, 6), beta=betas, epsilon=epsilons)
def test_exact_delta_is_the_largest_divergence_over_all_class_sizes_and_both_directions(
    k: int, beta: float, epsilon: float
) -> None:
    sizes = range(1, int(k / beta) + 12)
    largest = max(max(deltas(n, k, beta, epsilon)) for n in sizes)
    assert 0 <= exact_delta(k, beta, epsilon) / largest - 1 <= 1e-10


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(n=st.integers(1, 30), k=st.integers(1, 9), beta=betas, epsilon=epsilons)
def test_delta_at_is_the_divergence_of_one_class_in_each_direction(n: int, k: int, beta: float, epsilon: float) -> None:
    for value, truth in zip(delta_at(n, k, beta, epsilon), deltas(n, k, beta, epsilon), strict=True):
        assert truth * (1 - mp.mpf(10) ** -15) <= value <= truth * (1 + mp.mpf(10) ** -9) + mp.mpf(10) ** -16


def test_the_reverse_direction_can_be_the_greater() -> None:
    k, beta, epsilon = 21, 0.95, 0.03
    forward = max(deltas(n, k, beta, epsilon)[0] for n in range(k, 3 * k))
    reverse = max(deltas(n, k, beta, epsilon)[1] for n in range(k, 3 * k))
    assert forward * 1.003 < reverse <= exact_delta(k, beta, epsilon) <= reverse * (1 + mp.mpf(10) ** -10)


def test_delta_at_agrees_with_exact_rational_sums_where_e_to_the_epsilon_is_two() -> None:
    """epsilon = ln 2 rounded: the rational 2 differs from e^epsilon by less than the tolerance."""
    beta, k = Fraction(1, 3), 4
    for n in range(1, 25):
        mass = {m: [math.comb(m, j) * beta**j * (1 - beta) ** (m - j) for j in range(m + 1)] for m in (n, n - 1)}
        more, less = ([sum(law[:k]), *law[k:]] for law in (mass[n], [*mass[n - 1], Fraction(0)]))
        forward = sum(max(a - 2 * b, Fraction(0)) for a, b in zip(more, less, strict=True))
        assert delta_at(n, k, beta, math.log(2))[0] == pytest.approx(float(forward), rel=1e-11, abs=1e-15)


def test_other_classes_do_not_change_the_divergence() -> None:
    beta, k, epsilon = mp.mpf("0.3"), 2, 0.4
    one, other = [suppressed(binomial(n, beta), k) for n in (3, 2)], suppressed(binomial(4, beta), k)
    alone = divergence(one[0], one[1], epsilon)
    assert abs(divergence(together(one[0], other), together(one[1], other), epsilon) - alone) < 1e-14


@settings(max_examples=examples(80), deadline=None, derandomize=True)
@given(k=st.integers(1, 3000), beta=st.floats(1e-6, 0.9999), epsilon=st.floats(0, 8), step=st.floats(0, 1))
def test_exact_delta_falls_with_k_and_epsilon_and_rises_with_beta(
    k: int, beta: float, epsilon: float, step: float
) -> None:
    log = log_exact_delta(k, beta, epsilon)
    noise = 1e-11 + 1e-14 * abs(log)
    assert log_exact_delta(k + 1 + int(100 * step), beta, epsilon) <= log + noise
    assert log_exact_delta(k, beta, epsilon + step) <= log + noise
    assert log_exact_delta(k, beta + (1 - beta) * step, epsilon) >= log - noise
    assert log <= math.log(beta) + noise
    assert log >= k * math.log(beta) - noise


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(k=st.integers(1, 400), beta=st.floats(1e-4, 0.99), above=st.floats(0, 3))
def test_theorem_5_is_never_below_the_exact_delta(k: int, beta: float, above: float) -> None:
    epsilon = -math.log1p(-beta) + above
    assert theorem5_delta(k, beta, epsilon) >= exact_delta(k, beta, epsilon) * (1 - 1e-9)


@settings(max_examples=examples(30), deadline=None, derandomize=True)
@given(k=st.integers(2, 2000), beta=st.floats(1e-3, 0.99), epsilon=st.floats(0, 3))
def test_no_class_size_near_the_largest_or_far_from_it_has_a_greater_delta(k: int, beta: float, epsilon: float) -> None:
    best = exact_delta(k, beta, epsilon)
    first = max(k, math.ceil((k - 1) / gamma(epsilon, beta)))
    for n in (k, first - 2, first - 1, first + 1, first + 2, 2 * first, 10 * first, first + k):
        assert max(delta_at(max(1, n), k, beta, epsilon)) <= best * (1 + 1e-9)


@of("gamma")
def test_gamma_has_its_reference_values(entry: Entry) -> None:
    assert gamma(entry["inputs"]["eps"], entry["inputs"]["beta"]) == pytest.approx(entry["expected"], rel=1e-13)


@of("delta_n_forward")
def test_forward_deltas_have_their_reference_values(entry: Entry) -> None:
    i = entry["inputs"]
    assert is_rounded_up(delta_at(i["n"], i["k"], i["beta"], i["eps"])[0], entry["expected"], 1e-10)


@of("delta_n_reverse")
def test_reverse_deltas_have_their_reference_values(entry: Entry) -> None:
    i = entry["inputs"]
    assert delta_at(i["n"], i["k"], i["beta"], i["eps"])[1] == pytest.approx(entry["expected"], rel=1e-9, abs=1e-18)


@of("delta_exact")
def test_exact_deltas_have_their_reference_values(entry: Entry) -> None:
    i = entry["inputs"]
    assert is_rounded_up(exact_delta(i["k"], i["beta"], i["eps"]), entry["expected"], 1e-9)


@of("delta_exact_log10")
def test_logarithms_of_tiny_deltas_have_their_reference_values(entry: Entry) -> None:
    i = entry["inputs"]
    assert log_exact_delta(i["k"], i["beta"], i["eps"]) / math.log(10) == pytest.approx(entry["expected"], abs=1e-8)


@of("log_binom_sf_ge")
def test_logarithms_of_binomial_tails_have_their_reference_values(entry: Entry) -> None:
    i = entry["inputs"]
    assert log_binomial_tail(i["t"], i["n"], i["p"]) == pytest.approx(float(entry["expected"]), abs=1e-9)


def test_binomial_tails_do_not_underflow() -> None:
    assert log_binomial_tail(1500, 2000, 0.05) == pytest.approx(-3398.44, abs=0.01)


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(n=st.integers(0, 60), t=st.integers(-2, 62), p=st.floats(0, 1))
def test_binomial_tails_are_the_sum_of_their_terms(n: int, t: int, p: float) -> None:
    with mp.workdps(60):
        b = mp.mpf(p)
        truth = mp.fsum(mp.binomial(n, j) * b**j * (1 - b) ** (n - j) for j in range(max(t, 0), n + 1))
        expected = float(mp.log(truth)) if truth > 0 else -math.inf
    assert log_binomial_tail(t, n, p) == pytest.approx(expected, rel=1e-12, abs=1e-13)


def test_the_limits_of_beta_and_k_are_exact() -> None:
    assert exact_delta(20, 0, 0) == 0
    assert log_exact_delta(20, 0, 0) == -math.inf
    assert exact_delta(20, 1, 5) == 1
    assert delta_at(20, 20, 1, 5) == (1, 1)
    assert delta_at(19, 20, 1, 5) == (0, 0)
    assert exact_delta(1, 0.25, 0) == exact_delta(1, 0.25, 1000) == 0.25
    assert exact_delta(4, 0.5, 1_000_000) == pytest.approx(0.5**4)


def test_deltas_below_every_float_are_the_smallest_float_and_their_logarithm_is_kept() -> None:
    assert exact_delta(5000, 0.1, 1) == 5e-324
    with mp.workdps(60):
        beta, shrink = mp.mpf("0.1"), mp.mpf("0.9") / mp.e
        n = int(mp.ceil(4999 / (1 - shrink)))
        terms = (mp.binomial(n, j) * beta**j * (1 - beta) ** (n - j) * (n * shrink - n + j) for j in range(5000, 5500))
        expected = float(mp.log(mp.fsum(terms) / (n * shrink)))
    assert 0 <= log_exact_delta(5000, "0.1", 1) - expected < 1e-9


def test_extreme_arguments_give_finite_answers() -> None:
    cases = (10**9, 0.5, 1e-6), (10**6, 1e-300, 1), (5, 1e-290, 1e-291), (7, 1 - 1e-16, 30), (2, 0.5, 0)
    for k, beta, epsilon in cases:
        assert -math.inf < log_exact_delta(k, beta, epsilon) < 0


def test_exact_numbers_are_rounded_to_the_safe_side() -> None:
    third = Fraction(1, 3)
    above = math.nextafter(float(third), 1)
    assert Fraction(float(third)) < third
    assert exact_delta(5, third, 1) == exact_delta(5, above, 1) >= exact_delta(5, float(third), 1)
    assert exact_delta(5, 0.1, "0.1") == exact_delta(5, 0.1, math.nextafter(0.1, 0)) >= exact_delta(5, 0.1, 0.1)


WRONG = [float("nan"), float("inf"), True, None, "", "nan", "one", "1/3", "1e999999999", "1" * 500, " 1", "0x1", -1]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda value: repr(value)[:12])
@pytest.mark.parametrize("name", ["k", "beta", "epsilon"])
def test_an_argument_that_is_not_a_number_in_range_is_refused_by_name(name: str, wrong: Any) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be"):
        exact_delta(**({"k": 5, "beta": 0.1, "epsilon": 1} | {name: wrong}))


@pytest.mark.parametrize(
    ("name", "wrong"), [("k", 0), ("k", 1.5), ("k", "1e9999"), ("beta", 1.1), ("beta", "1.0000000001")]
)
def test_a_number_out_of_range_is_refused_with_the_range(name: str, wrong: Number) -> None:
    with pytest.raises(ValueError, match=rf"^{name} must be .*\[.*\]"):
        exact_delta(**({"k": 5, "beta": 0.1, "epsilon": 1} | {name: wrong}))
