"""Counts by one attribute in a release of tables, with the covariance of their noise after consistency.

The covariance is that of least squares from the margins that all tables of the release have in common with this one.
The published estimates are least squares from all that the tables say, which is at least as much. So no weighted sum of
them has a larger variance (Gauss-Markov).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.accounting.noise_sums import width
from crowdgate.hierarchy import EXACT
from crowdgate.kind.one_way_counts import OneWayCounts
from crowdgate.kinds.tables.recount import counts
from crowdgate.kinds.tables.standard_errors import consistent_counts, counts_plan
from crowdgate.mechanisms.tables.consistency import cells_of, common_margin
from crowdgate.publish.levels import domains_of

if TYPE_CHECKING:
    from crowdgate.arrays import Floats
    from crowdgate.kinds.tables.manifest_fields import TablesManifest
    from crowdgate.kinds.tables.released_files import PublishedTables
    from crowdgate.mechanisms.tables.consistency import Axes
    from crowdgate.mechanisms.tables.residuals import ResidualNoise
    from crowdgate.noisy_counts.recount import CountsPlan


def one_way_counts(said: TablesManifest, held: PublishedTables) -> Iterator[OneWayCounts]:
    """Yield each table of counts by one attribute at its finest level; none with empty cells, and none of a sample or
    of format 1."""
    if said.format == 1 or said.mechanism.beta != 1:
        return
    plan = counts_plan(said, domains_of(held.columns, held.coarser))
    noise = said.mechanism.residual_laws() or plan.laws
    vectors = said.mechanism.residuals or [said.mechanism.queries[at] for _, at in consistent_counts(said)]
    half = partial(width, noise, sum(each.cells for each in vectors))
    for stated, table in zip(held.said, held.tables, strict=True):
        if stated.kind == "count" and [axis.level for axis in stated.axes] == [EXACT]:
            found, axes = counts(table), plan.axes[plan.names.index(stated.file)]
            ((name, level),) = axes.items()
            if found.is_finite and len(level) > 1:
                spread = partial(covariance, plan, axes)
                yield OneWayCounts(name, found.unbiased, spread, half)


def covariance(plan: CountsPlan, axes: Axes) -> Floats:
    """Return the covariance of the counts by one attribute, or a larger one."""
    if plan.residuals is not None:
        return _residual_covariance(plan.residuals, axes)
    precision = np.zeros((prod(map(len, axes.values())),) * 2)
    for other, law in zip(plan.axes, plan.laws, strict=True):
        margin = common_margin(axes, other)
        summed = prod(map(len, other.values())) / prod(map(len, margin.values()))
        cells = cells_of(axes, margin)
        precision += (cells[:, None] == cells) / (law.variance * summed)
    return np.asarray(np.linalg.inv(precision), dtype=np.float64)


def _residual_covariance(noise: ResidualNoise, axes: Axes) -> Floats:
    """Return the covariance with noise on residuals: that of the total, spread evenly, and that of what the values say
    beyond the total, which sums to 0."""
    total, own = (float(each.flat[0]) for each in replace(noise, tables=[{}, axes]).after)
    (size,) = map(len, axes.values())
    even = np.full((size, size), 1 / size)
    beyond = (own - total / size**2) / (1 - 1 / size)
    return np.asarray(even * total / size + (np.eye(size) - even) * beyond, dtype=np.float64)
