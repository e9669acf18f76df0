"""Counts that later plans read from a release of rows: its margins. A release without margins gives no counts, as it
says nothing of the people whose rows are suppressed."""

from collections.abc import Iterator

import numpy as np

from crowdgate.kind.prior import ReportedCounts
from crowdgate.kinds.rows.candidate import PublishedRows
from crowdgate.kinds.rows.manifest_fields import RowsManifest
from crowdgate.kinds.rows.margins import labels_of


def counts_for_planning(_: RowsManifest, held: PublishedRows) -> Iterator[ReportedCounts]:
    """Yield all margins with the variance of each cell; nothing for a release without margins."""
    labels = labels_of(held)
    for margin in () if held.weighting is None else held.weighting.margins:
        axes = {column: tuple(labels[column, level]) for column, level in margin.levels.items()}
        shape = tuple(map(len, axes.values()))
        yield ReportedCounts(axes, margin.value.reshape(shape), np.square(margin.error).reshape(shape))
