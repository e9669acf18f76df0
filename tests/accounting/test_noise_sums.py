"""Coverage of intervals of stated width for each weighted sum of noise: compared with exact distributions of sums."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from crowdgate.accounting.discrete_laws import DiscreteGaussian, DiscreteLaplace, Law
from crowdgate.accounting.noise_sums import log_concave_quantile, width
from tests.examples import examples

Floats = np.ndarray
SCALES = st.sampled_from(["0.2", "0.4", "0.8", "1", "1.5", "3", "8", "20"])


def law(kind: str, scale: str) -> Law:
    return DiscreteLaplace(Fraction(scale)) if kind == "laplace" else DiscreteGaussian(Fraction(scale) ** 2)


def masses(own: Law) -> Floats:
    """Return the masses of -q, ..., q, up to 1e-12."""
    q = own.half_width(1 - 1e-12)
    found: Floats = np.array([own.mass(abs(x)) for x in range(-q, q + 1)])
    return found


def coverage(laws: Sequence[Law], weights: Sequence[int], half: float) -> float:
    """Return P(|sum of weights times noise| <= half), exactly, for whole weights."""
    total = np.ones(1)
    for own, weight in zip(laws, weights, strict=True):
        wide = np.zeros((len(masses(own)) - 1) * weight + 1)
        wide[::weight] = masses(own)
        total = np.convolve(total, wide)
    middle = len(total) // 2
    return float(total[np.abs(np.arange(len(total)) - middle) <= half].sum())


def half_of(laws: Sequence[Law], weights: Sequence[int], multiple: float) -> float:
    return multiple * math.sqrt(sum(w * w * own.variance for own, w in zip(laws, weights, strict=True)))


@settings(max_examples=examples(150), deadline=None, derandomize=True)
@given(
    kind=st.sampled_from(["laplace", "gaussian"]),
    parts=st.lists(st.tuples(SCALES, st.integers(1, 12)), min_size=1, max_size=5),
    miss=st.sampled_from([0.05, 0.01, 1e-4]),
)
def test_every_weighted_sum_is_held(kind: str, parts: list[tuple[str, int]], miss: float) -> None:
    laws, weights = [law(kind, scale) for scale, _ in parts], [weight for _, weight in parts]
    assert coverage(laws, weights, half_of(laws, weights, float(width(laws, len(laws), miss)))) >= 1 - miss


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", ["0.15", "0.25", "0.3", "0.5", "0.7", "1", "2", "5", "30", "100"])
def test_one_noise_alone_is_held_and_some_is_missed_by_1_96(kind: str, scale: str) -> None:
    own = law(kind, scale)
    assert coverage([own], [1], half_of([own], [1], float(width([own], 1)))) >= 0.95
    if kind == "laplace" and scale in ("2", "30", "100"):
        assert coverage([own], [1], half_of([own], [1], 1.96)) < 0.945


def test_the_width_falls_to_that_of_continuous_noise() -> None:
    """2.17 covers any symmetric log-concave distribution; a single Laplace noise needs ln(20) / sqrt(2) = 2.118."""
    laplace = [width([DiscreteLaplace(Fraction(s))], 1000) for s in (1, 10, 100, 10_000)]
    gaussian = [width([DiscreteGaussian(Fraction(s * s))], 1000) for s in (1, 10, 100, 10_000)]
    assert laplace == sorted(laplace, reverse=True)
    assert gaussian == sorted(gaussian, reverse=True)
    assert math.log(20) / math.sqrt(2) < laplace[-1] <= Fraction("2.171")
    assert Fraction("1.96") <= gaussian[-1] <= Fraction("1.962")
    assert width([DiscreteGaussian(Fraction(10_000))], 10**6) > gaussian[2], "more noises leave more room for error"
    assert width([DiscreteLaplace(Fraction(1, 100))], 1) == Fraction("4.473"), "Chebyshev"


def test_other_laws_are_refused() -> None:
    mixed: list[Law] = [DiscreteLaplace(Fraction(1)), DiscreteGaussian(Fraction(1))]
    for laws in ([], mixed):
        with pytest.raises(ValueError, match="laws must be of one kind"):
            width(laws, 1)


@settings(max_examples=examples(100), deadline=None, derandomize=True)
@given(
    slopes=st.lists(st.floats(0, 6), min_size=1, max_size=6),
    lengths=st.lists(st.floats(0.05, 2), min_size=6, max_size=6),
    miss=st.sampled_from([0.2, 0.05, 0.01]),
)
def test_no_symmetric_log_concave_law_has_a_greater_quantile(
    slopes: list[float], lengths: list[float], miss: float
) -> None:
    """Densities whose logarithm falls in straight pieces, ever steeper, from the middle on."""
    x = np.linspace(0, sum(lengths[: len(slopes)]), 20_001)
    steep = np.repeat(sorted(slopes), 1)[np.searchsorted(np.cumsum(lengths[: len(slopes)])[:-1], x, side="right")]
    density = np.exp(-np.concatenate([[0], np.cumsum(steep[:-1] * np.diff(x))]))
    density /= density.sum()
    deviation = math.sqrt(float((density * x * x).sum()))
    quantile = float(x[np.searchsorted(np.cumsum(density), 1 - miss)]) / deviation
    assert quantile <= float(log_concave_quantile(np.array([miss]))[0]) + 1e-3


def test_the_worst_law_is_met_and_the_grid_misses_less_than_its_slack() -> None:
    """An exponential distribution cut off at 2.8 to 4.5 rates has the greatest quantile at .05: 2.16907."""
    rates = np.linspace(2.7, 2.9, 20_001)
    beyond = (np.exp(-rates) - 0.05) / 0.95
    end = -np.log(beyond)
    squares = (2 - beyond * (end**2 + 2 * end + 2)) / (rates**2 * (1 - beyond))
    finest = float((1 / np.sqrt(squares)).max())
    assert finest <= float(log_concave_quantile(np.array([0.05]))[0]) <= finest + 2e-4


def score_coverage(n: int, beta: float, own: Law, multiple: float) -> float:
    """Return P(|y - beta n| <= multiple times its standard deviation), y a binomial number plus noise, exactly."""
    noise, coins = masses(own), binom.pmf(np.arange(n + 1), n, beta)
    total = np.convolve(coins, noise)
    y = np.arange(len(total)) - len(noise) // 2
    half = multiple * math.sqrt(own.variance + n * beta * (1 - beta))
    return float(total[np.abs(y - beta * n) <= half].sum())


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", ["1", "2", "5", "12", "40"])
def test_counts_of_samples_are_held_whatever_their_size(kind: str, scale: str) -> None:
    """A score interval: sampling of any number of people, from 0 on, with noise. Enumerated, not proved."""
    own = law(kind, scale)
    multiple = float(width([own], 1))
    for beta in (0.01, 0.1, 0.3, 0.5, 0.9):
        for n in (0, 1, 2, 3, 5, 8, 13, 30, 70, 200, 1000):
            assert score_coverage(n, beta, own, multiple) >= 0.95
