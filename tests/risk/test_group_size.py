"""Group sizes with few singletons, and the best size for a cost of each group."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.risk import approximations
from crowdgate.risk.bins import Bins
from crowdgate.risk.group_size import best_group_size, least_group, singleton_share
from tests.examples import examples

parts = st.lists(st.integers(0, 30), min_size=1, max_size=8).filter(any)


@settings(max_examples=examples(40), deadline=None, derandomize=True)
@given(counts=parts, share=st.fractions(0, 1, max_denominator=50), cost=st.fractions(0, 20, max_denominator=7))
def test_group_sizes_are_the_least_and_the_best_of_all(counts: list[int], share: Fraction, cost: Fraction) -> None:
    bins, most = Bins.from_counts(counts), 60
    alone = {k: singleton_share(bins, k) for k in range(1, most + 1)}
    enough = [k for k, value in alone.items() if value <= float(share)]
    assert least_group(bins, share, most) == (enough[0] if enough else None)
    worth = {k: value - float(cost) / k for k, value in alone.items()}
    assert worth[best_group_size(bins, cost, most)] == pytest.approx(max(worth.values()), abs=1e-11)


@pytest.mark.parametrize(("cost", "best"), [(0, 1), (1, 10), (10, 37)])
def test_the_best_group_size_is_that_of_example_5_6(cost: int, best: int) -> None:
    """Koot prints 38 at cost 10, by exp(-k/N) for the share of singletons."""
    assert best_group_size(Bins.uniform(95), cost, 10**6) == best == approximations.optimal_k(95, cost)
