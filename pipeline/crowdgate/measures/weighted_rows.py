"""Measures of what recipients use: weights, and the people of the margins whom the released rows represent.

They read released rows, the sampling rate and paid margins only: post-processing, which costs no budget.

Share of people who are represented: N_c of the table's N rows are in class c, whose sampled rows are R_c, binomial with
beta, released if at least k. A class of about k rows is released only if R_c is large, so R_c / beta is too large on
average. By k P[R_c = k] = beta N_c P[one of the others is the k-th] exactly

    E[(R_c - (1 - beta) k 1{R_c = k}) 1{R_c >= k}] = beta N_c P[R_c >= k]:

a correction of classes of exactly k rows alone makes the estimate of the sum of N_c over released classes unbiased, for
any table. The variance of its error, times beta^2, is the expectation of

    (1 - beta) R_c 1{R_c > k} + (1 - beta)^2 k (k + 1) 1{R_c = k + 1}.

Both follow from E[(R - beta N) f(R)] = (1 - beta) E[R (f(R) - f(R - 1))], which holds for a binomial R and any f. Tests
enumerate both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.candidate import Candidate, Measurement, OutputType, Range, Static, WeightedCells, WeightedRows
from crowdgate.measures.base import NOT_NEGATIVE, SHARE, USEFUL, Aspect, BetterSide, Measure, MeasureClass, unbounded

if TYPE_CHECKING:
    from crowdgate.arrays import Integers
    from crowdgate.histogram import Histogram
    from crowdgate.policy.policy import GateRule

WAYS, SIZE = "ways", "size"
NORMAL_95 = 1.6448536269514722
"""The 95 % quantile of the standard normal distribution."""
MOST_WAYS = 2
MANY, FAR = 0.01, 0.05
"""The share of the table from which an absent value makes a column unfit, and the error of a share that does."""

Read = Callable[["Histogram", WeightedRows, Static, "GateRule"], Measurement | None]


def _of(read: Read) -> Callable[[Candidate, GateRule], Measurement | None]:
    """Return the function that measures released rows with weights by `read`; None for a candidate without them."""

    def measured(candidate: Candidate, rule: GateRule) -> Measurement | None:
        rows, weighted = candidate.rows, candidate.weighted
        return None if rows is None or weighted is None else read(rows, weighted, candidate.static, rule)

    return measured


def _margins(weighted: WeightedRows, ways: int) -> Iterator[WeightedCells]:
    """Yield the margins of at least one and at most `ways` columns."""
    return (each for each in weighted.margins if 1 <= len(each.columns) <= ways)


def met_cells(weighted: WeightedRows) -> tuple[int, int]:
    """Return the number of cells of margins of one and two columns whose interval holds the sum of weights (0 without a
    released row), and the number of all these cells."""
    held = [(each.lower <= each.weighted) & (each.weighted <= each.upper) for each in _margins(weighted, MOST_WAYS)]
    return sum(int(each.sum()) for each in held), sum(map(len, held))


def _met(_: Histogram, weighted: WeightedRows, *__: object) -> Measurement | None:
    met, cells = met_cells(weighted)
    return Measurement.exact(Fraction(met, cells)) if cells else None


def represented_share(counts: Integers, weighted: WeightedRows, beta: float, k: int) -> Measurement | None:
    """Return the share of the table's rows that are in a released class, with limits; None if noise leaves the total
    without a lower limit above 0.

    `counts` are the rows of each class. The limits are Fieller's (1954), for a ratio of independent normal numbers.
    """
    total = next((each for each in weighted.margins if not each.columns), None)
    if total is None:
        return None
    people, error = float(total.unbiased[0]), NORMAL_95 * float(total.error[0])
    if people <= error:
        return None
    found, spread = _released_people(counts, beta, k)
    square = people**2 - error**2
    root = NORMAL_95 * sqrt(max(0.0, spread * square + found**2 * float(total.error[0]) ** 2))
    ends = ((found * people - root) / square, (found * people + root) / square)
    value, low, high = (min(1.0, max(0.0, each)) for each in (found / people, *ends))
    return Measurement(value, low, high)


def _released_people(counts: Integers, beta: float, k: int) -> tuple[float, float]:
    """Return the estimated number of the table's rows in released classes, and the variance of its error."""
    last = int((counts == k).sum()) * k
    next_ones = int((counts == k + 1).sum()) * k * (k + 1)
    rows = int(counts.sum())
    found = (rows - (1 - beta) * last) / beta
    return found, ((1 - beta) * (rows - last) + (1 - beta) ** 2 * next_ones) / beta**2


def _represented(rows: Histogram, weighted: WeightedRows, static: Static, _: GateRule) -> Measurement | None:
    return represented_share(rows.counts, weighted, float(static.beta), static.least_class)


def absent_cells(margin: WeightedCells, size: int) -> Integers:
    """Return the cells of a margin that have no released row, though the margin's interval says that the table has at
    least `size` rows there."""
    return np.flatnonzero((margin.rows == 0) & (margin.lower > size - 1))


def _absent(_: Histogram, weighted: WeightedRows, __: Static, rule: GateRule) -> Measurement:
    ways, size = int(rule.options.get(WAYS, 1)), int(rule.options.get(SIZE, 1))
    return Measurement.exact(sum(len(absent_cells(each, size)) for each in _margins(weighted, ways)))


def effective_rows(counts: Integers, weights: Integers) -> int:
    """Return Kish's effective sample size (1965), rounded down: (sum of weights)^2 / sum of squared weights. This many
    equally weighted rows estimate a mean as exactly. Weights are whole units."""
    pairs = list(zip(counts.tolist(), weights.tolist(), strict=True))
    squares = sum(rows * weight * weight for rows, weight in pairs)
    return int(sum(rows * weight for rows, weight in pairs) ** 2 // squares) if pairs else 0


def _effective(rows: Histogram, weighted: WeightedRows, *_: object) -> Measurement:
    return Measurement.exact(effective_rows(rows.counts, weighted.weights))


def worst_share_error(weighted: WeightedRows) -> Measurement | None:
    """Return the greatest difference between the weighted share of a value and the share that the margins state for it;
    None without a margin of one column, without a row, or if the total is too noisy.

    The limits are the greatest distances from the nearer and the farther end of the margin's interval, which is divided
    by the farther and the nearer end of the total's.
    """
    total = next((each for each in weighted.margins if not each.columns), None)
    margins = tuple(_margins(weighted, 1))
    if total is None or not margins or not total.weighted[0] > 0 or not total.lower[0] > 0:
        return None
    found = np.concatenate([_share_errors(each, total) for each in margins], axis=1)
    value, low, high = (float(each) for each in found.max(axis=1))
    return Measurement(value, low, high)


def _share_errors(margin: WeightedCells, total: WeightedCells) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return for each cell the error of its weighted share, and the error's lower and upper limit."""
    share = margin.weighted / total.weighted[0]
    stated = margin.estimate / total.estimate[0]
    low, high = margin.lower / total.upper[0], margin.upper / total.lower[0]
    error = np.abs(share - stated)
    nearest = np.maximum(np.maximum(low - share, share - high), 0)
    farthest = np.maximum(np.abs(share - low), np.abs(share - high))
    return np.stack([error, np.minimum(nearest, error), np.maximum(farthest, error)])


def unfit_columns(weighted: WeightedRows) -> tuple[str, ...]:
    """Return the columns that the rows misstate, by their margins: a value of at least `MANY` of the full table's rows
    has no released row, or the weighted share of a value is surely off by more than `FAR`."""
    total = next((each for each in weighted.margins if not each.columns), None)
    if total is None:
        return ()
    least = max(1, int(MANY * float(total.estimate[0])))
    return tuple(each.columns[0] for each in _margins(weighted, 1) if _is_unfit(each, total, least))


def _is_unfit(margin: WeightedCells, total: WeightedCells, least: int) -> bool:
    known = total.weighted[0] > 0 and total.lower[0] > 0
    return bool(len(absent_cells(margin, least))) or (known and bool((_share_errors(margin, total)[1] > FAR).any()))


def _worst(_: Histogram, weighted: WeightedRows, *__: object) -> Measurement | None:
    return worst_share_error(weighted)


def _most_rows(static: Static, _: GateRule) -> Range:
    return 0, static.most_rows if static.most_rows >= static.least_class else 0


def _absent_reach(static: Static, rule: GateRule) -> Range:
    """Return the range of the number of absent values: at most all cells of all margins of one column, and of two if
    the gate counts them."""
    sizes = [len(level) for level in static.levels.values()]
    pairs = (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2
    return 0, sum(sizes) + (pairs if rule.options.get(WAYS) == MOST_WAYS else 0)


MARGINS_MET = Measure(
    name="margins_met",
    summary="share of the cells of all margins of one and two columns whose 95 % interval holds the sum of the rows'"
    " weights",
    sentence="It takes the share of the noisy counts that the weighted rows agree with, in tables of one and of two"
    f" columns. {USEFUL}",
    reads=MeasureClass.OUTPUT,
    shape=OutputType.MARGINS,
    aspect=Aspect.USEFULNESS,
    better=BetterSide.LARGER,
    accumulates=False,
    range=SHARE,
    reach=unbounded,
    of_candidate=_of(_met),
    steady=False,
)
REPRESENTED_SHARE = Measure(
    name="represented_share",
    summary="estimated share of the full table's rows whose combination of values has a released row, with the limits"
    " of its interval; inconclusive where noise hides the total",
    sentence="It takes the share of the people in the table whose combination of values is in the release. The others"
    f" are missing,\nand rows that are unlike them stand for them. {USEFUL}",
    reads=MeasureClass.OUTPUT,
    shape=OutputType.MARGINS,
    aspect=Aspect.USEFULNESS,
    better=BetterSide.LARGER,
    accumulates=False,
    range=SHARE,
    reach=unbounded,
    of_candidate=_of(_represented),
    steady=True,
)
ABSENT_VALUES = Measure(
    name="absent_values",
    summary="number of values without a released row, of which the full table has at least `size` (by default 1) by the"
    " margins' 95 % interval. With `ways: 2` pairs of values in the margins of two columns count too",
    sentence="It counts the values that at least {size} people have by the noisy counts, and no released row has, in"
    " tables of at most\n{ways} columns. Users who look for these people find nobody.",
    reads=MeasureClass.OUTPUT,
    shape=OutputType.MARGINS,
    aspect=Aspect.USEFULNESS,
    better=BetterSide.SMALLER,
    accumulates=False,
    range=NOT_NEGATIVE,
    reach=_absent_reach,
    of_candidate=_of(_absent),
    steady=False,
    options=(WAYS, SIZE),
)
EFFECTIVE_ROWS = Measure(
    name="effective_rows",
    summary="number of equally weighted rows that estimate a mean as exactly as the weighted rows (Kish 1965)",
    sentence="It counts how many rows of equal weight would tell as much as the weighted rows. Weights that differ much"
    f" leave few.\n{USEFUL}",
    reads=MeasureClass.OUTPUT,
    shape=OutputType.MARGINS,
    aspect=Aspect.USEFULNESS,
    better=BetterSide.LARGER,
    accumulates=False,
    range=NOT_NEGATIVE,
    reach=_most_rows,
    of_candidate=_of(_effective),
    steady=False,
)
WORST_SHARE_ERROR = Measure(
    name="worst_share_error",
    summary="the greatest difference between the weighted rows' share of a value and the share by the margins, with the"
    " limits that the margins' intervals give; inconclusive without rows, or where noise hides the total",
    sentence="It takes the value whose share among the weighted rows is farthest from its share by the noisy counts."
    f" 0.1 means\n10 points in 100. {USEFUL}",
    reads=MeasureClass.OUTPUT,
    shape=OutputType.MARGINS,
    aspect=Aspect.USEFULNESS,
    better=BetterSide.SMALLER,
    accumulates=False,
    range=SHARE,
    reach=unbounded,
    of_candidate=_of(_worst),
    steady=False,
)
