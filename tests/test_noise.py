"""Noise: the discrete Laplace law, never at a smaller scale than epsilon requires, and its exact quantiles."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from crowdgate import noise
from crowdgate.noise import discrete_laplace, laplace_quantile
from tests.examples import examples

epsilons = st.fractions(Fraction(1, 40), 30, max_denominator=10**6)


def tail(q: int, sensitivity: int, epsilon: Fraction) -> mp.mpf:
    """Return P(noise > q), summed term by term."""
    with mp.workdps(30):
        a = mp.exp(-mp.mpf(epsilon.numerator) / epsilon.denominator / sensitivity)
        total, term = mp.mpf(0), (1 - a) / (1 + a) * a ** (q + 1)
        while term > 1e-25:
            total, term = total + term, term * a
        return total


@settings(max_examples=examples(60), deadline=None)
@given(sensitivity=st.integers(1, 4), epsilon=epsilons, alpha=st.floats(1e-9, 0.6))
@example(1, Fraction(1, 10), 0.05)
def test_the_quantile_is_the_least_number_that_noise_exceeds_with_at_most_that_probability(
    sensitivity: int, epsilon: Fraction, alpha: float
) -> None:
    q = laplace_quantile(sensitivity, epsilon, alpha)
    assert q >= 0
    assert tail(q, sensitivity, epsilon) <= alpha
    assert q == 0 or tail(q - 1, sensitivity, epsilon) > alpha * (1 - 1e-6)


def test_where_a_is_one_half_the_tail_is_a_fraction_and_the_quantile_exact() -> None:
    """a = e^(-ln 2) = 1/2: P(noise > q) = 2^-(q + 1) / (3/2)."""
    for q in range(1, 30):
        tail_at = Fraction(2, 3) / 2 ** (q + 1)
        for alpha, expected in ((tail_at * Fraction(101, 100), q), (tail_at * Fraction(99, 100), q + 1)):
            assert laplace_quantile(1, Fraction(math.log(2)), float(alpha)) == expected


@pytest.mark.parametrize(
    ("epsilon", "q"), [("0.1", 23), ("1", 2), ("0.05", 46), ("1000", 0), ("1e6", 0), ("1e-6", 2302585)]
)
def test_quantiles_at_five_percent_have_their_known_values(epsilon: str, q: int) -> None:
    assert laplace_quantile(1, Fraction(epsilon), 0.05) == q


@pytest.mark.parametrize("exponent", [9, 30, 139])
def test_a_tiny_epsilon_has_its_vast_quantile_at_once(exponent: int) -> None:
    q = laplace_quantile(1, Fraction(1, 10**exponent), 0.05)
    assert 0 <= float(Fraction(q, 10**exponent)) / math.log(10) - 1 < 3e-9


@settings(max_examples=examples(60), deadline=None)
@given(sensitivity=st.integers(1, 5), epsilon=epsilons)
@example(1, Fraction(1, 10))
@example(3, Fraction(1, 3))
def test_the_scale_is_never_below_sensitivity_over_epsilon_and_hardly_above(
    sensitivity: int, epsilon: Fraction
) -> None:
    import opendp.prelude as dp

    scales: list[float] = []
    real: Callable[..., Any] = dp.m.make_laplace

    def recorded(*args: Any, scale: float) -> Any:
        scales.append(scale)
        return real(*args, scale=scale)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dp.m, "make_laplace", recorded)
        mechanism = noise._mechanism(sensitivity, epsilon)
    exact = sensitivity / epsilon
    assert exact <= Fraction(scales[-1]) <= exact * (1 + Fraction(1, 10**12))
    assert Fraction(mechanism.map(sensitivity)) <= epsilon


def test_a_mechanism_that_spends_more_than_epsilon_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    import opendp.prelude as dp

    class Mechanism:
        def __init__(self, scale: float) -> None:
            self.scale = scale

        def map(self, sensitivity: int) -> float:
            return sensitivity / self.scale * (1 + 1e-14)

        def __call__(self, count: int) -> float:
            return count + self.scale

    monkeypatch.setattr(dp.m, "make_laplace", lambda *_, scale: Mechanism(scale))
    epsilon = Fraction(1, 10)
    assert Fraction(noise._mechanism(2, epsilon).map(2)) <= epsilon


@pytest.mark.parametrize(("sensitivity", "epsilon"), [(0, "1"), (-1, "1"), (1, "0"), (1, "-1")])
def test_a_sensitivity_below_one_or_an_epsilon_of_zero_is_refused(sensitivity: int, epsilon: str) -> None:
    with pytest.raises(ValueError, match="sensitivity must be at least 1 and epsilon positive"):
        discrete_laplace(0, sensitivity, Fraction(epsilon))


def test_noise_is_added_to_the_count() -> None:
    assert discrete_laplace(1000, 1, Fraction(10**6)) == 1000
    assert type(discrete_laplace(1000, 1, Fraction(1, 10))) is int


SAMPLES = 5000


def refuted(draw: Callable[[], int], scale: float) -> bool:
    """Return whether the draws are too improbable for the discrete Laplace law of that scale."""
    a = math.exp(-1 / scale)
    values = [draw() for _ in range(SAMPLES)]
    least = math.ceil(scale)
    counts = {
        (1 - a) / (1 + a): values.count(0),
        a / (1 + a): sum(value > 0 for value in values),
        a**least / (1 + a): sum(value >= least for value in values),
        a ** (2 * least) / (1 + a) * 2: sum(abs(value) >= 2 * least for value in values),
    }
    return min(binomtest(count, SAMPLES, p).pvalue for p, count in counts.items()) < 1e-6 / len(counts)


# OpenDP cannot be seeded. N = 5,000 draws, four exact two-sided binomial tests at 2.5e-7 each (zero, sign, and two
# tails): false-alarm rate at most 1e-6. Power against half the scale above 1 - 1e-9: at epsilon .5 zeros come with
# probability .46 instead of .24, 35 standard deviations off; at .1 and scale 5 with .0997 instead of .05, 16 off.
@pytest.mark.thorough
@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1, 10)], ids=str)
def test_the_sampler_follows_the_discrete_laplace_law_and_half_the_scale_is_refuted(epsilon: Fraction) -> None:
    right, wrong = noise._mechanism(2, epsilon * 2), noise._mechanism(1, epsilon * 2)
    assert not refuted(lambda: int(right(0)), float(1 / epsilon))
    assert refuted(lambda: int(wrong(0)), float(1 / epsilon))
