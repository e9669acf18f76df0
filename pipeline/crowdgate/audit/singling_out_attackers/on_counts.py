"""Attackers on published counts."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np

from crowdgate.audit.common.predicates import TagCondition, TagHash, TagRange
from crowdgate.audit.common.unreleased_parts import Strip
from crowdgate.audit.singling_out_attackers.base import Answers, Attacker, SinglingOutAttackerView
from crowdgate.audit.singling_out_attackers.one_member import one_member_predicate


class ExactCountsAttacker(Attacker):
    """Reads the bits of a row from the counts of a strip with a single row."""

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
        """Return the strips whose counts may be low."""
        return (each for each in strips if each.aside is None)


class Differences(ExactCountsAttacker):
    """Reads the bits of a row from counts that are never low: each is the sum of the low one and a known number."""

    name = "differences of counts"
    source = "PNAS Remark 5.3 (arXiv: Remark 4.7)"
    first_bit = 1

    def low_strips(self, strips: Sequence[Strip]) -> Iterable[Strip]:
        return filter(None, map(_without_odd_numbers, strips))


class GuessedSeed(Attacker):
    """Searches the seed whose noise leaves one row, and counts of its bits that are 0 or 1."""

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
    """Return the counts without the odd numbers; None if one of them is not published."""
    if strip.aside is None or strip.all is None or None in strip.bits:
        return None
    bits = tuple(each - strip.aside for each in strip.bits if each is not None)
    return Strip(strip.low, strip.high, strip.all - strip.aside, bits)


def _row_from_bits(strip: Strip | None, first: int, key: bytes | None, sight: SinglingOutAttackerView) -> Answers:
    """Return predicates for the single row of the strip, from its bits, the first of which has index `first`; those
    before are 0."""
    if strip is None or None in strip.bits:
        return sight.abstain
    value = sum((bit or 0) << at for at, bit in enumerate(strip.bits, start=first))
    tags: TagCondition = TagRange(strip.low, strip.high, first + len(strip.bits), value)
    if key is not None:
        tags = TagHash(key, tags)
    return [one_member_predicate(sight.population, 1, most, tags=tags) for most in sight.weights]
