"""Predicates: weights by enumeration, and the distribution of the hash compared with drawn hashes."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.audit.common.population import Population, Tags
from crowdgate.audit.common.predicates import (
    ALL_BITS,
    GRID,
    Predicate,
    PredicatePerUnit,
    TagBits,
    TagHash,
    TagRange,
    deposit_bits,
    hash_tags,
)
from tests.audit.games import within
from tests.audit.people import rows

numbers = st.integers(0, ALL_BITS)


def tags(values: list[int]) -> Tags:
    return np.array(values, dtype=np.uint64)


@given(numbers, st.integers(0, 200), st.integers(0, 5), numbers)
def test_the_weight_of_an_interval_is_the_share_of_tags_in_it(low: int, size: int, bits: int, value: int) -> None:
    high = min(ALL_BITS, low + size)
    condition = TagRange(low, high, bits, value % (1 << bits))
    around = tags(list(range(max(0, low - 40), min(ALL_BITS, high + 40) + 1)))
    found = around[condition(around)]
    assert len(found) == condition.weight * GRID
    assert all(low <= tag <= high and (tag - value) % (1 << bits) == 0 for tag in map(int, found))


@given(st.sets(st.integers(0, 63), max_size=8), numbers, st.data())
def test_the_weight_of_a_pattern_is_the_share_of_tags_that_have_it(
    free: set[int], value: int, data: st.DataObject
) -> None:
    mask = ALL_BITS & ~sum(1 << place for place in free)
    below = data.draw(st.none() | st.integers(0, 1 << len(free)))
    condition = TagBits(mask, value, below)
    every = [(value & mask) | deposit_bits(number, ALL_BITS & ~mask) for number in range(1 << len(free))]
    # these tags differ in a marked bit
    others = [tag ^ (mask & -mask) for tag in every] if mask else []
    assert int(np.count_nonzero(condition(tags(every)))) == condition.weight * GRID
    assert not condition(tags(others)).any()
    if below is not None:
        assert [bool(met) for met in condition(tags(every))] == [number < below for number in range(len(every))]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 7)), min_size=1, max_size=6))
def test_everybody_is_singled_out_only_if_every_unit_has_a_predicate_of_its_own(who: list[tuple[int, int]]) -> None:
    drawn = rows(np.array([3, 1, 2, 1])).draw(len(who), np.random.default_rng(0))
    drawn.__dict__.update(who=np.array([cell for cell, _ in who]), tags=tags([tag for _, tag in who]))
    each = [Predicate(np.arange(4) == cell, TagBits(7, tag)) for cell, tag in who]
    rng = np.random.default_rng(0)
    assert PredicatePerUnit(each).isolates(drawn, rng) == (len(set(who)) == len(who))
    assert not PredicatePerUnit(each[:-1]).isolates(drawn, rng)
    assert not PredicatePerUnit([*each[:-1], Predicate(share=Fraction(1, 2))]).isolates(drawn, rng)
    assert PredicatePerUnit(each).weight(drawn.population) == max(one.weight(drawn.population) for one in each)


N, SHARE = 8, Fraction(1, 4)


def by_law(population: Population, seed: int, share: Fraction = SHARE) -> int:
    """Return the matches of a box and a hash, by the distribution of the hash."""
    rng = np.random.default_rng(seed)
    return Predicate(BOX, share=share).matches(population.draw(N, rng), rng)


def by_hashes(population: Population, seed: int, share: Fraction = SHARE) -> int:
    """Return the matches of a box and a hash, by drawn tags and keyed hashes."""
    rng = np.random.default_rng(seed)
    condition = TagHash(rng.bytes(32), TagRange(0, int(share * GRID) - 1))
    return Predicate(BOX, condition).matches(population.draw(N, rng), rng)


BOX = np.array([True, False, True])


@pytest.mark.thorough
@pytest.mark.statistical
def test_the_law_of_the_hash_is_that_of_keyed_hashes_of_drawn_tags() -> None:
    """N = 5,000 tables each. Rows match independently with probability w share = 1/8, so that matches are Binomial(8,
    1/8). Each of two games has three events at 2e-5: false alarm with probability at most 1.2e-4. A share that is too
    great by a fifth moves the share of tables without a match by 10 standard errors: detected with probability above
    .999."""
    population = rows(np.array([1, 2, 1]))
    for game, faulty in product((by_law, by_hashes), (False, True)):
        share = SHARE * Fraction(6, 5) if faulty else SHARE
        found = np.bincount([game(population, seed, share) for seed in range(5000)], minlength=3)
        law = [(7 / 8) ** 8, 8 * 7**7 / 8**8]
        held = [within(law[at], int(found[at]), 5000) for at in (0, 1)]
        held.append(within(1 - sum(law), int(found[2:].sum()), 5000))
        assert all(held) != faulty


def test_hashes_depend_on_key_and_tag() -> None:
    two = tags([0, 1])
    assert len({*hash_tags(two, b"a").tolist(), *hash_tags(two, b"b").tolist()}) == 4
    assert TagHash(b"a", TagRange(5, 9)).weight == Fraction(5, GRID)
