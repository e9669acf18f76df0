"""Calibrated weights compared with linear and quadratic programs for the stated objective; planted faults."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, lsq_linear

from crowdgate.kinds.rows.weights import NEAR, NEAR_UNITS
from crowdgate.mechanisms.rows import calibration, interval_projection
from crowdgate.mechanisms.rows.calibration import GRID, LEAST, MOST, NoisyMargin, calibrate, residuals
from crowdgate.mechanisms.rows.nested import common_sums
from tests.examples import examples

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Case:
    """Classes of two or three attributes, and noisy margins of them."""

    counts: Integers
    margins: tuple[NoisyMargin, ...]
    design: Fraction

    def people(self, weights: Integers) -> Floats:
        """Return weighted counts of all represented cells."""
        left = residuals(self.counts, weights, self.margins)
        return np.concatenate([part.weighted[part.represented] / GRID for part in left])

    @property
    def rows(self) -> Floats:
        """A dense matrix: for each represented cell the rows of its classes."""
        found = []
        for margin in self.margins:
            for cell in np.unique(margin.cells):
                found.append(np.where(margin.cells == cell, self.counts, 0))
        return np.array(found, dtype=np.float64)

    def ends(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Return lower and upper limits, estimates and standard errors of the represented cells."""
        picked = [(margin, np.unique(margin.cells)) for margin in self.margins]
        return (
            np.concatenate([margin.lower[at] for margin, at in picked]),
            np.concatenate([margin.upper[at] for margin, at in picked]),
            np.concatenate([margin.estimate[at] for margin, at in picked]),
            np.sqrt(np.concatenate([margin.variance[at] for margin, at in picked])),
        )


def draw_case(seed: int, scale: float = 1.0, missing: float = 0.3, width: float = 1.96) -> Case:
    """Return a table of up to 3 attributes; `missing` of the people belong to no released class."""
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 5, random.integers(1, 4))
    design = Fraction(int(random.integers(11, 60)), 10)
    codes = np.stack(np.unravel_index(np.arange(int(np.prod(sizes))), sizes))
    truth = np.ceil(scale * random.lognormal(4, 1, codes.shape[1]))
    released = random.random(codes.shape[1]) >= missing
    counts = np.ceil(truth[released] / float(design)).astype(np.int64)
    tables = [(), *((i,) for i in range(len(sizes)))]
    tables += [(i, j) for i in range(len(sizes)) for j in range(i)]
    margins = []
    for table in tables:
        shape = [int(sizes[i]) for i in table]
        cells = np.ravel_multi_index([codes[i] for i in table], shape) if table else np.zeros(codes.shape[1], np.int64)
        variance = np.full(int(np.prod(shape)), random.uniform(1, 1000))
        noise = random.normal(0, 1, len(variance)) * np.sqrt(variance)
        estimate = np.bincount(cells, truth, len(variance)) + noise
        half = width * np.sqrt(variance)
        margins.append(NoisyMargin(cells[released], estimate, variance, estimate - half, estimate + half))
    return Case(counts, tuple(margins), design)


seeds = st.integers(0, 10**9)
cases = st.builds(
    draw_case,
    seeds,
    st.sampled_from([0.01, 1.0, 100.0]),
    st.sampled_from([0.0, 0.3, 0.9]),
    st.sampled_from([0.5, 1.96]),
)
check = settings(max_examples=examples(60), deadline=None, derandomize=True)


def least_slack(case: Case, narrower: Floats) -> float:
    """Return the least number by which all narrowed intervals must be widened on both sides for weights to meet them
    (HiGHS)."""
    lower, upper, _, _ = case.ends()
    rows, classes = case.rows, len(case.counts)
    above = np.hstack([rows, -np.ones((len(rows), 1))])
    below = np.hstack([-rows, -np.ones((len(rows), 1))])
    bounds = [(float(LEAST * case.design), float(MOST * case.design))] * classes + [(None, None)]
    ends = np.concatenate([upper - narrower, -(lower + narrower)])
    found = linprog([0.0] * classes + [1.0], np.vstack([above, below]), ends, bounds=bounds, method="highs")
    assert found.fun is not None
    return float(found.fun)


@check
@given(case=cases)
def test_weights_are_positive_within_bounds_one_a_class_and_exact(case: Case) -> None:
    found = calibrate(case.counts, case.margins, case.design)
    assert found.weights.dtype == np.int64
    assert found.weights.shape == case.counts.shape
    assert all(LEAST * case.design <= Fraction(int(w), GRID) <= MOST * case.design for w in found.weights)


@check
@given(case=cases)
def test_where_a_linear_program_meets_all_intervals_the_weights_do(case: Case) -> None:
    if not len(case.counts):
        return
    _, _, _, error = case.ends()
    hair = 1.1e-3 * error + case.rows.sum(axis=1) / (2 * GRID)
    found = calibrate(case.counts, case.margins, case.design)
    slack = least_slack(case, hair)
    assert found.met or slack > -1e-9
    assert not found.met or least_slack(case, np.zeros_like(error)) <= 1e-6


def reference(case: Case) -> tuple[Floats, float]:
    """Return the ratios by sequential penalties of a bounded least-squares solver, and the least squared shift.

    Intervals are variables: minimise |(B x - z) / error|^2 / 2 times a stiff factor plus the objective.
    """
    lower, upper, estimate, error = case.ends()
    rows, classes = case.rows * float(case.design) / error[:, None], len(case.counts)
    hair = np.minimum(1e-3 + case.rows.sum(axis=1) / (2 * GRID) / error, (upper - lower) / error / 4)
    low, high = lower / error + hair, upper / error - hair
    base = np.sqrt(case.counts * float(case.design))
    stiff = 1e3
    figures = np.eye(len(rows))
    matrix = np.vstack(
        [
            np.hstack([np.diag(base), np.zeros((classes, len(rows)))]),
            np.hstack([np.zeros((len(rows), classes)), 10 * figures]),
            stiff * np.hstack([rows, -figures]),
        ]
    )
    target = np.concatenate([base, 10 * estimate / error, np.zeros(len(rows))])
    least = np.concatenate([np.full(classes, float(LEAST)), low])
    most = np.concatenate([np.full(classes, float(MOST)), high + 1e-12])
    found = lsq_linear(matrix, target, (least, most), method="bvls", tol=1e-14, max_iter=2000).x
    shift = rows @ found[:classes] - found[classes:]
    return found[:classes], float(shift @ shift)


@settings(max_examples=examples(40), deadline=None, derandomize=True)
@given(seed=seeds, missing=st.sampled_from([0.0, 0.3, 0.7]))
def test_no_other_weights_come_nearer_to_the_intervals(seed: int, missing: float) -> None:
    """Compared with a bounded least-squares solver, whose shift is right or slightly too large."""
    case = draw_case(seed, 1.0, missing)
    if len(case.counts):
        found = calibrate(case.counts, case.margins, case.design)
        assert found.shift**2 <= reference(case)[1] * (1 + 1e-4) + 1e-3


@settings(max_examples=examples(40), deadline=None, derandomize=True)
@given(seed=seeds)
def test_feasible_weights_minimise_the_objective(seed: int) -> None:
    """Compared with a bounded least-squares solver with a stiff penalty."""
    case = draw_case(seed, 1.0, 0.0)
    found = calibrate(case.counts, case.margins, case.design)
    if found.met and found.shift < 1e-6:
        ratios, _ = reference(case)
        assert found.weights / GRID / float(case.design) == pytest.approx(ratios, abs=2e-3)


@check
@given(case=cases, seed=seeds)
def test_the_order_of_classes_and_margins_does_not_matter(case: Case, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(case.counts))
    moved = [replace(margin, cells=margin.cells[order]) for margin in reversed(case.margins)]
    first = calibrate(case.counts, case.margins, case.design)
    second = calibrate(case.counts[order], moved, case.design)
    assert np.abs(second.weights - first.weights[order]).max(initial=0) <= 1


@check
@given(seed=seeds, by=st.floats(1e-6, 1e-4))
def test_weights_move_little_when_a_margin_does(seed: int, by: float) -> None:
    """Also if intervals cannot be met: |shift| changes by no more than the intervals do, in standard errors."""
    case = draw_case(seed, 1.0, 0.3)
    moved = [
        replace(m, estimate=m.estimate + by * np.sqrt(m.variance), lower=m.lower + by * np.sqrt(m.variance),
                upper=m.upper + by * np.sqrt(m.variance))
        for m in case.margins
    ]  # fmt: skip
    first, second = (calibrate(case.counts, margins, case.design) for margins in (case.margins, moved))
    cells = sum(len(margin.estimate) for margin in case.margins)
    allowed = by * np.sqrt(cells) + np.sqrt(max(first.gap, 0)) + np.sqrt(max(second.gap, 0)) + 1e-3
    assert abs(first.shift - second.shift) <= allowed


def test_no_class_and_no_margin() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    some = np.array([5.0]), np.array([1.0]), np.array([3.0]), np.array([7.0])
    empty = calibrate(nothing, [NoisyMargin(nothing, *some)], Fraction(2))
    assert empty.met
    assert not len(empty.weights)
    assert not residuals(nothing, nothing, [NoisyMargin(nothing, *some)])[0].represented.any()
    assert list(calibrate(np.array([40, 50]), [], Fraction(10, 3)).weights) == [33333, 33333]


def one(count: int, estimate: float, half: float = 10.0) -> Case:
    cells = np.zeros(1, dtype=np.int64)
    margin = NoisyMargin(cells, *(np.array([v]) for v in (estimate, 25.0, estimate - half, estimate + half)))
    return Case(np.array([count]), (margin,), Fraction(2))


@pytest.mark.parametrize(
    ("count", "estimate", "met", "weight"),
    [
        (100, 230.0, True, 23000),
        (100, -50.0, False, 2000),
        (100, 1e9, False, 200_000),
        (100_000_000, 2.5e8, True, 25000),
        (1, 2.0, True, 20000),
    ],
)
def test_one_class(count: int, estimate: float, met: bool, weight: int) -> None:
    case = one(count, estimate)
    found = calibrate(case.counts, case.margins, case.design)
    assert found.met == met
    assert abs(int(found.weights[0]) - weight) <= 0.002 * weight


def test_residuals_name_cells_without_a_class() -> None:
    numbers = ([10.0, 7.0, 5.0], [1.0, 1.0, 1.0], [8.0, 5.0, 3.0], [12.0, 9.0, 7.0])
    margin = NoisyMargin(np.array([0, 0, 2]), *map(np.array, numbers))
    (left,) = residuals(np.array([2, 3, 4]), np.array([20000, 20000, 20000]), [margin])
    assert list(left.weighted) == [100_000, 0, 80_000]
    assert list(left.represented) == [True, False, True]
    assert list(left.within) == [True, False, False]
    assert list(left.residual) == [0.0, -7.0, 3.0]


def differs(case: Case, weights: Integers) -> list[int]:
    """Return the classes for which a verifier finds another weight."""
    found = calibrate(case.counts, case.margins, case.design).weights
    return list(np.flatnonzero(np.abs(weights - found) > NEAR_UNITS + NEAR * found))


def without_first(case: Case) -> Case:
    """Return the margins of a case with one class suppressed."""
    fewer = tuple(replace(margin, cells=margin.cells[1:]) for margin in case.margins)
    return replace(case, counts=case.counts[1:], margins=fewer)


@check
@given(seed=seeds)
def test_one_weight_that_is_off_is_caught(seed: int) -> None:
    case = draw_case(seed, 10.0, 0.3)
    weights = calibrate(case.counts, case.margins, case.design).weights
    assert differs(case, weights) == []
    if len(weights):
        touched = weights.copy()
        touched[-1] += int(0.02 * weights[-1]) + NEAR_UNITS
        assert differs(case, touched) == [len(weights) - 1]


def test_weights_that_look_at_a_suppressed_class_are_caught() -> None:
    """Planted fault: the weights of the problem that reads one more class."""
    caught = tried = 0
    for seed in range(30):
        case = draw_case(seed, 10.0, 0.0)
        if len(case.counts) >= 3:
            informed = calibrate(case.counts, case.margins, case.design).weights[1:]
            caught, tried = caught + bool(differs(without_first(case), informed)), tried + 1
    assert tried >= 20
    assert caught == tried


def broken(case: Case, **changes: Any) -> Sequence[NoisyMargin]:
    return [replace(case.margins[0], **changes)]


def test_what_is_no_input_is_refused() -> None:
    case = one(100, 200.0)
    with pytest.raises(ValueError, match="at least 1"):
        calibrate(np.array([0]), case.margins, case.design)
    with pytest.raises(ValueError, match="at least 1"):
        calibrate(case.counts, case.margins, Fraction(1, 2))
    for margins in (
        broken(case, variance=np.array([0.0])),
        broken(case, lower=np.array([300.0])),
        broken(case, estimate=np.array([np.nan])),
    ):
        with pytest.raises(ValueError, match=r"positive|finite"):
            calibrate(case.counts, margins, case.design)


def test_what_does_not_converge_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    case = draw_case(4, 100.0, 0.3, 0.1)
    monkeypatch.setattr(interval_projection, "_newton", lambda _problem, _y, slope, _stiffness: 1e-9 * slope)
    with pytest.raises(ArithmeticError):
        calibrate(case.counts, case.margins, case.design)


@pytest.mark.parametrize("seed", [2, 4])
def test_the_methods_of_a_newton_step_agree(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By classes, by figures, by conjugate gradients: size limits select the method."""
    case = draw_case(seed, 1.0, 0.3)
    by_classes = calibrate(case.counts, case.margins, case.design).weights
    monkeypatch.setattr(interval_projection, "_by_classes", interval_projection._by_figures)
    by_figures = calibrate(case.counts, case.margins, case.design).weights
    for module in (interval_projection, calibration):
        monkeypatch.setattr(module, "MOST_DENSE", 0)
    by_gradients = calibrate(case.counts, case.margins, case.design).weights
    assert np.abs(by_figures - by_classes).max() <= 1
    assert np.abs(by_gradients - by_classes).max() <= 20


@given(
    bends=st.lists(st.floats(1e-6, 1), max_size=8),
    slopes=st.lists(st.floats(1e-3, 1e6), min_size=9, max_size=9),
    root=st.floats(1e-6, 1 - 1e-6),
)
def test_the_length_of_a_step_is_the_root_of_any_increasing_function_of_pieces(
    bends: list[float], slopes: list[float], root: float
) -> None:
    at = np.array([0.0, *sorted(bends), 1.0])
    rises = np.concatenate([[0.0], np.cumsum(np.diff(at) * slopes[: len(at) - 1])])

    def slope(t: float) -> float:
        return float(np.interp(t, at, rises) - np.interp(root, at, rises))

    assume(slope(0.0) < 0 < slope(1.0))
    found = interval_projection._root(slope, slope(0.0), slope(1.0))
    assert abs(found - root) <= 1.1e-3 * root + 1e-9


def test_common_sums_are_cells_of_coarser_tables_and_their_own() -> None:
    """A table of 2 x 3 beside its second margin and the total; a cell that does not occur is no figure."""
    fine = np.array([5, 0, 1, 2, 3, 5])
    sums = common_sums([fine, fine % 3, 0 * fine]).toarray()
    assert sums.shape == (5 + 3 + 1, 3 + 1 + 1 + 3 + 1)
    assert sums[:5, :3].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0, 1]]
    assert sums[:5, 3].tolist() == [1] * 5
    assert sums[5:8, 4].tolist() == [1] * 3
    assert (sums[5:, 5:] == np.eye(4)).all()


def test_tables_that_cross_have_no_common_sum() -> None:
    assert common_sums([np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])]).shape == (4, 0)
    assert common_sums([]).shape == (0, 0)
