"""The minimum of convex functions, and behaviour where floats are not finite."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.arrays import Floats
from crowdgate.mechanisms.synthetic.descent import minimum
from tests.examples import examples


def bowl(point: Floats) -> tuple[float, Floats]:
    """Return log(1 + sum exp(a x)) + sum (x - 1)^2 w / 2 and its gradient, with weights w that differ by a factor of a
    thousand."""
    rates, weights = np.linspace(-2, 2, len(point)), np.logspace(-2, 1, len(point))
    with np.errstate(over="ignore", invalid="ignore"):
        terms = np.exp(rates * point)
        value = np.log1p(terms.sum()) + (weights * (point - 1) ** 2).sum() / 2
        return float(value), rates * terms / (1 + terms.sum()) + weights * (point - 1)


@given(st.integers(1, 30), st.integers(0, 99))
@settings(max_examples=examples(30), deadline=None)
def test_at_the_minimum_the_gradient_is_zero(size: int, seed: int) -> None:
    start = np.random.default_rng(seed).normal(0, 3, size)
    assert abs(bowl(minimum(bowl, start, 300, 1e-7))[1]).max() <= 1e-7


@given(st.integers(0, 20), st.integers(0, 99))
@settings(max_examples=examples(30), deadline=None)
def test_more_steps_are_never_worse(steps: int, seed: int) -> None:
    start = np.random.default_rng(seed).normal(0, 3, 12)
    values = [bowl(minimum(bowl, start, most, 0.0))[0] for most in (0, steps, steps + 1)]
    assert values[0] >= values[1] >= values[2]


def test_what_is_not_finite_is_never_stepped_to() -> None:
    def cliff(point: Floats) -> tuple[float, Floats]:
        return (float(-point[0]), np.array([-1.0])) if point[0] < 2 else (-np.inf, np.array([np.nan]))

    found = minimum(cliff, np.zeros(1), 50, 1e-9)
    assert 1 < found[0] < 2


@pytest.mark.parametrize("start", [np.zeros(0), np.full(3, np.nan)])
def test_where_there_is_nothing_to_do_the_start_is_the_answer(start: Floats) -> None:
    np.testing.assert_array_equal(minimum(bowl, start, 5, 1e-9), start)
