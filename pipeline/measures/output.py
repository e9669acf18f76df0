"""What the released rows themselves show."""

from pipeline.candidate import Candidate, Measurement, Range, Static
from pipeline.measures.base import Measure, MeasureClass
from pipeline.policy import GateRule


def _rows(candidate: Candidate, _: GateRule) -> Measurement:
    return Measurement.exact(candidate.output.rows)


def _classes(candidate: Candidate, _: GateRule) -> Measurement:
    return Measurement.exact(len(candidate.output))


def _smallest(candidate: Candidate, _: GateRule) -> Measurement:
    """On an empty release: the least size that the mechanism lets through, since no class is smaller."""
    counts = candidate.output.counts
    return Measurement.exact(int(counts.min()) if len(counts) else candidate.static.least_class)


def _classes_reach(static: Static, _: GateRule) -> Range:
    return 0, min(static.cells, static.most_rows // static.least_class)


def _smallest_reach(static: Static, _: GateRule) -> Range:
    return static.least_class, max(static.most_rows, static.least_class)


RELEASED_ROWS = Measure(
    "released_rows",
    MeasureClass.OUTPUT,
    "number of rows in the release",
    reach=lambda static, _: (0, static.most_rows),
    of_candidate=_rows,
)
RELEASED_CLASSES = Measure(
    "released_classes",
    MeasureClass.OUTPUT,
    "number of distinct rows in the release",
    reach=_classes_reach,
    of_candidate=_classes,
)
SMALLEST_CLASS = Measure(
    "smallest_class",
    MeasureClass.OUTPUT,
    "number of rows in the smallest class of the release",
    reach=_smallest_reach,
    of_candidate=_smallest,
)
