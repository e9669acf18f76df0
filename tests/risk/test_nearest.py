"""The distribution that tables determine: known in closed form, compared with long fitting, and refused."""

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.risk import joint, nearest
from crowdgate.risk.joint import KnownMargin
from tests.examples import examples

Floats = npt.NDArray[np.float64]


def pairs(table: Floats) -> list[KnownMargin]:
    """Return each two-way table of a three-way one."""
    found = []
    for way in combinations(range(3), 2):
        counts = table.sum(axis=({0, 1, 2} - {*way}).pop())
        found.append(KnownMargin({at: np.arange(table.shape[at]) for at in way}, counts, np.zeros(counts.shape)))
    return found


def independent(table: Floats) -> Floats:
    """Return independent attributes, with a little probability everywhere."""
    first, second, third = (table.sum(axis=tuple({0, 1, 2} - {at})) / table.sum() for at in range(3))
    law = first[:, None, None] * second[:, None] * third
    return np.asarray(table.sum() * (law * (1 - 1e-9) + 1e-9 / table.size))


shapes = st.tuples(*[st.integers(2, 4)] * 3)


@pytest.mark.thorough
@settings(max_examples=examples(25), deadline=None)
@given(shapes, st.integers(0, 10**6))
def test_it_is_the_law_that_fitting_for_long_comes_to(shape: tuple[int, int, int], seed: int) -> None:
    table = np.random.default_rng(seed).gamma(0.5, 1000, shape) + 1
    found = nearest.nearest(independent(table), pairs(table))
    law, tables = independent(table), pairs(table)
    for _ in range(3000):
        for each in tables:
            law *= joint.spread(each.counts / joint.margin(law, each), each, law.shape)
    assert found is not None
    assert np.abs(found - law / law.sum()).sum() <= 1e-11


def test_sixty_rounds_of_fitting_alone_do_not_come_to_it() -> None:
    """Sparse two-way tables, for which .1 % of the people were in other cells."""
    draws = np.random.default_rng(9)
    shares = draws.gamma(0.05, 1, (8, 8, 8))
    table = draws.multinomial(10**5, (shares / shares.sum()).ravel()).reshape(8, 8, 8).astype(float)
    found = nearest.nearest(independent(table), pairs(table))
    rough = joint.fitted(independent(table), pairs(table))
    assert found is not None
    assert np.abs(found - rough / rough.sum()).sum() > 1e-6
    for each in pairs(table):
        assert joint.margin(found, each) == pytest.approx(each.counts / 1e5, abs=1e-12)


def test_cells_that_no_table_shows_to_be_empty_are_empty() -> None:
    """Six of eight cells hold 5 each: a change that keeps the two-way tables would take from one of the empty cells."""
    table = np.full((2, 2, 2), 5.0)
    table[0, 0, 0] = table[1, 1, 1] = 0
    found = nearest.nearest(independent(table), pairs(table))
    assert found is not None
    assert np.abs(found - table / 30).sum() <= 1e-11


@settings(max_examples=examples(40), deadline=None)
@given(shapes, st.integers(0, 10**6), st.integers(3, 400))
def test_every_table_of_people_is_fitted_however_sparse(shape: tuple[int, int, int], seed: int, people: int) -> None:
    draws = np.random.default_rng(seed)
    shares = draws.gamma(0.3, 1, shape) + 1e-9
    table = draws.multinomial(people, (shares / shares.sum()).ravel()).reshape(shape).astype(float)
    found = nearest.nearest(independent(table), pairs(table))
    assert found is not None
    for each in pairs(table):
        assert np.abs(joint.margin(found, each) - each.counts / people).sum() <= 1e-12


def test_of_tables_that_contradict_each_other_there_is_none() -> None:
    table = np.arange(1, 28, dtype=float).reshape(3, 3, 3)
    first, second, third = pairs(table)
    other = KnownMargin(second.axes, second.counts[::-1].copy(), second.variance)
    assert nearest.nearest(independent(table), [first, other, third]) is None
    assert nearest.nearest(independent(table), [first, second, third]) is not None


def test_a_planted_bound_that_is_always_small_lets_an_unfinished_fit_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fit that the bound rejects: the first one is far from the distribution with these tables."""
    table = np.full((2, 2, 2), 5.0)
    table[0, 0, 0] = table[1, 1, 1] = 0
    monkeypatch.setattr(nearest, "_distance_bound", lambda *_: 0.0)
    monkeypatch.setattr(nearest, "_has_margins", lambda *_: True)
    monkeypatch.setattr(nearest, "_change", lambda law, _: np.zeros(law.shape))
    found = nearest.nearest(independent(table), pairs(table))
    assert found is not None
    assert np.abs(found - table / 30).sum() > 1e-4
