"""Variances of the counts of a release after consistency: a function of its manifest and levels alone."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import prod

import numpy as np

from crowdgate.arrays import Codes, Floats
from crowdgate.hierarchy import Level
from crowdgate.kinds.tables.manifest_fields import TableFields, TablesManifest
from crowdgate.mechanisms.tables.consistency import Axes, common_margin, refines, variances_after
from crowdgate.mechanisms.tables.orthogonal import Orthogonal
from crowdgate.mechanisms.tables.residuals import ResidualNoise
from crowdgate.noisy_counts.recount import CountsPlan
from crowdgate.publish.levels import ReleasedDomains, levels_of

Spread = Mapping[str, Floats]
"""The variance of each cell, in squared steps, by the file of the table."""
_MOST_CONSTRAINTS, _MOST_WORK = 6000, 4e10
"""Limits above which format 1 did not compute variances after consistency, but stated those of the noise."""


def consistent_counts(said: TablesManifest) -> list[tuple[TableFields, int]]:
    """Return the counts that were made consistent, including those behind quantiles: tables, and places of queries."""
    tables = [table for table in said.data.tables if table.kind in ("count", "quantiles")]
    return [(table, at) for table in tables for at in table.queries]


def counts_plan(said: TablesManifest, domains: ReleasedDomains) -> CountsPlan:
    """Return the plan of the consistent counts."""
    counts, levels, queries = consistent_counts(said), levels_of(domains), said.mechanism.queries
    # in the order of the table's axes: JSON keeps no order of the names of a query's levels
    axes = [{name: levels[name, queries[at].levels[name]] for name in table.query_levels} for table, at in counts]
    residuals, laws = _residual_noise(said, levels, axes), []
    if residuals is None:
        laws = [said.mechanism.law(at) for _, at in counts]
    width = said.mechanism.width or Fraction(0)  # format 1 has another width
    return CountsPlan([table.file for table, _ in counts], axes, laws, said.mechanism.beta, width, residuals)


def _residual_noise(
    said: TablesManifest, levels: Mapping[tuple[str, str], Level], axes: Sequence[Axes]
) -> ResidualNoise | None:
    """Return the noise on residuals that a manifest states; None if its noise is on the tables' cells."""
    if said.mechanism.residuals is None:
        return None
    own = [{name: levels[name, level] for name, level in each.levels.items()} for each in said.mechanism.residuals]
    return ResidualNoise(axes, own, [law.variance for law in said.mechanism.residual_laws()])


def count_variances(said: TablesManifest, domains: ReleasedDomains) -> Spread:
    """Return, by the name of each table of counts of a release of format 1, the variance of the noise in each cell,
    flat."""
    plan = counts_plan(said, domains)
    variances = [law.variance for law in plan.laws]
    if not variances:
        return {}
    after, _ = variances_after(plan.axes, variances)
    if _costly(plan.axes, variances):
        after = tuple(np.full(own.shape, variance) for own, variance in zip(after, variances, strict=True))
    return {name: own.reshape(-1) for name, own in zip(plan.names, after, strict=True)}


def _costly(axes: Sequence[Axes], variances: Sequence[float]) -> bool:
    """Return whether format 1 did not compute variances after consistency: attributes at several levels, many links."""
    codes: dict[str, Codes] = {}
    several = [
        name
        for levels in axes
        for name, level in levels.items()
        if len(level) > 1 and not np.array_equal(codes.setdefault(name, level.codes), level.codes)
    ]
    if not several:
        return False
    height = sum(prod(map(len, join.values())) for join in _links(axes))
    cells = sum(prod(map(len, levels.values())) for levels in axes)
    rank = cells - len(Orthogonal.of(axes, variances).least)
    return height > _MOST_CONSTRAINTS or rank * rank * cells > _MOST_WORK


def _links(axes: Sequence[Axes]) -> Iterator[Axes]:
    """Yield the margins common to two tables by which format 1 connected them, finest first, without those on which the
    two agree already."""
    joins: dict[tuple[tuple[str, int], ...], Axes] = {}
    for left, right in combinations(axes, 2):
        shared = common_margin(left, right)
        joins.setdefault(tuple((name, len(level)) for name, level in shared.items()), shared)
    made: list[tuple[int, int, Axes]] = []
    for join in sorted(joins.values(), key=lambda levels: prod(map(len, levels.values())), reverse=True):
        group = list(range(len(axes)))
        for i, j, finer in made:
            if refines(finer, join):
                group = [group[i] if own == group[j] else own for own in group]
        holders = [at for at, levels in enumerate(axes) if refines(levels, join)]
        for other in holders[1:]:
            if group[holders[0]] != group[other]:
                group = [group[holders[0]] if own == group[other] else own for own in group]
                made.append((holders[0], other, join))
                yield join
