"""Measures of published tables' own accuracy. A workload may publish none of the measured numbers."""

import numpy as np

from crowdgate.candidate import Measurement, OutputType, PublishedCells
from crowdgate.measures.base import (
    NOT_NEGATIVE,
    SHARE,
    USEFUL,
    Aspect,
    BetterSide,
    Measure,
    MeasureClass,
    of_cells,
    unbounded,
)

Cells = tuple[PublishedCells, ...]


def _trustworthy_share(published: Cells) -> Measurement | None:
    flags = [cells.trustworthy for cells in published]
    return Measurement.exact(float(np.concatenate(flags).mean())) if flags else None


def _total_relative_error(published: Cells) -> Measurement | None:
    """Return the relative error of the most exact total; None without a total above 0."""
    totals = [cells for cells in published if cells.total and cells.values[0] > 0]
    shares = [float(cells.errors[0] / cells.values[0]) for cells in totals]
    return Measurement.exact(min(shares)) if shares else None


def _smallest_trustworthy(published: Cells) -> Measurement | None:
    counts = [cells.values[cells.trustworthy] for cells in published if cells.statistic == "count"]
    trusted = np.concatenate(counts) if counts else np.empty(0)
    return Measurement.exact(float(trusted.min())) if trusted.size else None


TRUSTED_SHARE = Measure(
    name="trusted_share",
    summary="tables: share of the published counts, sums and means whose 95 % interval is within the policy's relative"
    " error",
    sentence="It takes the share of the published counts, sums and means whose 95 % interval is within the policy's"
    f" relative error\nof them. {USEFUL}",
    reads=MeasureClass.OUTPUT,
    shape=OutputType.CELLS,
    aspect=Aspect.USEFULNESS,
    better=BetterSide.LARGER,
    accumulates=False,
    range=SHARE,
    reach=unbounded,
    of_candidate=of_cells(_trustworthy_share),
    steady=False,
)
TOTAL_RELATIVE_ERROR = Measure(
    name="total_relative_error",
    summary="tables: error of the published total, in parts of it; inconclusive when there is no total, or it is 0",
    sentence=f"It takes the error that the noise gives the published total, in parts of the total. {USEFUL}",
    reads=MeasureClass.OUTPUT,
    shape=OutputType.CELLS,
    aspect=Aspect.USEFULNESS,
    better=BetterSide.SMALLER,
    accumulates=False,
    range=NOT_NEGATIVE,
    reach=unbounded,
    of_candidate=of_cells(_total_relative_error),
    steady=True,
)
SMALLEST_TRUSTED_CELL = Measure(
    name="smallest_trusted_cell",
    summary="tables: the smallest published count that is trustworthy; inconclusive when there is none",
    sentence=f"It takes the smallest published count whose noise is small beside it. {USEFUL}",
    reads=MeasureClass.OUTPUT,
    shape=OutputType.CELLS,
    aspect=Aspect.USEFULNESS,
    better=BetterSide.EITHER,
    accumulates=False,
    range=NOT_NEGATIVE,
    reach=unbounded,
    of_candidate=of_cells(_smallest_trustworthy),
    steady=False,
)
