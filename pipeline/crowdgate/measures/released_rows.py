"""What the released rows themselves show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.candidate import Measurement, OutputType, Range, Static
from crowdgate.measures.base import Aspect, Measure, MeasureClass, of_rows

if TYPE_CHECKING:
    from crowdgate.histogram import Histogram
    from crowdgate.policy.policy import GateRule


def _rows(rows: Histogram, *_: object) -> Measurement:
    return Measurement.exact(rows.rows)


def _classes(rows: Histogram, *_: object) -> Measurement:
    return Measurement.exact(len(rows))


def _smallest(rows: Histogram, static: Static, _: GateRule) -> Measurement:
    """On an empty release: the least size that the mechanism lets through, since no class is smaller."""
    return Measurement.exact(int(rows.counts.min()) if len(rows) else static.least_class)


def _rows_reach(static: Static, _: GateRule) -> Range:
    """No row at all where not even everybody makes a class."""
    return 0, static.most_rows if static.most_rows >= static.least_class else 0


def _classes_reach(static: Static, _: GateRule) -> Range:
    return 0, min(static.cells, static.most_rows // static.least_class)


def _smallest_reach(static: Static, _: GateRule) -> Range:
    return static.least_class, max(static.most_rows, static.least_class)


RELEASED_ROWS = Measure(
    "released_rows",
    MeasureClass.OUTPUT,
    OutputType.ROWS,
    "number of rows in the release",
    reach=_rows_reach,
    aspect=Aspect.USE,
    of_candidate=of_rows(_rows),
)
RELEASED_CLASSES = Measure(
    "released_classes",
    MeasureClass.OUTPUT,
    OutputType.ROWS,
    "number of distinct rows in the release",
    reach=_classes_reach,
    aspect=Aspect.USE,
    of_candidate=of_rows(_classes),
)
SMALLEST_CLASS = Measure(
    "smallest_class",
    MeasureClass.OUTPUT,
    OutputType.ROWS,
    "number of rows in the smallest class of the release",
    reach=_smallest_reach,
    aspect=Aspect.LINKABILITY,
    of_candidate=of_rows(_smallest),
)
