"""Noisy counts of the bins of groups, and of groups of bins, from all tables of a release.

Each table that has the attributes of the groups and the column of the bins says something about them: it is summed to
the finest level at which it counts bins or groups of bins. Numbers of the same level are weighted by their inverse
variances. No table is used twice, so the noise on all numbers is independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.hierarchy import INVALID_LABEL, Level, coarser_codes
from crowdgate.mechanisms.tables.bin_groups import in_order
from crowdgate.mechanisms.tables.consistency import Axes, cells_of, refines
from crowdgate.mechanisms.tables.quantile_errors import NoisyBins

if TYPE_CHECKING:
    from crowdgate.arrays import Floats, Integers


def noisy_bins(
    axes: Sequence[Axes], noisy: Sequence[Integers], variances: Sequence[float], at: int, column: str
) -> NoisyBins:
    """Return the counts of the values of the column in table number `at`, by its other attributes."""
    own, groups = axes[at][column], {name: level for name, level in axes[at].items() if name != column}
    sums: dict[int, tuple[Level, Floats, Floats]] = {}
    for table, counts, variance in zip(axes, noisy, variances, strict=True):
        level = min(table.get(column, own), own, key=len)
        if column in table and refines(table, groups) and (len(level) == len(own) or in_order(level)):
            mean, precision = _margin(table, counts, variance, {**groups, column: level})
            _, other, known = sums.get(len(level), (level, mean, np.zeros_like(precision)))
            both = known + precision
            sums[len(level)] = level, (known * other + precision * mean) / both, both
    found = [sums[size] for size in sorted(sums, reverse=True)]
    levels = [level for level, _, _ in found]
    parents = [coarser_codes(*pair)[: _bins(pair[0])].astype(np.int64) for pair in pairwise(levels)]
    counted = [mean[..., : _bins(level)] for level, mean, _ in found]
    return NoisyBins(counted, [1 / precision[..., : _bins(level)] for level, _, precision in found], parents)


def _margin(axes: Axes, counts: Integers, variance: float, wanted: Axes) -> tuple[Floats, Floats]:
    """Return the margin with the axes `wanted`, and the inverse variance of its noise."""
    shape = tuple(map(len, wanted.values()))
    cells = cells_of(axes, wanted)
    sums = np.bincount(cells, np.asarray(counts, dtype=np.float64).reshape(-1), prod(shape)).reshape(shape)
    return sums.astype(np.float64), (1 / (variance * np.bincount(cells, minlength=prod(shape)))).reshape(shape)


def _bins(level: Level) -> int:
    """Return the number of values of the level without the invalid one."""
    return len(level) - (level.labels[-1] == INVALID_LABEL)
