"""Consistency is the best linear unbiased estimate, never worse in any cell; rounding keeps what it promises."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from crowdgate.accounting.discrete_laws import DiscreteGaussian
from crowdgate.hierarchy import Level
from crowdgate.mechanisms.tables import consistency
from crowdgate.mechanisms.tables.consistency import Axes, Floats, agree, cells_of, margin, variances_after
from crowdgate.mechanisms.tables.rounding import largest_remainder, parent, round_tables
from crowdgate.noise import gaussian_vector
from tests.mechanisms.tables.tables import disagreement


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
    """Every table as a linear function of the full table of 5 x 2 x 3 cells."""
    size = math.prod(shape(FINE))
    parts = []
    for levels in axes:
        matrix = np.zeros((math.prod(shape(levels)), size))
        matrix[cells_of(FINE, levels), np.arange(size)] = 1
        parts.append(matrix)
    return np.vstack(parts)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(axes=workloads, seed=st.integers(0, 10**6), data=st.data())
def test_it_is_the_least_squares_estimate_over_all_full_tables(
    axes: list[Axes], seed: int, data: st.DataObject
) -> None:
    """Against lstsq on an explicit common table, and its covariance X (X' W X)^+ X'."""
    spread = data.draw(st.lists(st.floats(0.1, 50), min_size=len(axes), max_size=len(axes)))
    random = np.random.default_rng(seed)
    noisy = [random.normal(50, 20, shape(levels)) for levels in axes]
    x, y = margins_matrix(axes), np.concatenate([table.reshape(-1) for table in noisy])
    weights = 1 / np.repeat(spread, [table.size for table in noisy])
    expected = x @ np.linalg.lstsq(x * np.sqrt(weights)[:, None], y * np.sqrt(weights), rcond=None)[0]
    covariance = x @ np.linalg.pinv(x.T @ (x * weights[:, None])) @ x.T
    found = agree(axes, noisy, spread, non_negative=False)
    assert found.exact
    assert np.concatenate([table.reshape(-1) for table in found.tables]) == pytest.approx(expected, abs=1e-6)
    variances = np.concatenate([table.reshape(-1) for table in found.variances])
    assert variances == pytest.approx(np.diag(covariance), abs=1e-7)
    assert np.all(variances <= np.repeat(spread, [table.size for table in noisy]) * (1 + 1e-12))
    assert disagreement(axes, found.tables) < 1e-6
    planned, exact = variances_after(axes, spread)
    assert exact
    assert np.concatenate([table.reshape(-1) for table in planned]) == pytest.approx(variances)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(axes=workloads, seed=st.integers(0, 10**6), people=st.integers(0, 200))
def test_non_negative_tables_agree_and_are_no_further_from_the_truth(axes: list[Axes], seed: int, people: int) -> None:
    """The weighted squared error does not grow, in any draw: the truth is one of the points projected on."""
    random = np.random.default_rng(seed)
    full = random.multinomial(people, random.dirichlet(np.full(30, 0.2))).reshape(shape(FINE)).astype(float)
    true = [margin(FINE, full, levels).reshape(shape(levels)) for levels in axes]
    spread: list[float] = random.uniform(1, 30, len(axes)).tolist()
    noisy = [t + random.normal(0, np.sqrt(s), t.shape) for t, s in zip(true, spread, strict=True)]
    found = agree(axes, noisy, spread)

    def error(tables: Sequence[Floats]) -> float:
        return sum(float(((t - e) ** 2).sum()) / s for t, e, s in zip(true, tables, spread, strict=True))

    assert all((table >= 0).all() for table in found.tables)
    assert found.gap <= 0.01 * math.sqrt(min(spread))
    assert disagreement(axes, found.tables) <= 60 * found.gap + 1e-9
    assert error(found.tables) <= error(noisy) + 0.05


@pytest.mark.parametrize("seed", range(4))
def test_non_negative_tables_are_the_nearest_ones(seed: int) -> None:
    """Against a general solver. Projections in turn without Dykstra's correction end elsewhere."""
    random = np.random.default_rng(seed)
    axes = [{"age": AGE["exact"], "sex": SEX["exact"]}, {"age": AGE["exact"]}, {"sex": SEX["exact"]}]
    spread, noisy = [1.0, 9.0, 0.5], [random.normal(1, 6, shape(levels)) for levels in axes]
    found = agree(axes, noisy, spread, tolerance=1e-6).tables
    parts = [np.eye(math.prod(shape(levels)))[cells_of(axes[0], levels)].T for levels in axes]
    maps = np.vstack(parts)
    weights = 1 / np.sqrt(np.repeat(spread, [table.size for table in noisy]))
    target = np.concatenate([table.reshape(-1) for table in noisy])
    nearest = maps @ nnls(maps * weights[:, None], target * weights)[0]
    assert np.concatenate([table.reshape(-1) for table in found]) == pytest.approx(nearest, abs=1e-3)


def test_tables_that_agree_already_stay_as_they_are() -> None:
    full = np.arange(30, dtype=float).reshape(shape(FINE))
    axes = [{"age": AGE["exact"]}, {"sex": SEX["exact"], "age": AGE["pairs"]}, {}]
    tables = [margin(FINE, full, levels).reshape(shape(levels)) for levels in axes]
    for before, after in zip(tables, agree(axes, tables, [1.0, 2.0, 3.0]).tables, strict=True):
        assert after == pytest.approx(before, abs=1e-9)


def test_one_table_alone_keeps_its_variance_and_a_zero_variance_is_refused() -> None:
    found = agree([FINE], [np.zeros(shape(FINE))], [2.0])
    assert (found.variances[0] == 2).all()
    assert found.exact
    with pytest.raises(ValueError, match="variances must be positive"):
        agree([FINE], [np.zeros(shape(FINE))], [0.0])


def test_closed_form_equations_and_conjugate_gradients_give_the_same_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    axes = [{n: FINE[n] for n in pair} for pair in combinations(FINE, 2)]
    noisy = [np.random.default_rng(3).normal(20, 5, shape(levels)) for levels in axes]
    direct = agree(axes, noisy, [1.0, 2.0, 3.0], non_negative=False)
    monkeypatch.setattr(consistency, "orthogonal", lambda *_: None)
    equations = agree(axes, noisy, [1.0, 2.0, 3.0], non_negative=False)
    monkeypatch.setattr(consistency, "MOST_CONSTRAINTS", 1)
    found = agree(axes, noisy, [1.0, 2.0, 3.0], non_negative=False)
    assert not found.exact
    assert [float(v.max()) for v in found.variances] == [1, 2, 3]
    for closed, solved, iterated in zip(direct.tables, equations.tables, found.tables, strict=True):
        assert solved == pytest.approx(closed, abs=1e-8)
        assert iterated == pytest.approx(closed, abs=1e-6)
    for left, right in zip(direct.variances, equations.variances, strict=True):
        assert left == pytest.approx(right, rel=1e-9)


def test_a_swapped_order_of_codes_is_seen_through() -> None:
    """Two levels of one size hold the same groups under other codes."""
    axes = [{"race": RACE["exact"]}, {"race": RACE["swapped"]}]
    found = agree(axes, [np.array([30.0, 10, 20]), np.array([12.0, 22, 32])], [1.0, 1.0])
    assert found.tables[0] == pytest.approx([31, 11, 21])
    assert found.tables[1] == pytest.approx([11, 21, 31])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(axes=workloads, seed=st.integers(0, 10**6))
def test_whole_tables_share_the_total_and_add_up_along_their_parents(axes: list[Axes], seed: int) -> None:
    random = np.random.default_rng(seed)
    full = random.exponential(3, shape(FINE)) * (random.random(shape(FINE)) < 0.6)
    tables = [margin(FINE, full, levels).reshape(shape(levels)) for levels in axes]
    whole = round_tables(axes, tables)
    for at, (table, real) in enumerate(zip(whole, tables, strict=True)):
        assert table.dtype == np.int64
        assert (table >= 0).all()
        assert table.sum() == round(float(np.mean([t.sum() for t in tables])))
        assert np.abs(table - real).max() < 1 + 1e-6
        others = [i for i in range(len(axes)) if axes[i] and tables[i].size < real.size]
        above = parent(axes, at, others)
        if above is not None and sum(tables[i].size == tables[above].size for i in others) == 1:
            assert (margin(axes[at], table.astype(float), axes[above]) == whole[above].reshape(-1)).all()


def test_a_chain_of_levels_is_consistent_in_whole_numbers() -> None:
    full = np.random.default_rng(8).exponential(4, shape(FINE))
    axes = [FINE, {"age": AGE["exact"]}, {"age": AGE["pairs"]}, {"age": AGE["young"]}, {}]
    tables = [margin(FINE, full, levels).reshape(shape(levels)) for levels in axes]
    assert disagreement(axes, round_tables(axes, tables)) == 0
    naive = [np.round(table) for table in tables]
    assert disagreement(axes, naive) > 0, "plain rounding breaks the totals"


@settings(max_examples=80, deadline=None, derandomize=True)
@given(data=st.data(), groups=st.lists(st.integers(0, 3), min_size=4, max_size=12))
def test_the_largest_remainder_meets_every_target(data: st.DataObject, groups: list[int]) -> None:
    values = np.array(data.draw(st.lists(st.floats(0, 9), min_size=len(groups), max_size=len(groups))))
    targets = np.array(data.draw(st.lists(st.integers(0, 60), min_size=4, max_size=4)))
    at = np.array([0, 1, 2, 3, *groups])
    out = largest_remainder(np.concatenate([np.zeros(4), values]), at, targets)
    assert (np.bincount(at, weights=out, minlength=4) == targets).all()
    assert (out >= 0).all()


# OpenDP cannot be seeded. N = 400 draws of 30 + 10 + 3 + 3 + 1 = 47 cells. The sum of a cell's squared errors over its
# stated variance is chi-square of N degrees to a good approximation: seven standard errors (sqrt(2/N) each) give a
# false-alarm rate below 1e-7 in all. Power: with one variance taken a thousand times too small the errors of some cell
# are more than twice the stated ones, fourteen standard errors.
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

    def errors(weights: Sequence[float]) -> Floats:
        """Mean squared error of every cell, of all tables one after another."""
        total = np.zeros(sum(table.size for table in true))
        for i in range(draws):
            found = agree(axes, [table[i] for table in noisy], weights, non_negative=False)
            pairs = zip(found.tables, true, strict=True)
            total = total + np.concatenate([((z - t) ** 2).reshape(-1) for z, t in pairs])
        return total / draws

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


def test_rounds_end_early_where_they_cost_much_and_the_gap_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    ages = Level("exact", tuple(map(str, range(12))), np.arange(12, dtype=np.int32))
    pairs = Level("pairs", tuple(map(str, range(6))), np.arange(12, dtype=np.int32) // 2)
    other = Level("exact", ("a", "b", "c"), np.arange(3, dtype=np.int32))
    axes = [{"age": ages, "x": other}, {"age": pairs}, {"x": other}]
    noisy = [np.random.default_rng(7).integers(-20, 5, tuple(map(len, levels.values()))) for levels in axes]
    patient = agree(axes, noisy, [100.0] * 3)
    monkeypatch.setattr(consistency, "_ROUNDS_WORK", 1.0)
    hasty = agree(axes, noisy, [100.0] * 3, tolerance=0.0)
    assert patient.gap <= 0.1  # a hundredth of the standard error of 10
    assert hasty.gap > 0
    assert all((table >= 0).all() for table in (*patient.tables, *hasty.tables))
    assert len({int(table.sum()) for table in round_tables(axes, hasty.tables)}) == 1
