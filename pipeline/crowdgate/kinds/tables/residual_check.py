"""Check of the residuals that a manifest states: those of its tables, and the largest change of each by one unit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

from crowdgate.accounting.residual_noise import residual_change, residual_factor
from crowdgate.limits import MOST_NUMBERS

if TYPE_CHECKING:
    from crowdgate.kinds.tables.manifest_fields import TablesManifest
    from crowdgate.noisy_counts.manifest_fields import ResidualFields


def residual_problems(said: TablesManifest) -> Iterator[str]:
    """Yield the problems of a manifest's residuals: other ones than its tables determine, or a change by one unit that
    is not theirs."""
    residuals = said.mechanism.residuals
    if residuals is None:
        return
    if any(table.kind != "count" for table in said.data.tables) or said.format < 3 or said.mechanism.raw:
        yield "only tables of counts, and none as drawn, can have their noise on residuals"
        return
    sizes = {(each.name, each.level): each.values for each in said.data.columns}
    used = {axis for table in said.data.tables for axis in table.levels.items()}
    if not used <= set(sizes) or len({name for name, level in used if sizes[name, level] > 1}) < sum(
        sizes[axis] > 1 for axis in used
    ):
        yield "tables whose noise is on residuals have each column at one level, with a stated number of values"
    elif any(prod(sizes[axis] for axis in table.levels.items()) > MOST_NUMBERS for table in said.data.tables):
        yield "a table in the manifest has more cells than a release can have"
    elif [tuple(each.levels.items()) for each in residuals] != _due(said, sizes):
        yield "the residuals in the manifest are not those of its tables"
    elif not all(_fits(each, sizes, said.mechanism.rows_per_unit) for each in residuals):
        yield "the cells, the factor or the sensitivity of a residual in the manifest is wrong"


def _due(said: TablesManifest, sizes: Mapping[tuple[str, str], int]) -> list[tuple[tuple[str, str], ...]]:
    """Return the axes of all residuals that the tables need, in order."""
    found: set[tuple[tuple[str, str], ...]] = set()
    for table in said.data.tables:
        wide = sorted(axis for axis in table.levels.items() if sizes[axis] > 1)
        found |= {own for ways in range(len(wide) + 1) for own in combinations(wide, ways)}
    return sorted(found, key=lambda axes: (len(axes), [name for name, _ in axes]))


def _fits(stated: ResidualFields, sizes: Mapping[tuple[str, str], int], rows: int) -> bool:
    own = [sizes[axis] for axis in stated.levels.items()]
    due = prod(own), residual_factor(own), rows * residual_change(own)
    return (stated.cells, stated.factor, stated.sensitivity) == due
