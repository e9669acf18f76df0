"""Answers of attackers on groups, computed by hand: the group they choose, and its members."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.audit.common.observation import Observation, PublicKnowledge
from crowdgate.audit.common.predicates import GRID, Predicate, TagBits, TagCondition, TagRange
from crowdgate.audit.common.unreleased_parts import DescribedGroups
from crowdgate.audit.singling_out_attackers.base import Attacker, SinglingOutAttackerView
from crowdgate.audit.singling_out_attackers.on_groups import BitPredicate, Downcoding, EndPoint, estimated_weights
from crowdgate.audit.singling_out_attackers.one_member import isolation_chance
from tests.audit.people import rows

TOWN = rows(np.arange(1, 13).reshape(3, 4))
KNOWN, RNG = PublicKnowledge(TOWN, 20), np.random.default_rng(1)
HEAVY, LIGHT = Fraction(1, 4), Fraction(1, 1 << 40)


def told(sizes: list[int], *tags: TagCondition) -> Observation:
    """Return groups that are described by tags only."""
    nothing = np.zeros((len(sizes), 0), dtype=np.int64)
    return Observation(groups=DescribedGroups(np.array(sizes, dtype=np.int64), tags, nothing, nothing))


@pytest.mark.parametrize("attacker", [EndPoint(), BitPredicate()])
def test_without_a_group_there_is_no_predicate(attacker: Attacker) -> None:
    assert attacker.answer(SinglingOutAttackerView(told([]), KNOWN, [HEAVY, LIGHT])) == [None, None]


def test_of_bits_the_group_that_agrees_in_most_is_chosen() -> None:
    few, many = TagBits(0b1, 0b1), TagBits(0b1110, 0b0100)
    for groups in ((few, many), (many, few)):
        found = BitPredicate().answer(SinglingOutAttackerView(told([4, 4], *groups), KNOWN, [HEAVY, LIGHT]))
        assert found is not None
        assert [isinstance(each, Predicate) and each.tags for each in found] == [
            TagBits(many.mask, many.value, (GRID >> 3) // 4), TagBits(many.mask, many.value, int(LIGHT * GRID)),
        ]  # fmt: skip


def test_downcoding_takes_half_of_the_smallest_class_and_of_equals_of_the_lightest() -> None:
    wide, narrow, large = TagRange(0, 999), TagRange(1000, 1099), TagRange(2000, 2009)
    found = Downcoding().answer(SinglingOutAttackerView(told([4, 4, 9], wide, narrow, large), KNOWN, [HEAVY]))
    assert found is not None
    assert [isinstance(each, Predicate) and each.tags for each in found] == [TagRange(1000, 1049)]


def test_the_weight_of_a_group_is_that_of_its_attributes_and_tags_together() -> None:
    levels = TOWN.cells.sizes
    low, high = np.array([[0, 1], [1, 0]]), np.array([[1, 2], [1, 3]])
    groups = DescribedGroups(np.array([3, 5]), (TagBits(0b1, 0), TagBits(0b11, 0)), low, high)
    for at, found in enumerate(estimated_weights(groups, TOWN)):
        share = 1.0
        for column in range(len(levels)):
            codes = TOWN.cells.codes[column]
            share *= TOWN.weights[(codes >= low[at, column]) & (codes <= high[at, column])].sum()
        assert found == pytest.approx(share / (2, 4)[at])


@given(members=st.integers(1, 50), weight=st.floats(1e-9, 1), most=st.fractions(Fraction(1, 10**6), 1))
def test_the_chance_is_that_one_member_alone_is_taken(members: int, weight: float, most: Fraction) -> None:
    share = min(1 / members, 1.0, float(most) / weight)
    (found,) = isolation_chance(np.array([members]), np.array([weight]), most)
    assert found == pytest.approx(members * share * (1 - share) ** (members - 1), abs=1e-9)
