"""Controls that publish raw rows, or a function of each row."""

from typing import ClassVar

import numpy as np

from crowdgate.audit.common.observation import Observation, PublicKnowledge
from crowdgate.audit.common.population import DrawnTable, Rng
from crowdgate.audit.common.predicates import ALL_BITS
from crowdgate.audit.common.unreleased_parts import RawRows
from crowdgate.audit.singling_out_controls.base import SinglingOutControl

TRIVIAL, ROW, EVERYBODY = "trivial hash", "raw row", "everybody's row"


class Constant(SinglingOutControl):
    """Control that publishes nothing, so that attackers learn nothing about the table."""

    name = "constant"
    must = "hold"
    note = "publishes a constant"
    attackers = (TRIVIAL,)
    trials = 300

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        return Observation()


class RandomFunction(SinglingOutControl):
    """Control that publishes a secret random function of every row (PNAS section 4.B; arXiv: section 3.1)."""

    name = "secret random function"
    must = "hold"
    note = "publishes 64 bits of every row by a secret random function"
    attackers = (TRIVIAL, ROW, EVERYBODY)
    n = 200
    trials = 100

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        return Observation(rows=RawRows(mask=ALL_BITS, tags=rng.integers(0, 1 << 64, drawn.n, dtype=np.uint64)))


class Identity(SinglingOutControl):
    """Control that publishes the whole table (PNAS section 4.B; arXiv: section 3.1)."""

    name = "identity"
    must = "be caught"
    note = "publishes every row as it is, with its tag as a column"
    attackers = (ROW,)

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        return Observation(rows=RawRows(drawn.rows, ALL_BITS, drawn.tags))


class Pseudonyms(SinglingOutControl):
    """Control that publishes rows without their tags (PNAS section 4.B). Attackers succeed only on populations with
    rare tuples."""

    name = "pseudonyms"
    must = "be caught"
    note = "publishes the cells of every row as they are, without the tag"
    attackers = (ROW,)
    n = 1000
    rate = 0.9
    RARE: ClassVar[float] = 0.005
    """Least share of all units in tuples of weight at most 1/(10 n): 5 of n units are expected there, none with
    probability e^-5, and hardly any twice."""

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        return Observation(rows=RawRows(drawn.rows))

    def fits(self, policy: PublicKnowledge) -> bool:
        weights = policy.population.weights
        return float(weights[weights <= 0.1 / self.n].sum()) >= self.RARE


class OneColumnControl(SinglingOutControl):
    """Control that publishes one raw column of a sample: the tags of half of the rows."""

    name = "one raw column"
    must = "be caught"
    note = "publishes one column of a sample of half of the rows as it is: the tag"
    attackers = (ROW,)

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        return Observation(rows=RawRows(mask=ALL_BITS, tags=drawn.tags[rng.random(drawn.n) < 0.5]))


class LastBits(SinglingOutControl):
    """Control that publishes a many-to-one function of each row: the last half of its tag's bits (PNAS section 4.B;
    arXiv: section 3.1)."""

    name = "last half of the bits"
    must = "be caught"
    note = "publishes the last 32 of the 64 bits of every tag"
    attackers = (ROW,)
    n = 2000
    rate = 0.99

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        return _bits_observation(drawn, 32)


class ManyPredicates(SinglingOutControl):
    """Control that publishes the results of many predicates on every row: everybody is singled out (PNAS: full singling
    out is not treated; arXiv: Definition 3.7, Claim 4.8)."""

    name = "40 predicates of every row"
    must = "be caught"
    note = "publishes 40 bits of every tag: the attacker must isolate every row, each with a predicate of its own"
    attackers = (EVERYBODY,)
    n = 200
    rate = 0.99

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        return _bits_observation(drawn, 40)


class OnePredicate(SinglingOutControl):
    """Control that publishes the result of a single predicate on every row, which is secure (arXiv: Theorem 4.4)."""

    name = "one predicate of every row"
    must = "hold"
    note = "publishes one bit of every tag"
    attackers = (TRIVIAL, ROW, EVERYBODY)
    n = 1000
    trials = 100

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        return _bits_observation(drawn, 1)


def _bits_observation(drawn: DrawnTable, last: int) -> Observation:
    mask = (1 << last) - 1
    return Observation(rows=RawRows(mask=mask, tags=drawn.tags & np.uint64(mask)))
