"""Weights in whole numbers: equal to a computation in Python's integers, near the exact minimum, and hard to forge."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from crowdgate.kinds.rows.weights import weights_problems
from crowdgate.mechanisms.rows import integer_calibration
from crowdgate.mechanisms.rows.calibration import GRID, RIDGE, NoisyMargin, weight_limits
from crowdgate.mechanisms.rows.integer_calibration import FINE, LAST_SWEEPS, SWEEPS, calibrate, design_units
from tests.examples import examples
from tests.mechanisms.rows.test_calibration import Case, draw_case


def by_python(
    counts: Sequence[int], margins: Sequence[NoisyMargin], last: Sequence[NoisyMargin], design: Fraction
) -> list[int]:
    """Return the weights by the steps that the module states, in Python's integers of any size."""
    low, high = weight_limits(design)
    raw = [design_units(design)] * len(counts)
    for chosen, sweeps in ((margins, SWEEPS), (last, LAST_SWEEPS)):
        multipliers = [[0] * len(margin.estimate) for margin in chosen]
        for _ in range(sweeps):
            for margin, multiplier in zip(chosen, multipliers, strict=True):
                moves = [0] * len(multiplier)
                for cell in {*margin.cells.tolist()}:
                    own = [c for c, at in enumerate(margin.cells.tolist()) if at == cell]
                    stiff = max(1, round(FINE * float(margin.variance[cell]) / (RIDGE * float(design))))
                    weighted = sum(counts[c] * min(max(raw[c], low), high) for c in own)
                    away = FINE * (weighted - round(float(margin.estimate[cell]) * GRID))
                    slope = away - multiplier[cell] * stiff
                    moves[cell] = min(max(slope // (FINE * sum(counts[c] for c in own) + stiff), -high), high)
                    multiplier[cell] += moves[cell]
                raw = [own - moves[cell] for own, cell in zip(raw, margin.cells.tolist(), strict=True)]
    return [min(max(each, low), high) for each in raw]


@settings(deadline=None, max_examples=examples(20))
@given(seed=st.integers(0, 10**6), scale=st.sampled_from([1.0, 30.0, 1000.0]))
def test_the_weights_are_those_of_exact_integers(seed: int, scale: float) -> None:
    case = draw_case(seed, scale)
    assert calibrate(case.counts, case.margins, case.margins[:2], case.design).tolist() == by_python(
        case.counts.tolist(), case.margins, case.margins[:2], case.design
    )


def objective(case: Case, weights: npt.NDArray[np.float64]) -> float:
    """Return the sum that the weights are near the minimum of."""
    design = float(case.design)
    _, _, estimate, error = case.ends()
    away = (case.rows @ weights - estimate) / error
    return float((case.counts * (weights - design) ** 2).sum() / (2 * design) + RIDGE * (away @ away) / 2)


def least(case: Case) -> float:
    """Return the minimum, by bounded least squares."""
    design, (low, high) = float(case.design), weight_limits(case.design)
    _, _, estimate, error = case.ends()
    root = np.sqrt(case.counts / design)
    matrix = np.vstack([np.diag(root), RIDGE**0.5 * case.rows / error[:, None]])
    target = np.concatenate([root * design, RIDGE**0.5 * estimate / error])
    found = lsq_linear(matrix, target, (low / GRID - 1e-9, high / GRID + 1e-9), tol=1e-12)
    return objective(case, found.x)


def converged(case: Case) -> npt.NDArray[np.float64]:
    """Return the weights after 3,000 sweeps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(integer_calibration, "SWEEPS", 3000)
        return calibrate(case.counts, case.margins, (), case.design) / GRID


@pytest.mark.thorough
@settings(deadline=None, max_examples=examples(40))
@given(seed=st.integers(0, 10**6), missing=st.sampled_from([0.0, 0.3]))
def test_the_weights_come_near_the_minimum_and_are_no_worse_than_equal_ones(seed: int, missing: float) -> None:
    """With 3,000 sweeps: small tables with stiff margins need more than the 200 of a release, whose weights may then be
    farther from the minimum than equal ones. (A release with weights that are farther from its one-way shares than
    equal ones has equal ones.) A fifth of the way to the minimum may be left. Rounding to units adds at most RIDGE
    (rows / 10^4)^2 / v, which is below .5 here.
    """
    case = draw_case(seed, missing=missing)
    assume(len(case.counts))
    equal, best = objective(case, np.full(len(case.counts), float(case.design))), least(case)
    found = objective(case, converged(case))
    assert found <= equal + 0.5
    assert found <= best + (equal - best) / 5 + 0.5


@pytest.mark.parametrize("seed", range(10))
def test_the_order_of_classes_does_not_matter_and_weights_stay_in_their_bounds(seed: int) -> None:
    case = draw_case(seed, missing=0.6)
    order = np.random.default_rng(seed).permutation(len(case.counts))
    turned = [NoisyMargin(each.cells[order], each.estimate, each.variance, each.lower, each.upper)
              for each in case.margins]  # fmt: skip
    weights = calibrate(case.counts, case.margins, (), case.design)
    assert (weights[order] == calibrate(case.counts[order], turned, (), case.design)).all()
    low, high = weight_limits(case.design)
    assert ((low <= weights) & (weights <= high)).all()


def test_no_shifted_weight_is_accepted_but_by_the_tolerance_of_earlier_releases() -> None:
    """1,000 forgeries: one unit more or less in one class, the least that a weight can be shifted by."""
    case, draws = draw_case(5), np.random.default_rng(1)
    weights = calibrate(case.counts, case.margins, (), case.design)
    for _ in range(1000):
        forged = weights.copy()
        forged[draws.integers(len(weights))] += draws.choice([-1, 1])
        assert [*weights_problems(forged, weights, "integer ridge")]
        assert not [*weights_problems(forged, weights, "ridge")]
    assert not [*weights_problems(weights, weights, "integer ridge")]
