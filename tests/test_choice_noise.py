"""Private choices under zCDP: the scale meets rho, also for scores that rise and fall; the law is Gumbel's."""

from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from crowdgate import noise
from crowdgate.noise import gumbel_max
from tests.examples import examples


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(sensitivity=st.integers(1, 500), rho=st.fractions(Fraction(1, 10**6), 30, max_denominator=10**9))
@example(2, Fraction(1, 3))
def test_the_scale_is_never_below_what_rho_asks_for_and_hardly_above(sensitivity: int, rho: Fraction) -> None:
    """(sensitivity/scale)^2/2 is rho. With monotone scores, half of that would suffice in OpenDP."""
    import opendp.prelude as dp

    scales: list[float] = []
    real: Any = dp.m.make_noisy_max

    def recorded(*args: Any, **named: Any) -> Any:
        scales.append(named["scale"])
        return real(*args, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dp.m, "make_noisy_max", recorded)
        mechanism = noise._choice.__wrapped__(sensitivity, rho)  # made anew, not the one that is kept
    least = Fraction(sensitivity**2) / (2 * rho)
    assert least <= Fraction(scales[-1]) ** 2 <= least * (1 + Fraction(1, 10**12))
    assert rho * (1 - Fraction(1, 10**9)) <= Fraction(mechanism.map(sensitivity)) <= rho


def expected(scores: np.ndarray, sensitivity: int, rho: Fraction) -> np.ndarray:
    odds = scores / (sensitivity / sqrt(2 * rho))
    weights = np.exp(odds - odds.max())
    return np.asarray(weights / weights.sum())


# OpenDP cannot be seeded. N = 10,000 choices of one of four scores, chi-square at 1e-9: the false-alarm rate. Power
# above 1 - 1e-9 against half or twice the scale: the best of the four has .58, and then .77 or .46.
@pytest.mark.thorough
@pytest.mark.statistical
def test_choices_follow_the_exponential_mechanism() -> None:
    scores, sensitivity, rho, number = np.array([3, -40, 9, 6]), 2, Fraction(1, 9), 10_000
    found = np.bincount([gumbel_max(scores, sensitivity, rho) for _ in range(number)], minlength=4)

    def p_value(of: Fraction) -> float:
        kept = [0, 2, 3]
        law = expected(scores, sensitivity, of)[kept]
        return float(chisquare(found[kept], law / law.sum() * found[kept].sum()).pvalue)

    assert found[1] <= 7  # .05 are expected: P(Poisson(.05) > 7) is below 1e-9, also with 20 times as many
    assert p_value(rho) > 1e-9
    assert p_value(4 * rho) < 1e-9
    assert p_value(rho / 4) < 1e-9


@pytest.mark.parametrize(
    ("scores", "sensitivity", "rho", "told"),
    [
        (np.zeros(0, dtype=np.int64), 1, "1", "scores must not be empty"),
        (np.zeros(2, dtype=np.int64), 0, "1", "sensitivity must be at least 1"),
        (np.zeros(2, dtype=np.int64), 1, "0", "rho positive"),
        (np.zeros(2), 1, "1", "64-bit integers"),
    ],
)
def test_what_is_no_choice_is_refused(scores: Any, sensitivity: int, rho: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        gumbel_max(scores, sensitivity, Fraction(rho))


def test_scores_near_the_ends_of_64_bits_are_told_apart() -> None:
    ends = np.array([np.iinfo(np.int64).min, 0, np.iinfo(np.int64).max])
    assert {gumbel_max(ends, 1, Fraction(1)) for _ in range(20)} == {2}
