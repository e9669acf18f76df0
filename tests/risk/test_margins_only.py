"""Bounds hold for each joint distribution with the margins; some distributions reach them."""

from itertools import permutations

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom

from crowdgate.risk.margins_only import share_bounds, singletons_bounds
from tests.examples import examples

Floats = NDArray[np.float64]


def share(joint: Floats, k: int, m: int) -> float:
    p = joint.ravel()
    return float(p @ binom.cdf(m - 1, k - 1, p))


def margins(joint: Floats) -> list[list[float]]:
    axes = range(joint.ndim)
    return [list(joint.sum(axis=tuple(other for other in axes if other != axis))) for axis in axes]


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_every_joint_law_lies_within_the_bounds_of_its_margins(data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    cells = data.draw(st.lists(st.sampled_from([0, 0, 1, 2, 5, 40]), min_size=int(np.prod(shape)), max_size=64))
    table = np.array(cells[: int(np.prod(shape))], dtype=np.float64).reshape(shape)
    joint = table / table.sum() if table.any() else np.full(shape, 1 / table.size)
    k, m = data.draw(st.sampled_from([1, 2, 3, 10, 100])), data.draw(st.sampled_from([1, 2, 5]))
    low, high = share_bounds(margins(joint), k, m)
    assert low - 1e-12 <= share(joint, k, m) <= high + 1e-12


@pytest.mark.parametrize("k", [2, 5, 40])
def test_extreme_joint_laws_lie_within(k: int) -> None:
    rows, columns = [0.5, 0.3, 0.2], [0.6, 0.3, 0.1]
    low, high = singletons_bounds([rows, columns], k)
    for order in permutations(range(3)):
        joint = corner([rows[at] for at in order], columns)
        assert low - 1e-9 <= k * share(joint, k, 1) <= high


def corner(rows: list[float], columns: list[float]) -> Floats:
    """Return a vertex of the joint distributions with these margins, by the north-west corner rule."""
    r, c, joint = list(rows), list(columns), np.zeros((len(rows), len(columns)))
    i = j = 0
    while i < len(r) and j < len(c):
        joint[i, j] = moved = min(r[i], c[j])
        r[i], c[j] = r[i] - moved, c[j] - moved
        i, j = (i + 1, j) if r[i] <= c[j] else (i, j + 1)
    return joint


def test_equal_margins_reach_both_bounds() -> None:
    even = [0.1] * 10
    low, high = singletons_bounds([even, even], 5)
    assert low == pytest.approx(5 * 0.9**4, rel=1e-8)  # all on a diagonal
    assert 5 * 0.99**4 <= high == pytest.approx(5 * 0.99**4, rel=0.01)  # spread evenly


@pytest.mark.parametrize("others", [[], [[1.0]], [[0, 1], [1.0]]])
@pytest.mark.parametrize(("margin", "k"), [([0.5, 0.3, 0.2], 4), ([1.0], 2), ([1 - 2.0**-30, 2.0**-30], 2)])
def test_where_one_margin_varies_there_is_one_law(others: list[list[float]], margin: list[float], k: int) -> None:
    low, high = singletons_bounds([margin, *others], k)
    assert low == high == pytest.approx(sum(k * p * (1 - p) ** (k - 1) for p in margin), rel=1e-14)


def test_what_one_bin_holds_nearly_alone_is_not_above_the_truth() -> None:
    """For two people, one is alone only outside the cell that both share: rounding adds nothing."""
    near = 1 - 2.0**-50
    low, high = singletons_bounds([[near, 1 - near]] * 2, 2)
    together = 4 * near * (1 - near)
    assert low <= together * (1 + 1e-15)
    assert low == pytest.approx(together, rel=1e-8)
    assert together < high


def test_all_people_are_in_groups_of_at_most_all() -> None:
    assert share_bounds([[0.5, 0.5]], 3, 3) == (1, 1)
    assert singletons_bounds([[0.5, 0.5]], 0) == (0, 0)


@pytest.mark.parametrize("m", [1, 2, 5])
def test_bounds_hold_for_more_people_than_a_32_bit_number(m: int) -> None:
    rows, columns, k = [0.5, 0.5 - 1e-9, 1e-9], [0.3, 0.7], 10**10
    with mp.workdps(40):
        cells = [mp.mpf(r) * mp.mpf(c) for r in rows for c in columns]
        few = [sum(mp.binomial(k - 1, i) * p**i * (1 - p) ** (k - 1 - i) for i in range(m)) for p in cells]
        independent = float(mp.fdot(cells, few))
    low, high = share_bounds([rows, columns], k, m)
    assert 0 < low <= independent <= high < 1e-8


@pytest.mark.parametrize("bad", [[], [[]], [[0.5, 0.4]], [[1.5, -0.5]]])
def test_what_are_no_margins_is_refused(bad: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="margins must"):
        singletons_bounds(bad, 3)
