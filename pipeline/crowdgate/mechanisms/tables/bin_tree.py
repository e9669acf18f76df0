"""Counts of bins and of groups of bins, made to agree by least squares, with the variance of sums of bins.

Upwards, the count of each group is the mean of its own noisy count and the sum of its parts, weighted by 1/variance.
Downwards, what the parts of a group lack of its count is spread in proportion to their variances (Hay, Rastogi, Miklau,
Suciu 2010). Given the count of a group, its parts differ from their means by noise of variance s each, less the part
that their sum knows. So the sum of the bins up to j is a multiple a_j of the total, and independent noise of variance
t_j: with parts of variances s in a group of variance S, and the sum `before` of the s of earlier parts,

    a becomes (before + a s) / S,    t grows by before + a^2 s - (before + a s)^2 / S.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from crowdgate.arrays import Floats, Integers


@dataclass(frozen=True, eq=False)
class TreeEstimates:
    """Least-squares counts of bins along the last axis, the variance of their total (last axis: one number), and for
    the sum of the bins up to each the multiple of the total and the variance of the rest."""

    counts: Floats
    total_variance: Floats
    multiples: Floats
    rest: Floats

    def balance_variance(self, probability: float, total: float = np.inf) -> Floats:
        """Return the variance of (rows up to each bin) - `probability` (all rows). `total` is the variance that the
        number of all rows has by other knowledge."""
        return np.asarray(np.square(self.multiples - probability) * np.minimum(self.total_variance, total) + self.rest)


def tree_estimates(noisy: Sequence[Floats], variances: Sequence[Floats], parents: Sequence[Integers]) -> TreeEstimates:
    """Return the estimates from noisy counts of bins and of groups along the last axis, finest first, with the variance
    of each number. `parents` hold for each value of a level its group at the next; all values are in order."""
    counts, spread, sums, wholes = [noisy[0]], [variances[0]], [], []
    multiples, rest = np.ones_like(noisy[0]), np.zeros_like(noisy[0])
    place = np.arange(noisy[0].shape[-1])
    everything = np.zeros(noisy[-1].shape[-1], dtype=np.int64)
    for level, own in enumerate([*parents, everything]):
        starts = np.flatnonzero(np.diff(own, prepend=-1))
        sums.append(np.add.reduceat(counts[level], starts, axis=-1))
        wholes.append(np.add.reduceat(spread[level], starts, axis=-1))
        up_to = np.cumsum(spread[level], axis=-1)
        before = (
            up_to
            - spread[level]
            - np.concatenate([np.zeros_like(up_to[..., :1]), up_to], axis=-1)[..., starts][..., own]
        )
        part, group = spread[level][..., place], wholes[level][..., own][..., place]
        known = before[..., place] + multiples * part
        rest = rest + before[..., place] + np.square(multiples) * part - np.square(known) / group
        multiples, place = known / group, own[place]
        if level < len(parents):
            weight = variances[level + 1] / (variances[level + 1] + wholes[level])
            counts.append(weight * sums[level] + (1 - weight) * noisy[level + 1])
            spread.append(weight * wholes[level])
    found = sums[-1]
    for level in reversed(range(len(counts))):
        own = [*parents, everything][level]
        found = counts[level] + spread[level] / wholes[level][..., own] * (found - sums[level])[..., own]
    return TreeEstimates(found, wholes[-1], multiples, np.maximum(rest, 0))
