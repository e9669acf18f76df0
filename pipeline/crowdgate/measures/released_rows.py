"""Measures of the released rows alone."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from crowdgate.candidate import Measurement, OutputType, Range, Static
from crowdgate.measures.base import NOT_NEGATIVE, USEFUL, Aspect, BetterSide, Measure, MeasureClass, of_rows

if TYPE_CHECKING:
    from crowdgate.histogram import Histogram
    from crowdgate.policy.policy import GateRule


def _rows(rows: Histogram, *_: object) -> Measurement:
    return Measurement.exact(rows.rows)


def _classes(rows: Histogram, *_: object) -> Measurement:
    return Measurement.exact(len(rows))


def _smallest(rows: Histogram, static: Static, _: GateRule) -> Measurement:
    """Return the number of rows of the smallest class; for an empty release the least size that the mechanism
    publishes, since no class is smaller."""
    return Measurement.exact(int(rows.counts.min()) if len(rows) else static.least_class)


def _rows_reach(static: Static, _: GateRule) -> Range:
    """Return the range of the number of rows; 0 if even all rows together are too few for a class."""
    return 0, static.most_rows if static.most_rows >= static.least_class else 0


def _classes_reach(static: Static, _: GateRule) -> Range:
    return 0, min(static.cells, static.most_rows // static.least_class)


def _smallest_reach(static: Static, _: GateRule) -> Range:
    return static.least_class, max(static.most_rows, static.least_class)


def _sampled(rows: float, rate: float) -> float:
    """Return the standard deviation of a binomial number of rows, of about this size, at this sampling rate."""
    return sqrt(max(0.0, rows) * (1 - rate))


RELEASED_ROWS = Measure(
    name="released_rows",
    summary="number of rows in the release",
    sentence=f"It counts the rows of the release. {USEFUL}",
    reads=MeasureClass.OUTPUT,
    shape=OutputType.ROWS,
    aspect=Aspect.USEFULNESS,
    better=BetterSide.EITHER,
    accumulates=False,
    range=NOT_NEGATIVE,
    reach=_rows_reach,
    of_candidate=of_rows(_rows),
    steady=True,
    deviation=_sampled,
)
RELEASED_CLASSES = Measure(
    name="released_classes",
    summary="number of distinct rows in the release",
    sentence="It counts the different rows of the release, rows that are equal in all columns once. " + USEFUL,
    reads=MeasureClass.OUTPUT,
    shape=OutputType.ROWS,
    aspect=Aspect.USEFULNESS,
    better=BetterSide.EITHER,
    accumulates=False,
    range=NOT_NEGATIVE,
    reach=_classes_reach,
    of_candidate=of_rows(_classes),
    steady=True,
    counts_indicators=True,
)
SMALLEST_CLASS = Measure(
    name="smallest_class",
    summary="number of rows in the smallest class of the release; never below k, so a limit up to k decides nothing",
    sentence="It looks at the smallest group of equal rows in the release. Groups below k are left out anyway, so a"
    " limit up to k decides\nnothing; and k-anonymity alone does not prevent singling out.",
    reads=MeasureClass.OUTPUT,
    shape=OutputType.ROWS,
    aspect=Aspect.LINKABILITY,
    better=BetterSide.LARGER,
    accumulates=False,
    range=NOT_NEGATIVE,
    reach=_smallest_reach,
    of_candidate=of_rows(_smallest),
    steady=False,
)
