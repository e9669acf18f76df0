"""Consistency is the best linear unbiased estimate, never worse in any cell, with its variances or bounds on them."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.accounting.discrete_laws import DiscreteGaussian
from crowdgate.arrays import Floats
from crowdgate.hierarchy import Level
from crowdgate.mechanisms.tables import nesting, variances
from crowdgate.mechanisms.tables.consistency import Axes, cells_of, consistent_tables, variances_after
from crowdgate.mechanisms.tables.orthogonal import Orthogonal
from crowdgate.noise import gaussian_vector
from tests.examples import examples
from tests.mechanisms.tables.tables import disagreement, margin


def level(name: str, codes: list[int]) -> Level:
    return Level(name, tuple(f"{name} {i}" for i in range(max(codes) + 1)), np.array(codes, dtype=np.int32))


AGE = {
    "exact": level("exact", [0, 1, 2, 3, 4]),
    "pairs": level("pairs", [0, 0, 1, 1, 2]),
    "young": level("y", [0, 0, 0, 0, 1]),
}
SEX = {"exact": level("exact", [0, 1])}
RACE = {"exact": level("exact", [0, 1, 2]), "swapped": level("swapped", [2, 0, 1]), "two": level("two", [0, 1, 1])}
KNOWN = {"age": AGE, "sex": SEX, "race": RACE}
FINE = {name: levels["exact"] for name, levels in KNOWN.items()}


@st.composite
def table_axes(draw: st.DrawFn) -> Axes:
    names = draw(st.lists(st.sampled_from(sorted(KNOWN)), unique=True, max_size=3))
    return {name: KNOWN[name][draw(st.sampled_from(sorted(KNOWN[name])))] for name in names}


workloads = st.lists(table_axes(), min_size=1, max_size=5)


def shape(axes: Axes) -> tuple[int, ...]:
    return tuple(len(found) for found in axes.values())


def margins_matrix(axes: Sequence[Axes]) -> Floats:
    """Return each table as a linear function of the full table of 5 x 2 x 3 cells."""
    size = math.prod(shape(FINE))
    parts = []
    for levels in axes:
        matrix = np.zeros((math.prod(shape(levels)), size))
        matrix[cells_of(FINE, levels), np.arange(size)] = 1
        parts.append(matrix)
    return np.vstack(parts)


@settings(max_examples=examples(80), deadline=None, derandomize=True)
@given(axes=workloads, seed=st.integers(0, 10**6), data=st.data())
def test_it_is_the_least_squares_estimate_over_all_full_tables(
    axes: list[Axes], seed: int, data: st.DataObject
) -> None:
    """Compared with lstsq on an explicit common table, and its covariance X (X' W X)^+ X'."""
    spread = data.draw(st.lists(st.floats(0.1, 50), min_size=len(axes), max_size=len(axes)))
    random = np.random.default_rng(seed)
    noisy = [random.normal(50, 20, shape(levels)) for levels in axes]
    x, y = margins_matrix(axes), np.concatenate([table.reshape(-1) for table in noisy])
    weights = 1 / np.repeat(spread, [table.size for table in noisy])
    expected = x @ np.linalg.lstsq(x * np.sqrt(weights)[:, None], y * np.sqrt(weights), rcond=None)[0]
    covariance = x @ np.linalg.pinv(x.T @ (x * weights[:, None])) @ x.T
    found = consistent_tables(axes, noisy, spread)
    assert found.exact
    own = np.concatenate([table.reshape(-1) for table in found.variances])
    off = np.concatenate([table.reshape(-1) for table in found.tables]) - expected
    assert (np.abs(off) <= 1.01e-4 * np.sqrt(own)).all(), "within what conjugate gradients promise"
    assert own == pytest.approx(np.diag(covariance), rel=1e-7)
    assert np.all(own <= np.repeat(spread, [table.size for table in noisy]) * (1 + 1e-12))
    assert disagreement(axes, found.tables) < 1e-6
    planned, exact = variances_after(axes, spread)
    assert exact
    assert np.concatenate([table.reshape(-1) for table in planned]) == pytest.approx(own)


def test_tables_that_agree_already_stay_as_they_are() -> None:
    full = np.arange(30, dtype=float).reshape(shape(FINE))
    axes = [{"age": AGE["exact"]}, {"sex": SEX["exact"], "age": AGE["pairs"]}, {}]
    tables = [margin(FINE, full, levels).reshape(shape(levels)) for levels in axes]
    for before, after in zip(tables, consistent_tables(axes, tables, [1.0, 2.0, 3.0]).tables, strict=True):
        assert after == pytest.approx(before, abs=1e-3)


def test_one_table_alone_keeps_its_variance_and_a_zero_variance_is_refused() -> None:
    found = consistent_tables([FINE], [np.zeros(shape(FINE))], [2.0])
    assert (found.variances[0] == 2).all()
    assert found.exact
    with pytest.raises(ValueError, match="variances must be positive"):
        consistent_tables([FINE], [np.zeros(shape(FINE))], [0.0])


@settings(max_examples=examples(40), deadline=None, derandomize=True)
@given(axes=workloads, seed=st.integers(0, 10**6))
def test_bounds_are_at_least_the_variances_and_at_most_those_of_the_noise(axes: list[Axes], seed: int) -> None:
    """Bounds apply if exact variances would be too costly."""
    spread: list[float] = np.random.default_rng(seed).uniform(1, 30, len(axes)).tolist()
    right, _ = variances_after(axes, spread)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(variances, "MOST_WORK", -1)
        bounds, exact = variances_after(axes, spread)
    for own, bound, noise in zip(right, bounds, spread, strict=True):
        assert (bound >= own * (1 - 1e-9)).all()
        assert (bound <= noise).all()
        assert not exact or bound == pytest.approx(own)


def test_reflections_and_matrices_are_the_same_and_a_level_of_many_values_needs_no_matrix() -> None:
    axes = [{"age": AGE["exact"], "sex": SEX["exact"]}, {"age": AGE["pairs"]}, {"sex": SEX["exact"]}]
    noisy = [np.random.default_rng(3).normal(20, 5, shape(levels)) for levels in axes]
    small = consistent_tables(axes, noisy, [1.0, 2.0, 3.0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nesting, "_DENSE", 0)
        for left, right in zip(small.tables, consistent_tables(axes, noisy, [1.0, 2.0, 3.0]).tables, strict=True):
            assert left == pytest.approx(right, abs=1e-9)
    many = level("exact", list(range(60_000)))
    y = np.random.default_rng(3).normal(0, 1, 60_000)
    found = consistent_tables([{"zip": many}, {}], [y, np.array(100.0)], [1.0, 60_000.0])
    assert found.tables[1] == pytest.approx((y.sum() + 100) / 2)
    assert found.tables[0].sum() == pytest.approx(found.tables[1])
    assert found.variances[0] == pytest.approx(1 - 1 / 120_000)


@given(st.lists(st.integers(0, 6), min_size=2, max_size=40))
@settings(max_examples=examples(50), deadline=None, derandomize=True)
def test_a_basis_is_the_same_to_the_last_bit_with_and_without_sparse_matrices(codes: list[int]) -> None:
    found = np.unique(codes, return_inverse=True)[1].reshape(-1)
    levels = [level("exact", list(range(len(codes)))), level("groups", found.tolist())]
    own = nesting.Nesting.of(levels)
    rank = len(own.levels)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nesting, "_DENSE", 0)
        reflected = nesting.Nesting.of(levels).basis(rank)
    assert np.array_equal(own.basis(rank), reflected)


def test_a_swapped_order_of_codes_is_seen_through() -> None:
    """Two levels of equal size have equal groups under other codes."""
    axes = [{"race": RACE["exact"]}, {"race": RACE["swapped"]}]
    found = consistent_tables(axes, [np.array([30.0, 10, 20]), np.array([12.0, 22, 32])], [1.0, 1.0])
    assert found.tables[0] == pytest.approx([31, 11, 21])
    assert found.tables[1] == pytest.approx([11, 21, 31])


# OpenDP cannot be seeded. N = 400 draws of 30 + 10 + 3 + 3 + 1 = 47 cells. The sum of a cell's squared errors over its
# stated variance is chi-square of N degrees to a good approximation: seven standard errors (sqrt(2/N) each) give a
# false-alarm rate below 1e-7 in all. Power: with one variance taken a thousand times too small the errors of some cell
# are more than twice the stated ones, fourteen standard errors.
@pytest.mark.thorough
@pytest.mark.statistical
def test_consistency_never_increases_the_mean_squared_error_of_a_cell() -> None:
    axes = [FINE, {"age": AGE["exact"], "sex": SEX["exact"]}, {"age": AGE["pairs"]}, {"race": RACE["exact"]}, {}]
    rhos = [Fraction(1, 50), Fraction(1, 400), Fraction(1, 60), Fraction(1, 30), Fraction(1, 500)]
    spread = [DiscreteGaussian(1 / (2 * rho)).variance for rho in rhos]
    full = np.random.default_rng(5).poisson(40, shape(FINE))
    true = [margin(FINE, full.astype(float), levels).reshape(shape(levels)).astype(np.int64) for levels in axes]
    draws = 400
    noisy = [
        gaussian_vector(np.tile(table.reshape(-1), draws), 1, rho).reshape(draws, *table.shape)
        for table, rho in zip(true, rhos, strict=True)
    ]

    flat = np.hstack([table.reshape(draws, -1) for table in noisy]).astype(float)
    exact = np.concatenate([table.reshape(-1) for table in true])

    def errors(weights: Sequence[float]) -> Floats:
        """Return the mean squared error of each cell, of all tables one after another."""
        made = Orthogonal.of(axes, weights)
        squares = [(made.estimate(each) - exact) ** 2 for each in flat]
        return np.asarray(np.mean(squares, axis=0))

    after, _ = variances_after(axes, spread)
    stated = np.concatenate([v.reshape(-1) for v in after])
    before = np.repeat(spread, [table.size for table in true])
    noise = 7 * math.sqrt(2 / draws)
    right = errors(spread)
    assert (stated <= before).all()
    assert (np.abs(right / stated - 1) < noise).all(), "the propagated variances are the errors"
    assert (right < before * (1 + noise)).all()
    wrong = errors([spread[0] * 1e-3, *spread[1:]])
    assert (wrong / stated).max() > 2, "wrong weights are seen"
