"""Baselines compared with enumerations of tiny populations."""

import math
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.accounting.pso import baseline
from crowdgate.accounting.pso_baselines import baseline_up_to, best_baseline, finite_baseline
from tests.examples import examples
from tests.oracles.pso_high import high_baseline


@settings(deadline=None, derandomize=True)
@given(n=st.integers(1, 10**6), w_max=st.floats(1e-12, 1), share=st.floats(0, 1))
def test_no_weight_up_to_the_greatest_does_better(n: int, w_max: float, share: float) -> None:
    best = best_baseline(n, w_max)
    assert best >= baseline(n, w_max * share) * (1 - 1e-12)
    assert best == pytest.approx(baseline(n, min(w_max, 1 / n)), rel=1e-9)
    high = high_baseline(n, w_max)
    assert high >= baseline(n, w_max + share * (1 - w_max)) * (1 - 1e-12)
    assert max(best, high) >= (1 - 1 / n) ** (n - 1) * (1 - 1e-9)


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(n=st.integers(1, 120), w_max=st.floats(0.006, 1))
def test_no_fewer_rows_do_better(n: int, w_max: float) -> None:
    every = [best_baseline(rows, w_max) for rows in range(1, n + 1)]
    assert baseline_up_to(n, w_max) == pytest.approx(max(every), rel=1e-12)


def test_a_bound_on_the_rows_alone_does_not_bound_the_baseline() -> None:
    assert best_baseline(10**4, 1e-4) == pytest.approx(0.36789783, rel=1e-7)
    assert baseline(50_000, 1e-4) == pytest.approx(0.034, abs=5e-4)
    assert baseline_up_to(50_000, "1e-4") == best_baseline(10**4, "1e-4")
    assert baseline_up_to(5, 0) == best_baseline(5, 0) == 0
    assert baseline_up_to(5, 1) == 1


def played(shares: list[Fraction], n: int) -> Fraction:
    """Return the probability that exactly one of n rows matches, over all samples: row r of the population matches with
    shares[r]."""
    samples = list(combinations(shares, n))
    alone = (
        share * math.prod(1 - other for j, other in enumerate(rows) if j != i)
        for rows in samples
        for i, share in enumerate(rows)
    )
    return sum(alone, Fraction(0)) / len(samples)


@settings(max_examples=examples(150), deadline=None, derandomize=True)
@given(parts=st.lists(st.fractions(0, 1, max_denominator=12), min_size=1, max_size=7), rows=st.integers(1, 7))
def test_no_predicate_on_rows_and_tags_beats_the_finite_baseline(parts: list[Fraction], rows: int) -> None:
    n = min(rows, len(parts))
    weight = sum(parts, Fraction(0)) / len(parts)
    assert played(parts, n) <= Fraction(finite_baseline(n, len(parts), weight))


@pytest.mark.parametrize("everyone", [1, 2, 3, 5, 7])
def test_whole_rows_and_a_share_of_one_more_reach_the_finite_baseline(everyone: int) -> None:
    for n in range(1, everyone + 1):
        for matching in (Fraction(i, 6) for i in range(6 * everyone + 1)):
            used = min(matching, Fraction(everyone // n))
            shares = [min(Fraction(1), max(Fraction(0), used - row)) for row in range(everyone)]
            found = finite_baseline(n, everyone, matching / everyone)
            assert float(played(shares, n)) == pytest.approx(found, rel=1e-12)


def test_without_replacement_small_weights_lose_nothing_and_the_whole_population_is_certain() -> None:
    assert finite_baseline(299_285, 299_285, Fraction(1, 299_285)) == 1
    assert finite_baseline(10_000, 299_285, "5e-7") == pytest.approx(0.005, rel=1e-15)
    assert finite_baseline(1000, 32_561, 0.001) == pytest.approx(0.3739, abs=5e-5)


@pytest.mark.parametrize("w", [1e-6, 3e-4, 1e-3, 0.2])
def test_a_large_population_is_like_one_with_replacement(w: float) -> None:
    large = finite_baseline(1000, 10**9, w)
    assert large == pytest.approx(best_baseline(1000, w), rel=2e-6)
    assert large >= best_baseline(1000, w) * (1 - 1e-12)


def test_a_sample_larger_than_its_population_is_refused() -> None:
    with pytest.raises(ValueError, match="n must be"):
        finite_baseline(11, 10, 0.1)
