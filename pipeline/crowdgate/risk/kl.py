"""Distance of a distribution over N bins from the uniform one: the Kullback-Leibler distance and the excess of
collisions.

M. Koot, Measuring and predicting anonymity (thesis, 2012), section 4.3.2. A share f of the bins has probability alpha /
N each. The thesis states that its expansions contain kappa = sum f alpha ln alpha. Actually they contain chi = (sum f
alpha^2 - 1) / 2, half the excess of the probability that two people collide, N sum p^2. The two agree only to second
order in alpha - 1. An empty bin adds 1 / N to the first and 1 / (2N) to the second.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crowdgate.accounting.numbers import Number, exact

if TYPE_CHECKING:
    from crowdgate.arrays import Floats
    from crowdgate.risk.bins import Bins


def kl_to_uniform(bins: Bins) -> float:
    """Kullback-Leibler distance from the uniform distribution: kappa = sum p ln(N p) in nats, from 0 (uniform) to ln N
    (all in one bin). N is `bins.cells`.

    Summed as f (alpha ln alpha - alpha + 1), terms that are never negative.
    """
    alpha, share = _relative(bins)
    return math.fsum([*(share * _entropy_terms(alpha)), bins.empty / bins.cells])


def collision_excess(bins: Bins) -> float:
    """Excess of collisions: chi = (N sum p^2 - 1) / 2, from 0 (uniform) to (N - 1) / 2 (all in one bin). N is
    `bins.cells`."""
    alpha, share = _relative(bins)
    return math.fsum([*(share * (alpha - 1) ** 2), bins.empty / bins.cells]) / 2


class SamplingPlan(NamedTuple):
    """The number of groups to sample, and the number of hits at which sampling may stop instead."""

    groups: int
    hits: int


def groups_needed(share: Number, relative: Number = "0.1", confidence: Number = "0.95") -> SamplingPlan:
    """Return the necessary number of sampled groups: section 4.4.1, corrected.

    `share` is the probability that a group is a hit (in the thesis: that all its people are unique), above 0; the half
    width of the two-sided confidence interval must be at most `relative` times the share. t sqrt(p (1 - p) / n) <= r p
    gives n = t^2 (1 - p) / (r^2 p) groups; for each share, t^2 / r^2 hits are enough: 385 for 10 % at 95 %. The thesis
    prints t sigma / n < r, and calls n "about 400", which is the number of hits. A Normal approximation.
    """
    from scipy.special import ndtri

    p = exact("share", share, 0, 1, open_low=True)
    r = exact("relative", relative, 0, 10, open_low=True)
    level = exact("confidence", confidence, 0, 1, open_low=True, open_high=True)
    hits = float(ndtri(0.5 + float(level) / 2)) ** 2 / float(r) ** 2
    return SamplingPlan(max(1, math.ceil(hits * float((1 - p) / p))), math.ceil(hits))


def _relative(bins: Bins) -> tuple[Floats, Floats]:
    """Return alpha (probability of a bin times N) and f (its share of all bins) for each distinct probability above
    0."""
    return bins.probabilities * bins.cells, bins.counts / bins.cells


def _entropy_terms(alpha: Floats) -> Floats:
    """Return alpha ln alpha - alpha + 1, for alpha > 0."""
    return np.asarray(np.maximum(alpha * np.log(alpha) - (alpha - 1), 0.0))
