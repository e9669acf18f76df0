"""Distances to the uniform law."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.risk.bins import Bins
from crowdgate.risk.kl import collision_excess, kl_to_uniform


@settings(max_examples=60, deadline=None)
@given(counts=st.lists(st.integers(0, 50), min_size=1, max_size=12).filter(any))
def test_both_distances_are_their_sums_over_all_bins(counts: list[int]) -> None:
    p, n = np.array(counts) / sum(counts), len(counts)
    some = p[p > 0]
    bins = Bins.from_counts(counts)
    assert kl_to_uniform(bins) == pytest.approx(float((some * np.log(some * n)).sum()), abs=1e-13)
    assert collision_excess(bins) == pytest.approx(float((n * p**2).sum() - 1) / 2, abs=1e-13)
    assert 0 <= kl_to_uniform(bins) <= min(math.log(n), math.log1p(2 * collision_excess(bins))) + 1e-13
