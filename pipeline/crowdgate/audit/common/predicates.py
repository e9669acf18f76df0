"""Predicates, an attacker's answers: a box of cells, a condition on the tag, and a share of the records that meet both,
selected by a hash of the raw record.

The hash is a fresh random function of the whole record with its tag. Records are distinct by their tags (two of n are
equal with a probability below n^2 / 2^64), so that the hash matches each of m records independently: their number is
Binomial(m, share), which is drawn in place of hashes and tags (tests/audit draw both, and compare).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import blake2b
from typing import Protocol

import numpy as np

from crowdgate.arrays import Bools
from crowdgate.audit.common.population import DrawnTable, Population, Rng, Tags

GRID = 1 << 64
"""Shares are whole multiples of 1/GRID: the hash has 64 bits, and is compared with a threshold."""
ALL_BITS = GRID - 1


class TagCondition(Protocol):
    """A condition on tags, the 64 random bits per unit that stand for direct identifiers."""

    @property
    def weight(self) -> Fraction:
        """Share of all 2^64 tags that meet the condition."""

    def __call__(self, tags: Tags) -> Bools:
        """Return a mask of the given tags that meet the condition."""


@dataclass(frozen=True)
class TagBits:
    """Tags that equal `value` in every bit that is set in `mask`. The other bits, read as a number, must be less than
    `below` (None: any number)."""

    mask: int
    value: int
    below: int | None = None

    @property
    def weight(self) -> Fraction:
        return Fraction(1, 1 << self.mask.bit_count()) if self.below is None else Fraction(self.below, GRID)

    def __call__(self, tags: Tags) -> Bools:
        found: Bools = (tags & np.uint64(self.mask)) == np.uint64(self.value & self.mask)
        free = ALL_BITS & ~self.mask
        if self.below is not None and self.below < 1 << free.bit_count():
            # spreading bits over the ones of a mask preserves the order of numbers
            found &= (tags & np.uint64(free)) < np.uint64(deposit_bits(self.below, free))
        return found


@dataclass(frozen=True)
class TagRange:
    """Tags from `low` to `high`, both included, whose last `bits` bits equal those of `value`."""

    low: int
    high: int
    bits: int = 0
    value: int = 0

    @property
    def weight(self) -> Fraction:
        step, first = 1 << self.bits, self.value
        return Fraction((self.high - first) // step - (self.low - 1 - first) // step, GRID)

    def __call__(self, tags: Tags) -> Bools:
        mask = np.uint64((1 << self.bits) - 1)
        inside: Bools = (tags >= np.uint64(self.low)) & (tags <= np.uint64(self.high))
        inside &= (tags & mask) == (np.uint64(self.value) & mask)
        return inside


@dataclass(frozen=True)
class TagHash:
    """Tags whose keyed BLAKE2b hash meets the tag condition `of`. Over random keys the weight is that of `of`. For one
    key it differs by a relative 2^-32 / sqrt(weight of `of`), as for a random function."""

    key: bytes
    of: TagCondition

    @property
    def weight(self) -> Fraction:
        return self.of.weight

    def __call__(self, tags: Tags) -> Bools:
        return self.of(hash_tags(tags, self.key))


def hash_tags(tags: Tags, key: bytes) -> Tags:
    """Return, for each tag, 64 bits of its BLAKE2b hash with this key."""
    found = b"".join(blake2b(each.tobytes(), digest_size=8, key=key).digest() for each in tags)
    return np.frombuffer(found, dtype=np.uint64)


def deposit_bits(number: int, places: int) -> int:
    """Return the number whose bits at the set positions of the mask `places` are the bits of `number`, lowest bit at
    the lowest position, and whose other bits are 0."""
    found, place = 0, 1
    while number:
        if places & place:
            found |= place * (number & 1)
            number >>= 1
        place <<= 1
    return found


@dataclass(frozen=True, eq=False)
class Predicate:
    """A predicate on privacy units. A unit matches if it has a row in one of the `cells` (None: any cell), its tag
    meets `tags` (None: any tag), and a hash selects its record, which happens for `share` of all records (a multiple of
    2^-64).

    With `unknown`, only the attacked unit can match: the attacker knows all other units, and excludes them. That lowers
    the weight by at most n / 2^64 for a table of n units, which is ignored.
    """

    cells: Bools | None = None
    tags: TagCondition | None = None
    share: Fraction = Fraction(1)
    unknown: bool = False

    def aside(self) -> "Predicate":
        """Return the predicate restricted to the attacked unit, for an attacker who knows all other units of the
        table."""
        return replace(self, unknown=True)

    def weight(self, population: Population) -> Fraction:
        """Return the exact weight: the probability that a random unit of the population, with a random tag, matches."""
        on_tags = Fraction(1) if self.tags is None else self.tags.weight
        return self.share * on_tags * Fraction(population.among(self.cells), population.size)

    def matches(self, drawn: DrawnTable, rng: Rng) -> int:
        """Return the number of the table's units that match the predicate; those that the hash selects are drawn from
        the binomial distribution."""
        found = self._met(drawn)
        return found if self.share == 1 else int(rng.binomial(found, float(self.share)))

    def _met(self, drawn: DrawnTable) -> int:
        """Return the number of the table's units that meet every condition of the predicate except the hash."""
        if self.unknown:
            units = drawn.population.having(self.cells)
            return int(units is None or units[drawn.target])
        return drawn.having(self.cells) if self.tags is None else int(np.count_nonzero(self.marked(drawn)))

    def marked(self, drawn: DrawnTable) -> Bools:
        """Return a mask of the table's units, in the order of the table, that have a row in one of the predicate's
        cells and whose tag meets its condition."""
        found = np.ones(drawn.n, dtype=np.bool_) if self.tags is None else self.tags(drawn.tags)
        units = drawn.population.having(self.cells)
        return found if units is None else found & units[drawn.who]

    def isolates(self, drawn: DrawnTable, rng: Rng) -> bool:
        """Return True if exactly one unit of the table matches (Cohen, Nissim 2020, Definition 3.1 of the arXiv
        version)."""
        return self.matches(drawn, rng) == 1


@dataclass(frozen=True, eq=False)
class PredicatePerUnit:
    """One predicate for every unit: full predicate singling out (Cohen, Nissim, arXiv version, Definition 3.7). No
    predicate may use the hash: each `share` must be 1."""

    predicates: Sequence[Predicate]

    def weight(self, population: Population) -> Fraction:
        """Return the greatest weight of the predicates: the probability that a random unit of the population
        matches."""
        return max(each.weight(population) for each in self.predicates)

    def isolates(self, drawn: DrawnTable, rng: Rng) -> bool:
        """Return True if each predicate matches exactly one unit of the table, and each unit is matched by one
        predicate."""
        if len(self.predicates) != drawn.n or any(each.share != 1 for each in self.predicates):
            return False
        matched = [np.flatnonzero(each.marked(drawn)) for each in self.predicates]
        return all(len(units) == 1 for units in matched) and len({int(units[0]) for units in matched}) == drawn.n


def greatest_share(weight: Fraction, most: Fraction) -> Fraction:
    """Return the greatest multiple of 2^-64, at most 1, such that this share of a box of weight `weight` has a weight
    of at most `most`."""
    return Fraction(1) if weight <= most else Fraction(int(most / weight * GRID), GRID)
