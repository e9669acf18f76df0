"""What published tables show of their own accuracy."""

from math import inf

import numpy as np

from crowdgate.candidate import Measurement, OutputType, PublishedCells, Range
from crowdgate.measures.base import Aspect, Measure, MeasureClass, of_cells

Cells = tuple[PublishedCells, ...]


def _any(*_: object) -> Range:
    """A workload may publish nothing of what is measured: then a gate is inconclusive, whatever its limit."""
    return -inf, inf


def _trustworthy_share(published: Cells) -> Measurement | None:
    flags = [cells.trustworthy for cells in published]
    return Measurement.exact(float(np.concatenate(flags).mean())) if flags else None


def _total_relative_error(published: Cells) -> Measurement | None:
    """Of the most exact total, if there is one and it is above 0."""
    totals = [cells for cells in published if cells.total and cells.values[0] > 0]
    shares = [float(cells.errors[0] / cells.values[0]) for cells in totals]
    return Measurement.exact(min(shares)) if shares else None


def _smallest_trustworthy(published: Cells) -> Measurement | None:
    counts = [cells.values[cells.trustworthy] for cells in published if cells.statistic == "count"]
    trusted = np.concatenate(counts) if counts else np.empty(0)
    return Measurement.exact(float(trusted.min())) if trusted.size else None


TRUSTED_SHARE = Measure(
    "trusted_share",
    MeasureClass.OUTPUT,
    OutputType.CELLS,
    "share of the published counts, sums and means whose standard error is within the policy's relative error",
    reach=_any,
    aspect=Aspect.USE,
    of_candidate=of_cells(_trustworthy_share),
)
TOTAL_RELATIVE_ERROR = Measure(
    "total_relative_error",
    MeasureClass.OUTPUT,
    OutputType.CELLS,
    "standard error of the published total, in parts of it",
    reach=_any,
    aspect=Aspect.USE,
    of_candidate=of_cells(_total_relative_error),
)
SMALLEST_TRUSTED_CELL = Measure(
    "smallest_trusted_cell",
    MeasureClass.OUTPUT,
    OutputType.CELLS,
    "the smallest published count that is trustworthy",
    reach=_any,
    aspect=Aspect.USE,
    of_candidate=of_cells(_smallest_trustworthy),
)
