"""Quantiles from a hierarchical histogram: bins counted each by itself, in groups, and in groups of these.

The bins are those of the published counts. Limits are those of balances (`quantiles`) of the least-squares estimates
from the histogram and its groups alone: weighted sums of noise, so the width of all such sums holds (`noise_sums`).
Errors are the same with the posterior of each bin in place of its noisy count.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.hierarchy import INVALID_LABEL, coarser_codes
from crowdgate.mechanisms.tables.bin_tree import TreeEstimates, tree_estimates
from crowdgate.mechanisms.tables.posterior import posterior
from crowdgate.mechanisms.tables.quantiles import (
    KnownBalances,
    balance_errors,
    balance_limits,
    quantile_bins,
    sampled_half_width,
)

if TYPE_CHECKING:
    from crowdgate.arrays import Array, Floats, Integers
    from crowdgate.hierarchy import Level
    from crowdgate.mechanisms.tables.dp_tables import DpTables
    from crowdgate.mechanisms.tables.workload import Quantiles

Bins = tuple["Integers", "Integers", "Integers", "Floats"]


def hierarchical_bins(
    mechanism: DpTables, item: Quantiles, own: Sequence[int], values: Array, noisy: Sequence[Integers]
) -> Bins:
    """Return the bins of the quantiles by the published counts (`values`), their 95 % limits and their errors, along a
    last axis of probabilities. `own` are the places of the queries, finest first, in `noisy`."""
    levels = [mechanism.queries[at].levels[item.column] for at in own]
    axis, beta = list(mechanism.queries[own[0]].levels).index(item.column), mechanism.beta
    published, *drawn = (_along_last(each, axis, level) for each, level in
                         zip((values, *(noisy[at] for at in own)), (levels[0], *levels), strict=True))  # fmt: skip
    spread = [np.full(each.shape, mechanism.laws[at].variance) for each, at in zip(drawn, own, strict=True)]
    parents = [coarser_codes(a, b).astype(np.int64)[: each.shape[-1]]
               for a, b, each in zip(levels, levels[1:], drawn, strict=False)]  # fmt: skip
    unbiased = tree_estimates(drawn, spread, parents)
    found = posterior(drawn[0].reshape(-1), spread[0].reshape(-1), published)
    means, variances = found.mean.reshape(published.shape), found.variance.reshape(published.shape)
    known = tree_estimates([means, *drawn[1:]], [np.maximum(variances, _LEAST), *spread[1:]], parents)
    parts = [_quantile(published, unbiased, known, p, beta, float(mechanism.width or 0)) for p in item.probabilities]
    bins, low, high, errors = (np.stack(each, axis=-1) for each in zip(*parts, strict=True))
    return bins, low, high, errors


_LEAST = 1e-9
"""The least variance of a bin: knowledge is divided by it."""


def _along_last(counts: Array, axis: int, level: Level) -> Floats:
    """Return the counts with the column's values along the last axis, without the invalid one."""
    last = len(level) - (level.labels[-1] == INVALID_LABEL)
    return np.moveaxis(np.asarray(counts, dtype=np.float64), axis, -1)[..., :last]


def _quantile(
    published: Floats, unbiased: TreeEstimates, known: TreeEstimates, p: Fraction, beta: Fraction, width: float
) -> Bins:
    bins, share = quantile_bins(published, p), float(p)
    rows = np.maximum(unbiased.counts.sum(axis=-1, keepdims=True), 0) + width * np.sqrt(unbiased.total_variance)
    noise = unbiased.balance_variance(share)
    low, high = balance_limits(_balance(unbiased, share), sampled_half_width(width * np.sqrt(noise), rows, p, beta))
    total = known.counts.sum(axis=-1, keepdims=True)
    balances = KnownBalances(_balance(known, share), known.balance_variance(share), total, unbiased.counts, noise)
    errors = balance_errors(balances, bins, p, beta)
    return bins, np.minimum(low, bins), np.where(bins < 0, -1, np.maximum(high, bins)), errors


def _balance(found: TreeEstimates, share: float) -> Floats:
    below = np.cumsum(found.counts, axis=-1)
    return np.asarray(below - share * below[..., -1:])
