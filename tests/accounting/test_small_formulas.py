"""Amplification, sensitivity and membership."""

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crowdgate.accounting.amplification import amplified_again, amplify
from crowdgate.accounting.membership import greatest_precision
from crowdgate.accounting.numbers import Number
from crowdgate.accounting.sensitivity import expected_kept_rows
from tests.accounting.tiny import MECHANISMS, Laws, least_delta, on_a_sample
from tests.accounting.truth import real
from tests.accounting.vectors import Entry, is_rounded_up, of
from tests.examples import examples


@of("amplify")
def test_amplification_has_its_reference_values(entry: Entry) -> None:
    i = entry["inputs"]
    for value, expected in zip(amplify(i["eps"], i["delta"], i["beta"]), entry["expected"], strict=True):
        assert is_rounded_up(value, expected, 1e-12)


@settings(deadline=None, derandomize=True)
@given(masses=st.lists(st.floats(0.01, 1), min_size=4, max_size=4), beta=st.floats(0, 1))
def test_amplification_holds_for_every_two_point_mechanism(masses: list[float], beta: float) -> None:
    """Without the row the output is 1 with probability p, with it with probability q; it is sampled with beta."""
    p, q = masses[0] / (masses[0] + masses[1]), masses[2] / (masses[2] + masses[3])
    epsilon = max(abs(math.log(p / q)), abs(math.log((1 - p) / (1 - q))))
    mixed = (1 - beta) * p + beta * q
    amplified, delta = amplify(epsilon * (1 + 1e-12) + 1e-12, 0, beta)
    assert delta == 0
    assert max(abs(math.log(mixed / p)), abs(math.log((1 - mixed) / (1 - p)))) <= amplified + 1e-14


POWERS = st.one_of(st.floats(-320, -300), st.floats(-30, 0)).map(lambda power: 10.0**power)
RATES = st.one_of(POWERS, st.integers(1, 99).map(lambda part: Fraction(part, 10**324)), st.fractions(0, 1))
EPSILONS = st.one_of(POWERS, st.fractions(0, 40), st.floats(40, 10**6), st.floats(699, 760))


@settings(max_examples=examples(400), deadline=None, derandomize=True)
@given(epsilon=EPSILONS, delta=RATES, beta=RATES)
def test_what_sampling_leaves_is_never_rounded_down(
    epsilon: float | Fraction, delta: float | Fraction, beta: float | Fraction
) -> None:
    """Not by half a last bit: compared with forty digits, without slack. If floats are sparse, not to 0 either."""
    found, spent = amplify(epsilon, delta, beta)
    with mp.workdps(700):  # e^epsilon - 1 and ln(1 + x) down to 1e-640
        e, b = (mp.mpf(Fraction(each).numerator) / Fraction(each).denominator for each in (epsilon, beta))
        assert mp.mpf(found) >= mp.log(1 + b * (mp.exp(e) - 1)) * (1 - mp.mpf(10) ** -40)
    assert Fraction(spent) >= Fraction(delta) * Fraction(beta)


@settings(deadline=None, derandomize=True)
@given(MECHANISMS, st.fractions(0, 1, max_denominator=50), st.fractions(1, 4, max_denominator=20))
def test_amplification_holds_for_every_mechanism_of_three_outcomes_on_three_rows(
    laws: Laws, beta: Fraction, growth: Fraction
) -> None:
    """Both directions of all pairs of tables, in whole fractions."""
    delta, more = least_delta(laws, growth), 1 + beta * (growth - 1)
    assert least_delta(on_a_sample(laws, beta), more) <= beta * delta
    epsilon, spent = amplify(math.log(growth), delta, beta)
    assert epsilon == pytest.approx(math.log(more), abs=1e-12)
    assert spent == pytest.approx(float(beta * delta))


@pytest.mark.parametrize("beta", ["1e-12", "3e-20", "0.1"])
def test_an_epsilon_that_floats_hold_with_few_digits_is_rounded_up_too(beta: str) -> None:
    """1e-300 at beta 1e-12: a product in floats is off by a part in 10^12, towards no cost."""
    for exponent in range(280, 320):
        again = amplified_again(f"1e-{exponent}", beta)
        assert Fraction(f"1e-{exponent}") * Fraction(beta) <= again <= Fraction(amplify(f"1e-{exponent}", 0, beta)[0])


def test_amplification_by_keeping_everything_or_nothing_is_exact() -> None:
    assert amplify(2, Fraction(1, 3), 1)[0] == pytest.approx(2, rel=1e-14)
    assert amplify(10**6, 1, 0) == (0, 0)
    assert amplify(10**6, 0, 0.5)[0] == pytest.approx(10**6 - math.log(2), rel=1e-12)


@given(epsilon=st.floats(30, 690), share=st.fractions(0, 1), tenfold=st.integers(0, 2), bits=st.fractions("0.1", 8))
@example(epsilon=650.3, share=Fraction(1, 3), tenfold=2, bits=Fraction(1))
@example(epsilon=690.0, share=Fraction(0), tenfold=0, bits=Fraction(7, 5))
def test_amplification_is_never_rounded_down(epsilon: float, share: Fraction, tenfold: int, bits: Fraction) -> None:
    """A part of the last bit of epsilon matters if beta e^epsilon is about 1, and of beta if floats are sparse."""
    exact = Fraction(epsilon) + share * Fraction(math.ulp(epsilon)) / 2
    for beta in (Fraction(math.exp(-epsilon)) / 10**tenfold, bits * Fraction(math.ulp(0.0))):
        found, delta = amplify(exact, share, beta)
        with mp.workdps(60):
            assert found >= mp.log1p(real(beta) * mp.expm1(real(exact)))
        assert Fraction(delta) >= share * beta


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(k=st.integers(1, 12), beta=st.floats(0.05, 1))
def test_the_sensitivity_of_kept_rows_is_the_greatest_step_over_class_sizes(k: int, beta: float) -> None:
    def kept(n: int) -> float:
        return math.fsum(j * math.comb(n, j) * beta**j * (1 - beta) ** (n - j) for j in range(k, n + 1))

    steps = [kept(n + 1) - kept(n) for n in range(int(2 * k / beta) + 5)]
    assert expected_kept_rows(k, beta) == pytest.approx(max(steps), rel=1e-8)
    assert expected_kept_rows(k, beta) >= max(steps) * (1 - 1e-9)


@pytest.mark.parametrize(("k", "beta", "rows"), [(35, 0.5, 1.91), (58, 0.5, 2.39), (35, 0.1, 0.30)])
def test_the_sensitivity_of_kept_rows_is_far_below_k(k: int, beta: float, rows: float) -> None:
    assert expected_kept_rows(k, beta) == pytest.approx(rows, abs=0.005)


def test_the_sensitivity_of_kept_rows_has_exact_ends() -> None:
    assert expected_kept_rows(9, 0) == 0
    assert expected_kept_rows(9, 1) == 9
    assert expected_kept_rows(1, 0.25) == 0.25


@pytest.mark.parametrize(("skew", "precision"), [(1, 0.731), (30, 0.083), (240, 0.0112)])
def test_membership_precision_is_bounded_by_epsilon(skew: float, precision: float) -> None:
    assert greatest_precision(1, 0, 0.4, skew) == pytest.approx(precision, abs=5e-4)


@settings(deadline=None, derandomize=True)
@given(
    epsilon=st.floats(0, 5),
    delta=st.floats(0, 1),
    fpr=st.floats(0, 1),
    share=st.floats(0.001, 1),
    skew=st.floats(0, 1e4),
)
def test_no_attack_allowed_by_the_guarantee_exceeds_the_precision(
    epsilon: float, delta: float, fpr: float, share: float, skew: float
) -> None:
    tpr = min(1, math.exp(epsilon) * fpr + delta) * share
    if tpr > 0:
        assert tpr / (tpr + skew * fpr) <= greatest_precision(epsilon, delta, tpr, skew) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("call", "arguments", "name"),
    [
        (amplify, (-1, 0, 0.5), "epsilon"),
        (amplify, (1, 2, 0.5), "delta"),
        (amplify, (1, 0, 1.5), "beta"),
        (expected_kept_rows, (0, 0.5), "k"),
        (expected_kept_rows, (5, "nan"), "beta"),
        (greatest_precision, (1, 0, 0, 1), "tpr"),
    ],
)
def test_an_argument_out_of_range_is_refused_by_name(
    call: Callable[..., object], arguments: tuple[Number, ...], name: str
) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be"):
        call(*arguments)
