"""Counts that later plans read from a release of synthetic rows: its noisy tables."""

from collections.abc import Iterator

import numpy as np

from crowdgate.kind.prior import ReportedCounts
from crowdgate.kinds.synthetic.manifest_fields import SyntheticManifest
from crowdgate.kinds.synthetic.released_files import PublishedSynthetic


def counts_for_planning(said: SyntheticManifest, held: PublishedSynthetic) -> Iterator[ReportedCounts]:
    """Yield all measured tables, scaled to the whole table, with the variance from noise and sampling."""
    labels = {(each.column, each.level): each.labels for each in (*held.columns, *held.levels)}
    rate = float(said.mechanism.beta)
    for stated, table in zip(said.mechanism.measured, held.measured, strict=True):
        axes = {column: labels[column, level] for column, level in table.axes}
        noise = float(said.mechanism.squared_sigma(stated.rho))
        coins = (1 - rate) * np.maximum(table.noisy, 0)
        yield ReportedCounts(axes, table.noisy / rate, (noise + coins) / rate**2)
