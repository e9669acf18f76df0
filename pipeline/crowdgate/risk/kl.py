"""How far a law on bins is from the uniform one."""

import math

import numpy as np

from crowdgate.risk.bins import Bins


def kl_to_uniform(bins: Bins) -> float:
    """The Kullback-Leibler distance to the uniform law on all bins, in nats, 0 to ln N (Koot 2012, 4.3.2)."""
    alpha = bins.probabilities * bins.cells
    return max(0.0, math.fsum(bins.counts * bins.probabilities * np.log(alpha)))


def collision_excess(bins: Bins) -> float:
    """(sum f a^2 - 1) / 2 = (N sum p^2 - 1) / 2, 0 to (N - 1) / 2: how much likelier than on N even bins two people
    meet, halved."""
    distance = bins.probabilities * bins.cells - 1
    return (math.fsum(bins.counts * distance**2) + bins.empty) / bins.cells / 2
