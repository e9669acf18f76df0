"""Degrees of anonymity: an adversary's certainty of which candidate it was.

M. Koot, Measuring and predicting anonymity (thesis, 2012), sections 2.1-2.2. Bins are candidates here, with the
adversary's probabilities; the adversary rules out those of probability 0.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.accounting.numbers import Number, exact, probability

if TYPE_CHECKING:
    from crowdgate.risk.bins import Bins

SCALE = ("beyond suspicion", "probable innocence", "possible innocence", "exposed")
"""Reiter and Rubin's degrees (1998) that follow from probabilities, from best to worst.

Excluded are absolute privacy (the adversary does not see that anything was done, so has no probabilities) and provably
exposed (the adversary can prove it to others, which needs evidence, not only probabilities).
"""


def degree(bins: Bins, own: Number, nontrivial: Number = 0) -> str:
    """Return the best of SCALE for a candidate of the probability `own`.

    Beyond suspicion: no likelier than any other candidate. Probable innocence: at most 1/2. Possible innocence: with
    more than the probability `nontrivial` it was someone else. Exposed: otherwise.
    """
    given, other = float(probability("own", own)), float(probability("nontrivial", nontrivial))
    least = 0.0 if bins.empty else float(bins.probabilities.min())
    if given <= least and bins.cells > 1:
        return SCALE[0]
    if 2 * given <= 1:
        return SCALE[1]
    return SCALE[2] if 1 - given > other else SCALE[3]


def shannon_entropy(bins: Bins) -> float:
    """Shannon's entropy (2.2), -sum p log2 p over the candidates' probabilities p, in bits: the adversary's missing
    information on average."""
    p = bins.probabilities
    return max(0.0, -math.fsum(bins.counts * p * np.log2(p)))


def renyi_entropy(bins: Bins, order: Number) -> float:
    """(2.5): log2(sum p^order) / (1 - order), in bits, for order >= 0 except 1 (its limit there is Shannon's).

    Order 2: -log2 of the probability that two draws collide. Order 0: `max_entropy` of those not ruled out.
    """
    power = float(exact("order", order, 0, 10**6))
    if power == 1:
        return shannon_entropy(bins)
    logs = power * np.log2(bins.probabilities)
    most = float(logs.max())  # so that high orders do not underflow
    return max(0.0, (most + math.log2(math.fsum(bins.counts * np.exp2(logs - most)))) / (1 - power))


def min_entropy(bins: Bins) -> float:
    """Min-entropy, -log2 of the greatest probability, in bits: the worst case, the candidate that the adversary would
    name."""
    return max(0.0, -math.log2(float(bins.probabilities.max())))


def max_entropy(bins: Bins) -> float:
    """Max-entropy (2.3), log2 of the number of candidates, including those ruled out, in bits: the missing information
    of a uniform adversary."""
    return math.log2(bins.cells)


def degree_of_anonymity(bins: Bins) -> float:
    """Degree of anonymity (2.4): Shannon's entropy over the greatest possible, from 0 (the adversary knows the
    candidate) to 1 (all are equally probable). 0 for one candidate."""
    return min(1.0, shannon_entropy(bins) / max_entropy(bins)) if bins.cells > 1 else 0.0


def bits_at(bins: Bins, share: Number) -> float:
    """Return the bits that distinguish the fewest candidates with `share` of the probability: log2 of their number.

    Section 2.2.2 (Clauss, Schiffner 2006): "10 bits are needed to address 90 % of the source elements", which rare
    candidates do not influence. At share 1 the max-entropy of those not ruled out.
    """
    wanted = float(probability("share", share, open_low=True))
    order = np.argsort(-bins.probabilities)
    p, many = bins.probabilities[order], bins.counts[order]
    reached = np.cumsum(p * many)
    at = min(int(np.searchsorted(reached, wanted - 1e-12)), p.size - 1)
    before, missing = (float(many[:at].sum()), wanted - (float(reached[at - 1]) if at else 0.0))
    return math.log2(before + min(float(many[at]), max(1.0, math.ceil(missing / float(p[at]) - 1e-9))))
