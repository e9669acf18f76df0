"""What a release of rows tells of how many people there are: its margins, as later plans take them. Bare rows tell
nothing of the people whose rows are suppressed."""

from collections.abc import Iterator

import numpy as np

from crowdgate.kind.prior import ReportedCounts
from crowdgate.kinds.rows.candidate import PublishedRows
from crowdgate.kinds.rows.manifest_fields import RowsManifest
from crowdgate.kinds.rows.margins import labels_of


def counts_for_planning(_: RowsManifest, held: PublishedRows) -> Iterator[ReportedCounts]:
    """All margins with the variance that each cell states; nothing where none were bought."""
    labels = labels_of(held)
    for margin in () if held.weighting is None else held.weighting.margins:
        axes = {column: tuple(labels[column, level]) for column, level in margin.levels.items()}
        shape = tuple(map(len, axes.values()))
        yield ReportedCounts(axes, margin.value.reshape(shape), np.square(margin.error).reshape(shape))
