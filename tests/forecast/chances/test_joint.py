"""The probability that all gates pass: from the same draws of a release, not a product."""

from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from crowdgate.forecast.chances.joint import DRAWS, LOST, GateDraw, joint_probability
from crowdgate.kind.pass_probability import PassProbability


def gate(value: float, beyond: Sequence[float] = (), outcomes: Sequence[bool] = ()) -> GateDraw:
    odds = PassProbability(value, value, value, tuple(outcomes))
    return GateDraw(odds, {str(run): each for run, each in enumerate(beyond)})


def near(expected: float) -> object:
    """Return what is within four standard errors of a probability by N = DRAWS draws: a false alarm has probability
    6e-5 for a seed. The products that the tests exclude are 15 standard errors away or more."""
    return pytest.approx(expected, abs=4 * (expected * (1 - expected) / DRAWS) ** 0.5)


def test_independent_gates_multiply() -> None:
    assert joint_probability([gate(0.5), gate(0.4), gate(1.0)]) == pytest.approx(0.2)
    assert joint_probability([]) == 1
    assert joint_probability([gate(0.3, (1, 2, 4))]) == pytest.approx(0.3)


def test_two_limits_on_one_number_are_one_draw() -> None:
    """The wider limit adds nothing; limits on both sides leave what lies between them."""
    rows = [3.0, -1, 0, 5]
    below = [gate(0.4, rows), gate(0.7, [each - 2 for each in rows])]
    between = [gate(0.8, rows), gate(0.5, [-each for each in rows])]
    assert joint_probability(below) == near(0.4)
    assert joint_probability(between) == near(0.3)


@pytest.mark.parametrize("correlation", [-0.8, 0.0, 0.8])
def test_correlated_distances_have_the_law_of_two_normal_numbers(correlation: float) -> None:
    """400 runs have exactly this correlation, which is shrunk by LOST of 400 runs."""
    one, noise = stats.norm.ppf((np.arange(400) + 0.5) / 400), np.random.default_rng(1).permutation(400)
    other = one[noise] - one * float(one @ one[noise]) / float(one @ one)
    other *= float(np.linalg.norm(one) / np.linalg.norm(other))
    mixed = correlation * one + (1 - correlation**2) ** 0.5 * other
    limits = stats.norm.ppf([0.2, 0.6])
    shrunk = correlation * (1 - LOST / 400)
    expected = float(stats.multivariate_normal([0, 0], [[1, shrunk], [shrunk, 1]]).cdf(limits))
    assert joint_probability([gate(0.2, one.tolist()), gate(0.6, mixed.tolist())]) == near(expected)


def test_few_runs_show_no_correlation() -> None:
    assert joint_probability([gate(0.5, (1, 2)), gate(0.5, (2, 1))]) == near(0.25)


def test_simulated_releases_are_the_same_for_all_gates() -> None:
    """The product of .5 and .5 would be .25; the same ten releases say 5 and 0 of ten."""
    half = [True] * 5 + [False] * 5
    other = [not each for each in half]
    assert joint_probability([gate(0.5, outcomes=half), gate(0.5, outcomes=half)]) == pytest.approx(5.5 / 11)
    assert joint_probability([gate(0.5, outcomes=half), gate(0.5, outcomes=other)]) == pytest.approx(0.5 / 11)
    assert joint_probability([gate(0.5, outcomes=half), gate(0.4)]) == pytest.approx(0.2)
