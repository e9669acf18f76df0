"""Degrees of anonymity: how sure an adversary is who among the candidates it was.

M. Koot, Measuring and predicting anonymity (thesis, 2012), sections 2.1-2.2. Bins are candidates here, with the
probabilities that the adversary gives them; those of probability 0 are candidates that he rules out.
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

Not among them: absolute privacy (the adversary does not even see that something was done, so has nothing to give
probabilities to) and provably exposed (he can prove it to others, which is about evidence, not about his own belief).
"""


def degree(bins: Bins, own: Number, nontrivial: Number = 0) -> str:
    """The best of SCALE that a candidate of the probability `own` has.

    Beyond suspicion: no likelier than any other candidate. Probable innocence: at most 1/2. Possible innocence: it was
    someone else with more than the probability `nontrivial`. Exposed: otherwise.
    """
    given, other = float(probability("own", own)), float(probability("nontrivial", nontrivial))
    least = 0.0 if bins.empty else float(bins.probabilities.min())
    if given <= least and bins.cells > 1:
        return SCALE[0]
    if 2 * given <= 1:
        return SCALE[1]
    return SCALE[2] if 1 - given > other else SCALE[3]


def shannon_entropy(bins: Bins) -> float:
    """(2.2): -sum p log2 p, in bits: what the adversary lacks on average."""
    p = bins.probabilities
    return max(0.0, -math.fsum(bins.counts * p * np.log2(p)))


def renyi_entropy(bins: Bins, order: Number) -> float:
    """(2.5): log2(sum p^order) / (1 - order), in bits, for order >= 0 but 1 (its limit there is Shannon's).

    Order 2: -log2 of the probability that two draws collide. Order 0: `max_entropy` of those not ruled out.
    """
    power = float(exact("order", order, 0, 10**6))
    if power == 1:
        return shannon_entropy(bins)
    logs = power * np.log2(bins.probabilities)
    most = float(logs.max())  # so that high orders do not underflow
    return max(0.0, (most + math.log2(math.fsum(bins.counts * np.exp2(logs - most)))) / (1 - power))


def min_entropy(bins: Bins) -> float:
    """-log2 of the greatest probability, in bits: the worst case, the candidate that he would name."""
    return max(0.0, -math.log2(float(bins.probabilities.max())))


def max_entropy(bins: Bins) -> float:
    """(2.3): log2 of the number of candidates, those ruled out too, in bits: what a uniform adversary lacks."""
    return math.log2(bins.cells)


def degree_of_anonymity(bins: Bins) -> float:
    """(2.4): Shannon's entropy over the greatest possible, from 0 (he knows) to 1 (uniform). 0 for one candidate."""
    return min(1.0, shannon_entropy(bins) / max_entropy(bins)) if bins.cells > 1 else 0.0


def bits_at(bins: Bins, share: Number) -> float:
    """How many bits tell apart the fewest candidates that hold `share` of the probability: log2 of their number.

    Section 2.2.2 (Clauss, Schiffner 2006): "10 bits are needed to address 90 % of the source elements", which no rare
    candidates influence. At share 1 the max-entropy of those not ruled out.
    """
    wanted = float(probability("share", share, open_low=True))
    order = np.argsort(-bins.probabilities)
    p, many = bins.probabilities[order], bins.counts[order]
    reached = np.cumsum(p * many)
    at = min(int(np.searchsorted(reached, wanted - 1e-12)), p.size - 1)
    before, missing = (float(many[:at].sum()), wanted - (float(reached[at - 1]) if at else 0.0))
    return math.log2(before + min(float(many[at]), max(1.0, math.ceil(missing / float(p[at]) - 1e-9))))
