"""Noise on vectors: the scale meets the privacy budget, OpenDP's own map agrees, integers only."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from crowdgate import noise
from crowdgate.accounting.discrete_laws import DiscreteGaussian, DiscreteLaplace, Law
from crowdgate.arrays import Integers
from crowdgate.noise import VectorNoise, gaussian_vector, laplace_vector
from tests.examples import examples

budgets = st.fractions(Fraction(1, 1000), 30, max_denominator=10**6)


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(sensitivity=st.integers(1, 500), budget=budgets)
@example(3, Fraction(1, 3))
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_the_scale_is_never_below_what_the_budget_asks_for_and_hardly_above(
    kind: str, sensitivity: int, budget: Fraction
) -> None:
    import opendp.prelude as dp

    scales: list[float] = []
    name = f"make_{kind}"
    real = getattr(dp.m, name)

    def recorded(*args: Any, scale: float) -> Any:
        scales.append(scale)
        return real(*args, scale=scale)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dp.m, name, recorded)
        make = noise._laplace_on_vectors if kind == "laplace" else noise._gaussian_on_vectors
        mechanism = make.__wrapped__(sensitivity, budget)  # made anew, not the one that is kept
    used = Fraction(scales[-1])
    least = sensitivity / budget if kind == "laplace" else Fraction(sensitivity**2) / (2 * budget)
    reached = used if kind == "laplace" else used**2
    assert least <= reached <= least * (1 + Fraction(1, 10**12))
    assert Fraction(mechanism.map(sensitivity)) <= budget


def test_a_scale_that_is_not_the_plans_is_an_error_not_a_search() -> None:
    import opendp.prelude as dp

    with pytest.raises(AssertionError, match="the plan is wrong"):
        noise._least_scale(dp.m.make_laplace, dp.l1_distance(T=dp.i64), 1.0, 2, Fraction(1))


@pytest.mark.parametrize("draw", [laplace_vector, gaussian_vector])
def test_the_shape_stays_and_the_input_is_not_changed(draw: VectorNoise) -> None:
    values = np.arange(6, dtype=np.int64).reshape(2, 3)
    values.flags.writeable = False
    out = draw(values, 1, Fraction(10**4))
    assert out.shape == (2, 3)
    assert out.dtype == np.int64
    assert (out == values).all()
    assert draw(np.zeros((0, 2), dtype=np.int64), 1, Fraction(1)).shape == (0, 2)
    assert draw(np.array(7), 1, Fraction(10**4)) == 7


@pytest.mark.parametrize("draw", [laplace_vector, gaussian_vector])
@pytest.mark.parametrize(("sensitivity", "budget"), [(0, "1"), (1, "0"), (1, "-1")])
def test_a_sensitivity_below_one_or_no_budget_is_refused(draw: VectorNoise, sensitivity: int, budget: str) -> None:
    with pytest.raises(ValueError, match="sensitivity must be at least 1"):
        draw(np.zeros(1, dtype=np.int64), sensitivity, Fraction(budget))


@pytest.mark.parametrize("kind", [np.float64, np.int32, np.bool_])
def test_anything_but_integers_of_64_bits_is_refused(kind: Any) -> None:
    for draw in (laplace_vector, gaussian_vector):
        with pytest.raises(ValueError, match="64-bit integers"):
            draw(np.zeros(2, dtype=kind), 1, Fraction(1))


# OpenDP cannot be seeded. N = 50,000 draws; exact two-sided binomial tests of P(0), P(> 0), P(> q) and P(> 2q) at
# 2.5e-7 each: false-alarm rate at most 1e-6. Power against half the scale above 1 - 1e-9: P(0) nearly doubles, more
# than 40 standard errors.
@pytest.mark.thorough
@pytest.mark.statistical
@pytest.mark.parametrize(
    ("draw", "law", "budget"),
    [
        (laplace_vector, DiscreteLaplace(Fraction(6)), Fraction(1, 2)),
        (gaussian_vector, DiscreteGaussian(Fraction(30)), Fraction(9, 60)),
    ],
)
def test_the_noise_follows_its_law_and_half_the_scale_is_refuted(draw: VectorNoise, law: Law, budget: Fraction) -> None:
    q = round(math.sqrt(law.variance))

    def smallest(values: Integers) -> float:
        events = [(law.mass(0), values == 0), *((law.tail(t), values > t) for t in (0, q, 2 * q))]
        return min(binomtest(int(seen.sum()), len(values), p).pvalue for p, seen in events)

    zeros = np.zeros(50_000, dtype=np.int64)
    assert smallest(draw(zeros, 3, budget)) > 2.5e-7
    assert smallest(draw(zeros, 3, budget * (2 if draw is laplace_vector else 4))) < 1e-9
