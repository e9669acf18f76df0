"""Counts that later plans read from a release of tables."""

from collections.abc import Iterator

import numpy as np

from crowdgate.kind.prior import ReportedCounts
from crowdgate.kinds.tables.manifest_fields import TablesManifest
from crowdgate.kinds.tables.released_files import PublishedTables


def counts_for_planning(_: TablesManifest, held: PublishedTables) -> Iterator[ReportedCounts]:
    """Yield all tables of counts without an empty cell, with the variance that each number states."""
    labels = {(each.column, each.level): tuple(each.labels) for each in held.columns}
    for said, table in zip(held.said, held.tables, strict=True):
        if said.kind != "count":
            continue
        axes = {axis.column: labels[axis.column, axis.level] for axis in said.axes}
        shape = tuple(map(len, axes.values()))
        value, error = (
            np.asarray(table[name].to_numpy(), dtype=np.float64).reshape(shape) for name in ("value", "standard_error")
        )
        if not np.isnan(value).any() and not np.isnan(error).any():
            yield ReportedCounts(axes, value, np.square(error))
