"""Quantiles from a hierarchical histogram: bins counted each by itself, in groups, and in groups of these.

The bins are those of the published counts. Limits are those of balances (`quantiles`) of the least-squares estimates
from the histogram and its groups alone: weighted sums of noise, so the width of all such sums holds (`noise_sums`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.hierarchy import INVALID_LABEL, coarser_codes
from crowdgate.mechanisms.tables.bin_tree import TreeEstimates, tree_estimates
from crowdgate.mechanisms.tables.quantiles import balance_limits, quantile_bins, sampled_half_width

if TYPE_CHECKING:
    from crowdgate.arrays import Array, Floats, Integers
    from crowdgate.hierarchy import Level
    from crowdgate.mechanisms.tables.dp_tables import DpTables
    from crowdgate.mechanisms.tables.workload import Quantiles

Bins = tuple["Integers", "Integers", "Integers"]


def hierarchical_bins(
    mechanism: DpTables, item: Quantiles, own: Sequence[int], noisy: Sequence[Integers], values: Floats
) -> Bins:
    """Return the bins of the quantiles by the published counts (`values`, with bins along the last axis) and their 95 %
    limits, along a last axis of probabilities. `own` are the queries' places in `noisy`, finest first."""
    levels = [mechanism.queries[at].levels[item.column] for at in own]
    axis = list(mechanism.queries[own[0]].levels).index(item.column)
    drawn = [_along_last(noisy[at], axis, level) for at, level in zip(own, levels, strict=True)]
    spread = [np.full(each.shape, mechanism.laws[at].variance) for each, at in zip(drawn, own, strict=True)]
    parents = [coarser_codes(a, b).astype(np.int64)[: each.shape[-1]]
               for a, b, each in zip(levels, levels[1:], drawn, strict=False)]  # fmt: skip
    unbiased, width = tree_estimates(drawn, spread, parents), float(mechanism.width or 0)
    parts = [_quantile(values, unbiased, p, mechanism.beta, width) for p in item.probabilities]
    bins, low, high = (np.stack(each, axis=-1) for each in zip(*parts, strict=True))
    return bins, low, high


def _along_last(counts: Array, axis: int, level: Level) -> Floats:
    """Return the counts with the column's values along the last axis, without the invalid one."""
    last = len(level) - (level.labels[-1] == INVALID_LABEL)
    return np.moveaxis(np.asarray(counts, dtype=np.float64), axis, -1)[..., :last]


def _quantile(values: Floats, unbiased: TreeEstimates, p: Fraction, beta: Fraction, width: float) -> Bins:
    bins, share = quantile_bins(values, p), float(p)
    rows = np.maximum(unbiased.counts.sum(axis=-1, keepdims=True), 0) + width * np.sqrt(unbiased.total_variance)
    noise = unbiased.balance_variance(share)
    low, high = balance_limits(_balance(unbiased, share), sampled_half_width(width * np.sqrt(noise), rows, p, beta))
    return bins, low, high


def _balance(found: TreeEstimates, share: float) -> Floats:
    below = np.cumsum(found.counts, axis=-1)
    return np.asarray(below - share * below[..., -1:])
