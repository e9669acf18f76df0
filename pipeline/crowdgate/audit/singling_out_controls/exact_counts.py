"""Exact counts of tags: each is secure individually, many together single out."""

from functools import cache
from typing import ClassVar

import numpy as np

from crowdgate.arrays import Integers
from crowdgate.audit.common.observation import Observation, PublicKnowledge
from crowdgate.audit.common.population import DrawnTable, Rng, Tags
from crowdgate.audit.common.predicates import GRID, TagRange, hash_tags
from crowdgate.audit.common.unreleased_parts import SeededCounts, Strip, StripCounts
from crowdgate.audit.singling_out_controls.base import SinglingOutControl

BITS, SEEDED = 40, 21
"""Number of bits that are counted, which gives predicates of weight 2^-40 / n; and number of answers with seeded
noise."""
MASKED_BELOW = 10
ALONE, AMPLIFIED = 0.36, 0.8
"""Stated success: below (1 - 1/n)^(n - 1), and below 1 - (1 - 1/e)^4 = .840."""
SEEDS, SCALE = 1 << 16, 10.0


class ExactCountsControl(SinglingOutControl):
    """Control that publishes the number of tags below 2^64 / n, and the number of these with each of their last bits
    set.

    PNAS Theorem 5.2 (arXiv: Theorem 4.6).
    """

    name = "exact counts"
    must = "be caught"
    note = "publishes exact counts of the tags in a strip of weight 1/n, and of those with each of the last 40 bits set"
    attackers = ("exact counts",)
    rate = ALONE
    repeats: ClassVar[int] = 1
    bits: ClassVar[int] = BITS

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        found = [exact_strip_counts(drawn.tags, *each, self.bits) for each in strips(known.n, self.repeats)]
        return Observation(counts=StripCounts(found))


class RepeatedCounts(ExactCountsControl):
    """Control that publishes the exact counts of four strips (ranges of tags): at least one of them has a single row
    with probability 1 - (1 - 1/e)^4."""

    name = "exact counts of four strips"
    note = "publishes the exact counts of four strips"
    rate = AMPLIFIED
    repeats = 4


class OneCount(SinglingOutControl):
    """Control that publishes one exact count, which is secure: success is at most n + 1 times the baseline (n units).

    PNAS Proposition 5.1 (arXiv: Proposition 4.2).
    """

    name = "one exact count"
    must = "hold"
    note = "publishes one exact count: of the tags in a strip of weight 1/n"
    attackers = ("trivial hash", "exact counts")
    n = 1000
    trials = 100

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        (strip,) = strips(known.n, 1)
        return Observation(counts=StripCounts([exact_strip_counts(drawn.tags, *strip, bits=0)]))


class MaskedCounts(ExactCountsControl):
    """Control that publishes no count below 10: every count includes all odd tags, whose number is published as well.

    PNAS Remark 5.3 (arXiv: Remark 4.7), with strips (ranges of tags) of weight 2/n of which the even half is counted.
    """

    name = "counts, low ones masked"
    must = "be caught"
    note = "publishes exact counts, none below 10: every question is asked of the odd tags as well"
    attackers = ("differences of counts",)

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        found = [masked_strip_counts(drawn.tags, *each, self.bits) for each in strips(known.n, self.repeats, width=2)]
        return Observation(counts=StripCounts(found))


class HashedCounts(SinglingOutControl):
    """Control that publishes exact counts of a keyed hash of the record, for data of any distribution with enough
    min-entropy.

    arXiv: appendix B, Corollary B.2 (PNAS: after Remark 5.3).
    """

    name = "exact counts of hashes"
    must = "be caught"
    note = "publishes exact counts of the keyed hashes of the records, and the key"
    attackers = ("exact counts",)
    n = 200
    rate = ALONE

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        key = rng.bytes(32)
        numbers = hash_tags(drawn.tags, key)
        return Observation(counts=StripCounts([exact_strip_counts(numbers, *each) for each in strips(known.n, 1)], key))


class GuessableSeed(SinglingOutControl):
    """Control that publishes counts with noise from a seed of 16 bits, which can be guessed."""

    name = "noise of a guessable seed"
    must = "be caught"
    note = "publishes counts with geometric noise of scale 10, drawn from a seed of 16 bits"
    attackers = ("guessed seed",)
    n = 1000
    rate = ALONE

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        ((low, high),) = strips(known.n, 1)
        strip, noise = exact_strip_counts(drawn.tags, low, high, SEEDED - 1), noise_of_seeds()
        answers = np.array([strip.all, *strip.bits]) + noise[rng.integers(SEEDS)]
        return Observation(seeded=SeededCounts(low, high, answers, noise))


def strips(n: int, repeats: int, width: int = 1) -> list[tuple[int, int]]:
    """Return `repeats` disjoint strips of tags, as (least, greatest) tag: each has the share width/n of all 2^64
    tags."""
    size = width * GRID // n
    return [(at * size, (at + 1) * size - 1) for at in range(repeats)]


def exact_strip_counts(tags: Tags, low: int, high: int, bits: int = BITS) -> Strip:
    """Return the exact number of tags from `low` to `high`, and of those with each of the last `bits` bits set."""
    inside = tags[TagRange(low, high)(tags)]
    return Strip(low, high, len(inside), tuple(_rows_with_bit(inside, 1 << at) for at in range(bits)))


def masked_strip_counts(tags: Tags, low: int, high: int, bits: int = BITS) -> Strip:
    """Return the counts of the even tags from `low` to `high` (all, and with each of `bits` bits set), each plus the
    number of all odd tags of the table; counts below MASKED_BELOW are None."""
    aside, even = _rows_with_bit(tags, 1), tags[TagRange(low, high, 1, 0)(tags)]
    answers = [aside, aside + len(even), *(aside + _rows_with_bit(even, 1 << at) for at in range(1, bits + 1))]
    told = [answer if answer >= MASKED_BELOW else None for answer in answers]
    return Strip(low, high, told[1], tuple(told[2:]), told[0])


def _rows_with_bit(tags: Tags, bit: int) -> int:
    return int(np.count_nonzero(tags & np.uint64(bit)))


@cache
def noise_of_seeds() -> Integers:
    """Return the noise of every possible seed (seeds by counts): differences of two geometric numbers, which anybody
    can compute again."""
    numbers = np.arange(SEEDS * 2 * SEEDED, dtype=np.uint64).reshape(2, SEEDS, SEEDED)
    uniform = (splitmix64(numbers) >> np.uint64(11)).astype(np.float64) / 2.0**53
    geometric = np.floor(np.log1p(-uniform) * -SCALE).astype(np.int64)
    found: Integers = geometric[0] - geometric[1]
    return found


def splitmix64(numbers: Tags) -> Tags:
    """Return the Splitmix64 hash (Steele, Lea, Flood 2014) of each 64-bit number."""
    found = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return found ^ (found >> np.uint64(31))
