"""The expected retained share equals enumeration."""

from fractions import Fraction
from itertools import product
from math import comb, exp, factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.risk.retention import estimate_moments, expected_retained_share, sampled_retention
from tests.examples import examples


def by_enumeration(shares: list[Fraction], people: int, k: int, beta: Fraction) -> Fraction:
    """Return the retained share over all ways to place people in classes, and all samples of each class."""
    kept = Fraction(0)
    for places in product(range(len(shares)), repeat=people):
        chance = Fraction(1)
        for place in places:
            chance *= shares[place]
        for place in range(len(shares)):
            size = places.count(place)
            for j in range(k, size + 1):
                kept += chance * comb(size, j) * beta**j * (1 - beta) ** (size - j) * j
    return kept / (people * beta)


@settings(max_examples=examples(40), deadline=None)
@given(
    weights=st.lists(st.integers(1, 5), min_size=1, max_size=3),
    people=st.integers(1, 5),
    k=st.integers(1, 4),
    beta=st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction(9, 10)]),
)
def test_the_expected_kept_share_equals_enumeration(weights: list[int], people: int, k: int, beta: Fraction) -> None:
    shares = [Fraction(weight, sum(weights)) for weight in weights]
    found = expected_retained_share(np.array([float(share) for share in shares]), people, k, beta)
    # bdtrc is good to about 1e-14; the sums here have at most three positive terms
    assert found == pytest.approx(float(by_enumeration(shares, people, k, beta)), rel=1e-12, abs=1e-15)


def test_fewer_people_than_k_keep_nothing() -> None:
    assert expected_retained_share(np.array([1.0]), 4, 5, "0.5") == 0


def moments_by_enumeration(mean: float, k: int, beta: float) -> tuple[float, float]:
    """Return mean and variance of the truth minus the estimate over each number of people up to 60, and all samples of
    them."""
    first = second = 0.0
    for people in range(61):  # of mean 12 at most: more than 60 people have probability below 1e-20
        chance = exp(-mean) * mean**people / factorial(people)
        for j in range(people + 1):
            sampled = chance * comb(people, j) * beta**j * (1 - beta) ** (people - j)
            missed = people - (j / beta if j >= k else 0)
            first, second = first + sampled * missed, second + sampled * missed**2
    return first, second - first**2


@settings(max_examples=examples(60), deadline=None)
@given(means=st.lists(st.floats(0, 12), min_size=1, max_size=4), k=st.integers(1, 12), beta=st.floats(0.05, 1))
def test_what_an_estimate_misses_and_its_variance_are_those_of_enumeration(
    means: list[float], k: int, beta: float
) -> None:
    missing, variance = estimate_moments(np.array(means), k, beta)
    for at, mean in enumerate(means):
        expected = moments_by_enumeration(mean, k, beta)
        # at most 2,000 terms below 60^2 / beta^2, each with a relative error below 1e-14
        assert (missing[at], variance[at]) == pytest.approx(expected, rel=1e-9, abs=1e-7 / beta**2)


def test_without_suppression_the_error_is_that_of_sampling() -> None:
    missing, variance = estimate_moments(np.array([0.0, 3.0, 1e6]), 1, Fraction(3, 10))
    assert missing == pytest.approx([0, 0, 0], abs=1e-6)
    assert variance == pytest.approx([0, 7, 1e6 * 7 / 3], rel=1e-6)


def stay_by_enumeration(count: int, k: int, beta: float) -> tuple[float, float, float, float]:
    """Return for one class: mean of J 1(J >= k), P(J >= k), mean and variance of count - J 1(J >= k) / beta."""
    first = stays = missed = square = 0.0
    for j in range(count + 1):
        chance = comb(count, j) * beta**j * (1 - beta) ** (count - j)
        kept = j if j >= k else 0
        first, stays = first + chance * kept, stays + chance * (j >= k)
        missed, square = missed + chance * (count - kept / beta), square + chance * (count - kept / beta) ** 2
    return first, stays, missed, square - missed**2


@settings(max_examples=examples(60), deadline=None)
@given(counts=st.lists(st.integers(0, 12), min_size=1, max_size=4), k=st.integers(1, 12), beta=st.floats(0.05, 1))
def test_what_stays_of_known_classes_is_that_of_enumeration(counts: list[int], k: int, beta: float) -> None:
    found = sampled_retention(np.array(counts, dtype=np.float64), k, beta)
    each = [stay_by_enumeration(count, k, beta) for count in counts]
    assert found.classes == pytest.approx(sum(one[1] for one in each), rel=1e-9, abs=1e-12)
    if sum(counts):
        assert found.share == pytest.approx(sum(one[0] for one in each) / (beta * sum(counts)), rel=1e-9, abs=1e-12)
    for at, one in enumerate(each):
        assert (found.missing[at], found.variance[at]) == pytest.approx(one[2:], rel=1e-9, abs=1e-7 / beta**2)


def test_the_deviation_of_the_share_of_known_classes_is_that_of_draws() -> None:
    """2,000 draws: the sample's deviation is within 7 % (more than four of its own) of the expected one."""
    counts = np.array([30, 55, 60, 64, 70, 200, 1000])
    found = sampled_retention(counts.astype(np.float64), 30, 0.5)
    drawn = np.random.default_rng(3).binomial(counts, 0.5, (2000, len(counts)))
    shares = np.where(drawn >= 30, drawn, 0).sum(axis=1) / drawn.sum(axis=1)
    assert found.share_deviation == pytest.approx(shares.std(), rel=0.07)
    assert found.classes_deviation == pytest.approx((drawn >= 30).sum(axis=1).std(), rel=0.07)
