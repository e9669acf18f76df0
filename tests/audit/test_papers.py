"""Simulations of the results that Cohen and Nissim state for their mechanisms."""

from fractions import Fraction

import numpy as np
import pytest

from crowdgate.accounting.intervals import clopper_pearson
from crowdgate.arrays import Bools
from crowdgate.audit.common.observation import PublicKnowledge
from crowdgate.audit.common.population import Tags
from crowdgate.audit.common.predicates import ALL_BITS, Predicate, TagBits, deposit_bits
from crowdgate.audit.singling_out_attackers.base import SinglingOutAttackerView
from crowdgate.audit.singling_out_attackers.on_groups import BitPredicate
from crowdgate.audit.singling_out_controls.groups import BitSuppression
from tests.audit.games import isolations, within
from tests.audit.papers import BY_NAME, STATED, TINY, Stated
from tests.audit.people import rows


@pytest.mark.thorough
@pytest.mark.statistical
@pytest.mark.parametrize("stated", STATED, ids=lambda each: f"{each.mechanism.name}-{each.attacker}-{each.n}")
def test_success_is_as_stated(stated: Stated) -> None:
    """N = 100, 300 or 1,500 tables, intervals at 2e-5: false alarm with probability at most 4e-4 in all. With 1,500
    tables a rate of .37 that is off by .08 is detected with probability .98."""
    found = isolations(stated.mechanism, stated.attacker, stated.n, stated.trials, stated.weight)
    assert within(stated.success, found, stated.trials)


@pytest.mark.thorough
@pytest.mark.statistical
def test_the_pair_singles_out_nearly_always() -> None:
    """N = 10,000 tables at n = 400, m = 40 bits: extraction fails with probability e^-25. The stated success is 1 -
    2^-10; a lower rate is refuted at 1e-4 by 9,998 successes, which a true rate of 1 gives for certain."""
    found = isolations(BY_NAME["extractor and one-time pad"], "extractor and pad", 400, 10_000, TINY)
    assert clopper_pearson(found, 10_000, Fraction(1, 10_000))[0] > 1 - 2.0**-10


class Printed:
    """The predicate of section 6.2 (arXiv) as printed: the number made of the other bits is greater."""

    def __init__(self, less: TagBits) -> None:
        self.less = less

    @property
    def weight(self) -> Fraction:
        return Fraction(1, 1 << self.less.mask.bit_count()) - self.less.weight

    def __call__(self, tags: Tags) -> Bools:
        found: Bools = TagBits(self.less.mask, self.less.value)(tags) & ~self.less(tags)
        return found


@pytest.mark.statistical
@pytest.mark.parametrize(("k", "rate"), [(3, 0.195), (5, 0.003)])
def test_the_predicate_as_printed_isolates_rarely(k: int, rate: float) -> None:
    """N = 1,500 tables, intervals at 2e-5: .603 and .451 are distinguished from .195 and .003 with near certainty."""
    known, rng = PublicKnowledge(rows(np.array([1])), k), np.random.default_rng(4)
    found = 0
    for _ in range(1500):
        drawn = known.population.draw(k, rng)
        sight = SinglingOutAttackerView(BitSuppression(k).apply(drawn, known, rng), known, [Fraction(1)])
        (answer,) = BitPredicate().answer(sight) or ()
        assert isinstance(answer, Predicate)
        assert isinstance(answer.tags, TagBits)
        found += int(np.count_nonzero(Printed(answer.tags)(drawn.tags))) == 1
    assert within(rate, found, 1500)


def test_spreading_a_number_keeps_its_bits_and_order() -> None:
    places = 0b1011 << 60
    assert [deposit_bits(number, places) >> 60 for number in range(8)] == [0, 1, 2, 3, 8, 9, 10, 11]
    assert deposit_bits(ALL_BITS, ALL_BITS) == ALL_BITS
