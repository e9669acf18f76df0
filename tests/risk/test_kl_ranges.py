"""Joint range of the figures: of all small tables, where limits are reached, and both ways through the curves."""

from collections.abc import Sequence
from itertools import combinations_with_replacement
from math import log, log1p

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.risk.bins import Bins
from crowdgate.risk.kl import collision_excess, kl_to_uniform
from crowdgate.risk.kl_ranges import (
    greatest_collision,
    least_collision,
    least_kl,
    least_of_rows,
    most_collision,
    most_kl,
)


def figures(held: Sequence[float], bins: int) -> tuple[float, float]:
    found = Bins.from_counts(np.array(held, dtype=float), bins - len(held))
    return kl_to_uniform(found), collision_excess(found)


def test_every_small_table_lies_between_the_curves_and_above_what_its_rows_allow() -> None:
    """All tables of up to 7 rows in up to 6 bins."""
    for bins in range(1, 7):
        for rows in range(1, 8):
            found = []
            for places in combinations_with_replacement(range(bins), rows):
                held = [places.count(each) for each in set(places)]
                kl, collision = figures(held, bins)
                assert least_kl(collision, bins) <= kl + 1e-12
                assert kl <= most_kl(collision, bins) + 1e-12 <= log1p(2 * collision) + 2e-12
                found.append((kl, collision))
            assert [min(each) for each in zip(*found, strict=True)] == pytest.approx(
                least_of_rows(rows, bins), abs=1e-12
            )


@given(st.lists(st.floats(1e-9, 1), min_size=1, max_size=8), st.integers(0, 10**6))
def test_every_law_lies_between_the_curves(shares: list[float], empty: int) -> None:
    bins = len(shares) + empty
    kl, collision = figures(shares, bins)
    assert least_kl(collision, bins) - 1e-9 <= kl <= most_kl(collision, bins) + 1e-9


@pytest.mark.parametrize("bins", [2, 3, 40, 1000, 10**6])
def test_both_curves_are_reached(bins: int) -> None:
    for large in (0.1, 0.5, 0.99):
        share = 1 / bins + large * (1 - 1 / bins)
        law = Bins(np.array([(1 - share) / (bins - 1), share]), np.array([bins - 1.0, 1.0]))
        assert least_kl(collision_excess(law), bins) == pytest.approx(kl_to_uniform(law), abs=1e-9)
    for alike in {1, bins // 2, bins - 1}:
        for rest in (0.0, 0.3, 0.9):
            law = Bins.from_counts(np.array([1.0] * min(alike, 50) + [rest] * (rest > 0)), 0)
            cells = int(law.cells) + bins
            law = Bins(law.probabilities, law.counts, bins)
            assert most_kl(collision_excess(law), cells) == pytest.approx(kl_to_uniform(law), abs=1e-9)


@given(st.sampled_from([1, 2, 3, 40, 10**6, 10**18]), st.floats(0, 1))
def test_the_inverse_curves_lead_back(bins: int, part: float) -> None:
    kl = part * log(bins)
    low, high = least_collision(kl, bins), most_collision(kl, bins)
    assert 0 <= low <= high * (1 + 1e-12) + 1e-12
    assert high <= greatest_collision(bins)
    assert most_kl(low, bins) == pytest.approx(kl, abs=1e-9)
    assert least_kl(high, bins) == pytest.approx(kl, abs=1e-9)
