"""Whole tables without negative cells: finer tables keep the numbers of coarse ones, whatever they must cut off."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from crowdgate.arrays import Floats
from crowdgate.mechanisms.tables import coarse_to_fine, lattice
from crowdgate.mechanisms.tables.coarse_to_fine import whole_tables
from crowdgate.mechanisms.tables.consistency import Axes, consistent_tables
from crowdgate.mechanisms.tables.lattice import MarginLattice
from crowdgate.mechanisms.tables.rounding import (
    MarginConstraint,
    largest_remainder,
    nearest_table,
    whole_number_table,
    whole_number_tables,
)
from tests.examples import examples
from tests.mechanisms.tables.tables import disagreement, margin
from tests.mechanisms.tables.test_consistency import AGE, FINE, RACE, SEX, level, shape, workloads

PAIRS = [{n: FINE[n] for n in pair} for pair in combinations(FINE, 2)]
CHAIN = [FINE, {"age": AGE["exact"]}, {"age": AGE["pairs"]}, {"age": AGE["young"]}, {}]


def estimates(axes: Sequence[Axes], seed: int, noise: float = 3.0) -> tuple[list[Floats], list[float]]:
    """Return least-squares estimates of sparse tables, and the variances of their noise."""
    random = np.random.default_rng(seed)
    full = random.exponential(3, shape(FINE)) * (random.random(shape(FINE)) < 0.4)
    spread: list[float] = random.uniform(noise**2 / 9, noise**2, len(axes)).tolist()
    true = [margin(FINE, full, levels).reshape(shape(levels)) for levels in axes]
    noisy = [t + random.normal(0, np.sqrt(s), t.shape) for t, s in zip(true, spread, strict=True)]
    return list(consistent_tables(axes, noisy, spread).tables), spread


def keeps(axes: Sequence[Axes], tables: Sequence[Floats], found: Sequence[np.ndarray]) -> None:
    """Assert the stated properties: whole numbers from 0 on, one total near the estimate, and sums that agree."""
    of = MarginLattice.of(axes)
    assert all(table.dtype == np.int64 and (table >= 0).all() for table in found)
    assert {int(table.sum()) for table in found} == {max(0, round(float(tables[0].sum())))}
    for at, levels in enumerate(axes):
        above = of.parent(of.ranks(levels))
        if above is not None:
            other = next(i for i, own in enumerate(axes) if of.ranks(own) == above)
            sums = margin(levels, found[at].astype(float), axes[other])
            assert (sums == found[other].reshape(-1)).all()
    if of.agreeing:
        assert disagreement(axes, found) == 0


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(axes=workloads, seed=st.integers(0, 10**6), noise=st.sampled_from([0.1, 3.0, 40.0]))
def test_tables_are_whole_share_the_total_and_add_up_to_their_margins(
    axes: list[Axes], seed: int, noise: float
) -> None:
    tables, spread = estimates(axes, seed, noise)
    keeps(axes, tables, whole_tables(axes, tables, spread))


@pytest.mark.parametrize("axes", [PAIRS, CHAIN, [*PAIRS, FINE]], ids=["pairs", "chain", "three crossing margins"])
def test_what_is_promised_needs_no_rounds_of_projections_and_no_common_margins(
    axes: list[Axes], monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(5):
        tables, spread = estimates(axes, seed)
        with monkeypatch.context() as patch:
            patch.setattr(coarse_to_fine, "_WORK", 0)
            keeps(axes, tables, whole_tables(axes, tables, spread))
            patch.setattr(lattice, "MOST_SHARED", 0)
            keeps(axes, tables, whole_tables(axes, tables, spread))


def test_two_margins_at_most_cross_in_tables_of_two_attributes_and_more_in_those_of_three() -> None:
    assert MarginLattice.of(PAIRS).agreeing
    assert MarginLattice.of(CHAIN).agreeing
    assert not MarginLattice.of([*PAIRS, FINE]).agreeing


def test_levels_of_as_many_values_are_one_table() -> None:
    axes = [{"race": RACE["exact"], "sex": SEX["exact"]}, {"sex": SEX["exact"], "race": RACE["swapped"]}]
    tables, spread = estimates(axes, 3)
    first, second = whole_tables(axes, tables, spread)
    assert (second == first.T[:, np.argsort(RACE["swapped"].codes)]).all()


def test_estimates_that_are_whole_and_not_negative_stay_as_they_are() -> None:
    full = np.random.default_rng(8).poisson(2, shape(FINE)).astype(float)
    axes = [*PAIRS, *CHAIN]
    tables = [margin(FINE, full, levels).reshape(shape(levels)) for levels in axes]
    for before, after in zip(tables, whole_tables(axes, tables, [1.0] * len(axes)), strict=True):
        assert (after == before).all()


def test_the_total_is_its_estimate_beside_thousands_of_empty_cells() -> None:
    """A projection of all tables together changes it by many standard errors."""
    wide = {name: level(name, list(range(20))) for name in ("a", "b", "c")}
    axes: list[Axes] = [{}, wide]
    random = np.random.default_rng(1)
    true = np.zeros((20, 20, 20))
    true[0, 0, :] = 400
    spread = [30.0**2, 10.0**2]
    found = consistent_tables(
        axes, [true.sum() + random.normal(0, 30), true + random.normal(0, 10, true.shape)], spread
    )
    total, table = whole_tables(axes, found.tables, spread)
    assert abs(int(total) - float(found.tables[0])) <= 0.5
    assert table.sum() == total
    assert np.sqrt(np.mean((table - true) ** 2)) < 3, "most empty cells are 0"
    assert np.maximum(found.tables[1], 0).sum() > total + 100 * math.sqrt(float(found.variances[0]))


def two_margins(counts: np.ndarray) -> list[MarginConstraint]:
    """Return the margins of a table by rows and by columns."""
    rows, columns = np.indices(counts.shape).reshape(2, -1)
    return [MarginConstraint(rows, counts.sum(axis=1)), MarginConstraint(columns, counts.sum(axis=0))]


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(rows=st.integers(1, 5), columns=st.integers(1, 5), seed=st.integers(0, 10**6), far=st.sampled_from([0.5, 9.0]))
def test_whole_tables_meet_one_margin_or_two(rows: int, columns: int, seed: int, far: float) -> None:
    """Also from values that do not meet them."""
    random = np.random.default_rng(seed)
    counts = random.poisson(2, (rows, columns))
    margins = two_margins(counts)
    values = np.maximum(counts.reshape(-1) + random.normal(0, far, counts.size), 0)
    for own in (margins, margins[:1]):
        for start in (values, nearest_table(values, own)):
            found = whole_number_table(start, own)
            assert (found >= 0).all()
            for each in own:
                assert (np.bincount(each.cells, found, len(each.sums)) == each.sums).all()
        if len(own) == 2:
            near = nearest_table(values, own)
            assert np.abs(whole_number_table(near, own) - near).max() < 1 + 1e-6


@pytest.mark.parametrize("far", [0.3, 9.0])
def test_tables_that_are_rounded_together_are_as_near_as_each_by_itself(far: float) -> None:
    """Also where one of them is too far from its margins to be rounded, and among tables of one margin."""
    random = np.random.default_rng(7)
    tables = []
    for size in ((3, 4), (1, 6), (5, 2), (4, 4)):
        counts = random.poisson(3, size)
        margins = two_margins(counts)[: 1 if size == (1, 6) else 2]
        values = np.maximum(counts.reshape(-1) + random.normal(0, far if size == (5, 2) else 0.3, counts.size), 0)
        tables.append((values if far > 1 else nearest_table(values, margins), margins))
    for (values, margins), found in zip(tables, whole_number_tables(tables), strict=True):
        assert (found >= 0).all()
        for each in margins:
            assert (np.bincount(each.cells, found, len(each.sums)) == each.sums).all()
        alone = whole_number_table(values, margins)
        assert np.abs(found - values).sum() == pytest.approx(np.abs(alone - values).sum(), abs=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_real_tables_are_the_nearest_ones_with_their_margins(seed: int) -> None:
    """Compared with a general solver, with margins kept by a large weight."""
    random = np.random.default_rng(seed)
    margins = two_margins(random.poisson(3, (4, 3)))
    values = random.normal(2, 4, 12)
    for own in (margins, margins[:1]):
        parts = [np.eye(len(each.sums))[each.cells].T for each in own]
        heavy = np.vstack([np.eye(12), *(1e4 * part for part in parts)])
        target = np.concatenate([values, *(1e4 * each.sums for each in own)])
        assert nearest_table(values, own) == pytest.approx(nnls(heavy, target)[0], abs=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_estimates_below_zero_become_tables_that_agree_before_they_are_rounded(seed: int) -> None:
    """With a cut at zero alone, they do not."""
    tables, spread = estimates(PAIRS, seed)
    assert min(table.min() for table in tables) < -1
    found = coarse_to_fine._nonnegative_tables(PAIRS, tables, spread, [])
    assert all((table >= 0).all() for table in found)
    assert disagreement(PAIRS, found) < 0.1
    assert disagreement(PAIRS, [np.maximum(table, 0.0) for table in tables]) > 0.5


@given(values=st.lists(st.floats(0, 9), min_size=1, max_size=12), share=st.fractions(0, 1))
def test_no_smaller_remainder_is_rounded_up_before_a_larger_one(values: list[float], share: Fraction) -> None:
    down = np.floor(values).astype(np.int64)
    target = int(down.sum()) + round(share * len(values))
    up = largest_remainder(np.array(values), np.zeros(len(values), dtype=np.int64), np.array([target])) - down
    assert set(up.tolist()) <= {0, 1}
    parts = np.array(values) - down
    assert parts[up == 1].min(initial=1.0) >= parts[up == 0].max(initial=0.0)


@settings(max_examples=examples(80), deadline=None, derandomize=True)
@given(data=st.data(), groups=st.lists(st.integers(0, 3), min_size=4, max_size=12))
def test_the_largest_remainder_meets_every_target(data: st.DataObject, groups: list[int]) -> None:
    values = np.array(data.draw(st.lists(st.floats(0, 9), min_size=len(groups), max_size=len(groups))))
    targets = np.array(data.draw(st.lists(st.integers(0, 60), min_size=4, max_size=4)))
    at = np.array([0, 1, 2, 3, *groups])
    out = largest_remainder(np.concatenate([np.zeros(4), values]), at, targets)
    assert (np.bincount(at, weights=out, minlength=4) == targets).all()
    assert (out >= 0).all()
