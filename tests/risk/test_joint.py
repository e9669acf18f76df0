"""Joint tables from tables of some attributes."""

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.risk.joint import KnownMargin, fitted, margin, shrunk
from tests.examples import examples

Floats = npt.NDArray[np.float64]


def exact(joint: Floats, axes: tuple[int, ...]) -> KnownMargin:
    counts = joint.sum(axis=tuple(at for at in range(joint.ndim) if at not in axes))
    return KnownMargin({at: np.arange(joint.shape[at]) for at in axes}, counts, np.zeros(counts.shape))


def two_way(joint: Floats) -> list[KnownMargin]:
    ways = [way for size in (1, 2) for way in combinations(range(joint.ndim), size)]
    return [exact(joint, way) for way in ways]


@st.composite
def joints(draw: st.DrawFn) -> Floats:
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=2, max_size=3)))
    size = int(np.prod(shape))
    cells = draw(st.lists(st.integers(0, 50), min_size=size, max_size=size))
    return np.array(cells, dtype=np.float64).reshape(shape) + 0.5


@settings(max_examples=examples(20), deadline=None)
@given(joint=joints())
def test_a_fit_has_the_margins_that_it_was_given(joint: Floats) -> None:
    found = fitted(np.ones(joint.shape), two_way(joint))
    assert (found >= 0).all()
    for table in two_way(joint):
        assert margin(found, table) == pytest.approx(table.counts, abs=0.02 * joint.sum() / joint.size + 0.01)


def test_what_two_attributes_tell_is_told_whole_where_three_have_no_relation_of_their_own() -> None:
    draws = np.random.default_rng(5)
    pairs = [np.exp(draws.normal(0, 1, (3, 4, 2))).mean(axis=at, keepdims=True) for at in range(3)]
    joint = 1000 * pairs[0] * pairs[1] * pairs[2]
    found = fitted(np.ones(joint.shape), two_way(joint))
    assert found == pytest.approx(joint, rel=0.002)
    independent = fitted(np.ones(joint.shape), [exact(joint, (at,)) for at in range(3)])
    assert np.abs(independent / joint - 1).max() > 0.05


def test_a_table_at_a_coarser_level_leaves_the_base_within_its_groups() -> None:
    base = np.array([[1.0, 1.0], [3.0, 3.0], [2.0, 2.0]])
    coarse = KnownMargin(
        {0: np.array([0, 0, 1]), 1: np.arange(2)}, np.array([[8.0, 80.0], [5.0, 50.0]]), np.zeros((2, 2))
    )
    assert fitted(base, [coarse]) == pytest.approx(np.array([[2.0, 20], [6, 60], [5, 50]]))


@settings(max_examples=examples(20), deadline=None)
@given(joint=joints(), deviation=st.floats(1, 1e4))
def test_shrinking_moves_towards_what_is_expected_and_never_below_0(joint: Floats, deviation: float) -> None:
    expected = np.full(joint.shape, joint.mean())
    table = KnownMargin(
        {at: np.arange(size) for at, size in enumerate(joint.shape)}, joint, np.full(joint.shape, deviation**2)
    )
    found = shrunk(table, expected)
    assert (found >= 0).all()
    between = (np.minimum(joint, expected) - 1e-9 <= found) & (found <= np.maximum(joint, expected) + 1e-9)
    assert between.all()
    assert shrunk(KnownMargin(table.axes, joint, np.zeros(joint.shape)), expected) == pytest.approx(joint)


def test_counts_that_noise_alone_explains_are_left_to_what_is_expected() -> None:
    expected = np.full(4000, 1000.0)
    noisy = expected + np.random.default_rng(1).normal(0, 50, 4000)
    near = shrunk(KnownMargin({0: np.arange(4000)}, noisy, np.full(4000, 2500.0)), expected)
    # the share of noise in 4,000 squared distances is 1 within four of its standard deviations, .022
    assert np.abs(near - expected).max() <= 0.09 * np.abs(noisy - expected).max()
    far = expected + np.where(np.arange(4000) % 2, 900.0, -900.0)
    kept = shrunk(KnownMargin({0: np.arange(4000)}, far, np.full(4000, 2500.0)), expected)
    assert np.abs(kept - far).max() <= 900 * 2500 / 900**2 * 1.01
