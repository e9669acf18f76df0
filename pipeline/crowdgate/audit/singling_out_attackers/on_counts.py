"""Attackers who are shown counts."""

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np

from crowdgate.audit.common.observation import Observation, PublicKnowledge
from crowdgate.audit.common.population import Rng
from crowdgate.audit.common.predicates import TagCondition, TagHash, TagRange
from crowdgate.audit.common.unreleased_parts import Strip
from crowdgate.audit.singling_out_attackers.base import Answers, Attacker
from crowdgate.audit.singling_out_attackers.one_member import one_member_predicate


class ExactCountsAttacker(Attacker):
    """A strip with a single row: the counts of its bits spell the row."""

    name: ClassVar[str] = "exact counts"
    summary: ClassVar[str] = (
        "a strip of which a count says that it has one row, and the bits of that row from more counts"
    )
    source: ClassVar[str] = "PNAS Theorem 5.2 (arXiv: Theorem 4.6, appendix B for hashes)"

    def answer(
        self, told: Observation, known: PublicKnowledge, weights: Sequence[Fraction], rng: Rng
    ) -> Answers | None:
        counts = told.counts
        if counts is None:
            return None
        found = next((each for each in counts.strips if each.aside is None and each.all == 1), None)
        return _row_from_bits(found, 0, counts.key, known, weights)


class Differences(Attacker):
    """The same from counts that are never low: each is the low one and a number that is known."""

    name: ClassVar[str] = "differences of counts"
    summary: ClassVar[str] = "low counts as differences of large ones, then as from exact counts"
    source: ClassVar[str] = "PNAS Remark 5.3 (arXiv: Remark 4.7)"

    def answer(
        self, told: Observation, known: PublicKnowledge, weights: Sequence[Fraction], rng: Rng
    ) -> Answers | None:
        counts = told.counts
        if counts is None:
            return None
        apart = (_without_odd_numbers(each) for each in counts.strips)
        return _row_from_bits(
            next((each for each in apart if each and each.all == 1), None), 1, counts.key, known, weights
        )


class GuessedSeed(Attacker):
    """The seed whose noise leaves one row, and counts of its bits that are 0 or 1."""

    name: ClassVar[str] = "guessed seed"
    summary: ClassVar[str] = "tries every seed that noise may have been drawn from, then as from exact counts"
    source: ClassVar[str] = "noise that can be drawn again is no noise: PNAS Theorem 5.2 (arXiv: Theorem 4.6)"

    def answer(
        self, told: Observation, known: PublicKnowledge, weights: Sequence[Fraction], rng: Rng
    ) -> Answers | None:
        seeded = told.seeded
        if seeded is None:
            return None
        possible = seeded.answers - seeded.seeds[seeded.seeds[:, 0] == seeded.answers[0] - 1]
        possible = possible[np.all((possible == 0) | (possible == 1), axis=1)]
        found = next((Strip(seeded.low, seeded.high, one, tuple(bits)) for one, *bits in possible.tolist()), None)
        return _row_from_bits(found, 0, None, known, weights)


def _without_odd_numbers(strip: Strip) -> Strip | None:
    """The counts without the odd numbers: None where one of them is not told."""
    if strip.aside is None or strip.all is None or None in strip.bits:
        return None
    bits = tuple(each - strip.aside for each in strip.bits if each is not None)
    return Strip(strip.low, strip.high, strip.all - strip.aside, bits)


def _row_from_bits(
    strip: Strip | None, first: int, key: bytes | None, known: PublicKnowledge, weights: Sequence[Fraction]
) -> Answers:
    """The row that is alone in the strip, from its bits, the first of which is number `first`; those before are 0."""
    if strip is None or None in strip.bits:
        return [None] * len(weights)
    value = sum((bit or 0) << at for at, bit in enumerate(strip.bits, start=first))
    tags: TagCondition = TagRange(strip.low, strip.high, first + len(strip.bits), value)
    if key is not None:
        tags = TagHash(key, tags)
    return [one_member_predicate(known.population, 1, most, tags=tags) for most in weights]
