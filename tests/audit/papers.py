"""Results that Cohen and Nissim state for their mechanisms, in PNAS 2020 and in the arXiv version."""

from dataclasses import dataclass
from fractions import Fraction

from crowdgate.accounting.pso import baseline
from crowdgate.audit.common.observation import Mechanism
from crowdgate.audit.singling_out_controls import CONTROLS
from crowdgate.audit.singling_out_controls.groups import BitSuppression

BY_NAME = {each.name: each for each in CONTROLS}
FOUR = 1 - (1 - baseline(1000, Fraction(1, 1000))) ** 4


@dataclass(frozen=True)
class Stated:
    """A mechanism, an attacker, n, weight and number of trials, with the success that theory states."""

    mechanism: Mechanism
    attacker: str
    n: int
    trials: int
    success: float
    weight: Fraction = Fraction(1)


TINY = Fraction(1, 1 << 40)
BY_BITS = {2: 1.0, 3: 0.603, 5: 0.451, 10: 0.387, 20: 0.375}
BY_HASH = {2: 0.5, 5: 0.4096, 10: 0.387420489}
STATED = [
    *(Stated(BitSuppression(k), "bit predicate", k, 1500, rate) for k, rate in BY_BITS.items()),
    *(Stated(BitSuppression(k), "described group and hash", k, 1500, rate) for k, rate in BY_HASH.items()),
    Stated(BitSuppression(2), "bit predicate", 200, 300, 1.0, Fraction(1, 1 << 28)),
    Stated(BY_NAME["interval buckets"], "end point", 100, 100, 1.0, TINY),
    Stated(BY_NAME["exact counts"], "exact counts", 1000, 1500, baseline(1000, Fraction(1, 1000)), TINY),
    Stated(BY_NAME["exact counts of four strips"], "exact counts", 1000, 1500, FOUR, TINY),
    Stated(BY_NAME["counts, low ones masked"], "differences of counts", 1000, 1500, baseline(1000, 0.001), TINY),
    Stated(BY_NAME["exact counts of hashes"], "exact counts", 50, 1500, baseline(50, Fraction(1, 50)), TINY),
    Stated(BY_NAME["one exact count"], "exact counts", 100, 1500, 0.0, TINY),
    Stated(BY_NAME["secret random function"], "raw row", 100, 300, 0.0, TINY),
    Stated(BY_NAME["extractor and one-time pad"], "extractor and pad", 400, 300, 1.0, TINY),
    Stated(BY_NAME["extractor alone"], "extractor and pad", 400, 300, 0.0, TINY),
    Stated(BY_NAME["one-time pad alone"], "extractor and pad", 400, 300, 0.0, TINY),
]  # fmt: skip
