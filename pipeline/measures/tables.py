"""What published tables show of their own accuracy."""

from math import inf

import numpy as np

from pipeline.candidate import Measurement, TablesCandidate
from pipeline.measures.base import Measure, MeasureClass
from pipeline.policy import GateRule

TABLES = ("dp_tables",)


def _trusted_share(candidate: TablesCandidate, _: GateRule) -> Measurement | None:
    flags = [cells.trustworthy for cells in candidate.output]
    return Measurement.exact(float(np.concatenate(flags).mean())) if flags else None


def _total_relative_error(candidate: TablesCandidate, _: GateRule) -> Measurement | None:
    """Of the most exact total, if there is one and it is above 0."""
    totals = [cells for cells in candidate.output if cells.total and cells.values[0] > 0]
    shares = [float(cells.errors[0] / cells.values[0]) for cells in totals]
    return Measurement.exact(min(shares)) if shares else None


def _smallest_trusted(candidate: TablesCandidate, _: GateRule) -> Measurement | None:
    counts = [cells.values[cells.trustworthy] for cells in candidate.output if cells.kind == "count"]
    trusted = np.concatenate(counts) if counts else np.empty(0)
    return Measurement.exact(float(trusted.min())) if trusted.size else None


TRUSTED_SHARE = Measure(
    "trusted_share",
    MeasureClass.OUTPUT,
    "share of the published counts, sums and means whose standard error is within the policy's relative error",
    reach=lambda *_: (0, 1),
    of_candidate=_trusted_share,
    mechanisms=TABLES,
)
TOTAL_RELATIVE_ERROR = Measure(
    "total_relative_error",
    MeasureClass.OUTPUT,
    "standard error of the published total, in parts of it",
    reach=lambda *_: (0, inf),
    of_candidate=_total_relative_error,
    mechanisms=TABLES,
)
SMALLEST_TRUSTED_CELL = Measure(
    "smallest_trusted_cell",
    MeasureClass.OUTPUT,
    "the smallest published count that is trustworthy",
    reach=lambda *_: (0, inf),
    of_candidate=_smallest_trusted,
    mechanisms=TABLES,
)
