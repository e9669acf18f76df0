"""Calibrated weights: one weight for all rows of a class, so that weighted figures agree with noisy margins.

Generalised raking (Deville and Saerndal 1992, their truncated linear method) with a ridge on the margins (Rao and Singh
1997). Class c has n_c released rows, each row the design weight d = 1 / beta, and the weight w_c = d g_c. Cell j of a
margin has an estimate t_j of variance v_j and an interval [l_j, u_j]; N_j(w) = sum of n_c w_c over its classes. With
0.1 <= g_c <= 10 the weights minimise

    sum_c n_c d (g_c - 1)^2 / 2  +  100 sum_j (N_j(w) - s_j - t_j)^2 / (2 v_j),   l_j <= N_j(w) - s_j <= u_j,

where s is the least shift for which such weights exist: it minimises sum_j s_j^2 / v_j. If all intervals can be met,
then s = 0 and the weights meet them; among all such weights they are the nearest to the design weight and to the
estimates. Otherwise (a group in the margins has no row, or too few) the weights come as near to the intervals as the
bounds permit, in squared standard errors, and are the nearest to the design weight among those. s, and so the weights,
is a continuous function of estimates and intervals.

These weights are of releases that state the calibration `ridge`. Later ones are computed in whole numbers
(`integer_calibration`).

A cell without a class can't be met by any weight, so it is no constraint. Weights are functions of released rows and
noisy margins only: post-processing, which costs no budget.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from crowdgate.arrays import Bools, Floats, Integers
from crowdgate.mechanisms.rows.interval_projection import MOST_DENSE, ProjectionProblem, nearest_point
from crowdgate.mechanisms.rows.nested import common_sums

GRID = 10_000
"""Weights are whole multiples of 1/GRID: sums of weights are exact in integers."""
LEAST, MOST = Fraction(1, 10), Fraction(10)
"""Bounds of a weight in multiples of the design weight."""
RIDGE = 100.0
"""Factor of a squared standard error between weighted count and estimate in the objective."""
_HAIR = 1e-3
"""Standard errors by which intervals are narrowed, to cover the inexactness of the solution."""


@dataclass(frozen=True, eq=False)
class NoisyMargin:
    """A noisy table beside the classes: the cell of each class, and for each cell (flat) a linear estimate (possibly
    negative or fractional), its variance (positive) and its interval."""

    cells: Integers
    estimate: Floats
    variance: Floats
    lower: Floats
    upper: Floats


@dataclass(frozen=True, eq=False)
class Calibration:
    """Weights in units of 1/GRID, one for each class. `met`: all intervals of cells with a class are met. `shift` is
    the root of sum s_j^2 / v_j, in standard errors; `gap` bounds how much lower its square could be with other
    weights."""

    weights: Integers
    met: bool
    shift: float
    gap: float


@dataclass(frozen=True, eq=False)
class Residuals:
    """The fit of weights to one margin, by cell: the weighted count, in units of 1/GRID; whether any class belongs to
    the cell; whether the weighted count is in the interval; weighted count minus estimate."""

    weighted: Integers
    represented: Bools
    within: Bools
    residual: Floats


def calibrate(counts: Integers, margins: Sequence[NoisyMargin], design: Fraction) -> Calibration:
    """Return the weights of classes with these numbers of released rows (each above 0); `design` is 1 / beta, at least
    1.

    Each interval is narrowed by the effect of rounding to the grid (half a unit for each row, at most a quarter of the
    interval). If the bounds allow all narrowed intervals to be met, the weighted counts are in the intervals. The order
    of classes and margins changes weights by at most a unit of the grid. Raises ValueError for invalid input,
    ArithmeticError if the method does not converge.
    """
    problem = _problem(counts, margins, design)
    found = nearest_point(problem)
    low, high = weight_limits(design)
    weights = np.clip(np.rint(found.ratios * float(design * GRID)).astype(np.int64), low, high)
    met = all(left.within[left.represented].all() for left in residuals(counts, weights, margins))
    return Calibration(weights, met, float(np.sqrt(found.shift @ found.shift)), found.gap)


def residuals(counts: Integers, weights: Integers, margins: Sequence[NoisyMargin]) -> tuple[Residuals, ...]:
    """Return the fit of the weights to each margin, from the exact integer sums of a class's rows times its weight."""
    return tuple(_residuals(counts, weights, margin) for margin in margins)


def _residuals(counts: Integers, weights: Integers, margin: NoisyMargin) -> Residuals:
    weighted = np.zeros(len(margin.estimate), dtype=np.int64)
    np.add.at(weighted, margin.cells, counts * weights)
    represented = np.zeros(len(margin.estimate), dtype=np.bool_)
    represented[margin.cells] = True
    people = weighted / GRID
    return Residuals(
        weighted, represented, (margin.lower <= people) & (people <= margin.upper), people - margin.estimate
    )


def weight_limits(design: Fraction) -> tuple[int, int]:
    """Return the least and the greatest permitted weight of a row, in units of 1/GRID. `design` is the design weight 1
    / beta."""
    return -int(-LEAST * design * GRID // 1), int(MOST * design * GRID // 1)


def _problem(counts: Integers, margins: Sequence[NoisyMargin], design: Fraction) -> ProjectionProblem:
    """Return the projection problem for the weights: the cells that have a class as rows, in standard errors, the
    classes as columns."""
    from scipy.sparse import csr_array, vstack

    _check(counts, margins, design)
    rows, lows, highs, targets = [], [], [], []
    for margin in margins:
        released = np.bincount(margin.cells, counts, len(margin.estimate))
        has, error = released > 0, np.sqrt(margin.variance)
        place = np.cumsum(has) - 1
        entries = 1 / error[margin.cells], (place[margin.cells], np.arange(len(counts)))
        rows.append(csr_array(entries, shape=(int(has.sum()), len(counts))))
        hair = np.minimum(_HAIR * error + released / (2 * GRID), (margin.upper - margin.lower) / 4)
        lows.append(((margin.lower + hair) / error)[has])
        highs.append(((margin.upper - hair) / error)[has])
        targets.append((margin.estimate / error)[has])
    matrix = vstack(rows, format="csr") if rows else csr_array((0, len(counts)))
    low, high = (end / float(design * GRID) for end in weight_limits(design))
    base = np.asarray(counts * float(design), dtype=np.float64)
    coarse = _coarse(margins) if min(matrix.shape) > MOST_DENSE else csr_array((matrix.shape[0], 0))
    return ProjectionProblem(matrix, base, _joined(targets), _joined(lows), _joined(highs), low, high, RIDGE, coarse)


def _coarse(margins: Sequence[NoisyMargin]) -> Any:
    """Return a sparse matrix of the cells that have a class (rows) by the sums of cells that several margins have in
    common (columns): a cell's standard error where it is part of a sum, else 0."""
    errors = [np.sqrt(margin.variance[np.unique(margin.cells)]) for margin in margins]
    return common_sums([margin.cells for margin in margins]).multiply(np.concatenate(errors)[:, None]).tocsr()


def _joined(parts: list[Any]) -> Floats:
    return np.concatenate(parts) if parts else np.zeros(0)


def _check(counts: Integers, margins: Sequence[NoisyMargin], design: Fraction) -> None:
    if design < 1 or not (counts > 0).all():
        raise ValueError("the design weight must be at least 1 and every class must have a row")
    for margin in margins:
        numbers = np.stack([margin.estimate, margin.variance, margin.lower, margin.upper])
        if margin.cells.shape != counts.shape or not np.isfinite(numbers).all():
            raise ValueError("a margin must have a cell of every class and finite numbers")
        if not (margin.variance > 0).all() or not (margin.lower <= margin.upper).all():
            raise ValueError("variances must be positive, and no interval may end before it begins")
