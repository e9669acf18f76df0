"""Attackers on published counts."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np

from crowdgate.audit.common.predicates import TagCondition, TagHash, TagRange
from crowdgate.audit.common.unreleased_parts import Strip
from crowdgate.audit.singling_out_attackers.base import Answers, Attacker, SinglingOutAttackerView
from crowdgate.audit.singling_out_attackers.one_member import one_member_predicate


class ExactCountsAttacker(Attacker):
    """Attacker that reads the bits of a row's tag from the counts of a strip (range of tags) with a single row."""

    name = "exact counts"
    source = "PNAS Theorem 5.2 (arXiv: Theorem 4.6, appendix B for hashes)"
    first_bit: ClassVar[int] = 0
    """Index of the first counted bit; those before it are 0."""

    def answer(self, sight: SinglingOutAttackerView) -> Answers | None:
        counts = sight.told.counts
        if counts is None:
            return None
        found = next((each for each in self.low_strips(counts.strips) if each.all == 1), None)
        return _row_from_bits(found, self.first_bit, counts.key, sight)

    def low_strips(self, strips: Sequence[Strip]) -> Iterable[Strip]:
        """Return the strips (ranges of tags) whose counts may be as low as 1."""
        return (each for each in strips if each.aside is None)


class Differences(ExactCountsAttacker):
    """Attacker that reads the bits of a row's tag from counts that are never low: each is the sum of a low count and a
    known number, which is subtracted."""

    name = "differences of counts"
    source = "PNAS Remark 5.3 (arXiv: Remark 4.7)"
    first_bit = 1

    def low_strips(self, strips: Sequence[Strip]) -> Iterable[Strip]:
        return filter(None, map(_without_odd_numbers, strips))


class GuessedSeed(Attacker):
    """Attacker that searches for the seed of the noise: without its noise the counts are those of one row, and 0 or 1
    for each bit."""

    name = "guessed seed"
    source = "noise that can be drawn again is no noise: PNAS Theorem 5.2 (arXiv: Theorem 4.6)"

    def answer(self, sight: SinglingOutAttackerView) -> Answers | None:
        seeded = sight.told.seeded
        if seeded is None:
            return None
        possible = seeded.answers - seeded.seeds[seeded.seeds[:, 0] == seeded.answers[0] - 1]
        possible = possible[np.all((possible == 0) | (possible == 1), axis=1)]
        found = next((Strip(seeded.low, seeded.high, one, tuple(bits)) for one, *bits in possible.tolist()), None)
        return _row_from_bits(found, 0, None, sight)


def _without_odd_numbers(strip: Strip) -> Strip | None:
    """Return a strip's counts minus the number of odd tags that they include; None if a count is not published."""
    if strip.aside is None or strip.all is None or None in strip.bits:
        return None
    bits = tuple(each - strip.aside for each in strip.bits if each is not None)
    return Strip(strip.low, strip.high, strip.all - strip.aside, bits)


def _row_from_bits(strip: Strip | None, first: int, key: bytes | None, sight: SinglingOutAttackerView) -> Answers:
    """Return predicates, one per weight, for the single row of a strip (range of tags), from the bits of its tag or of
    the tag's hash with `key`. The first count is of bit number `first`; lower bits are 0."""
    if strip is None or None in strip.bits:
        return sight.abstain
    value = sum((bit or 0) << at for at, bit in enumerate(strip.bits, start=first))
    tags: TagCondition = TagRange(strip.low, strip.high, first + len(strip.bits), value)
    if key is not None:
        tags = TagHash(key, tags)
    return [one_member_predicate(sight.population, 1, most, tags=tags) for most in sight.weights]
