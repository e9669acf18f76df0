"""Predicates: what an attacker answers with. A box of cells, a condition on the tag, and a share of what is left, taken
by a hash of the raw record.

The hash is a fresh random function of the whole record with its tag. Records are distinct by their tags (two of n are
equal with a probability below n^2 / 2^64), so that the hash matches each of m records independently: their number is
Binomial(m, share), which is drawn in place of hashes and tags (tests/audit draw both, and compare).
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

import numpy as np

from crowdgate.audit.population import Drawn, Population, Rng, Tags
from crowdgate.histogram import Mask

GRID = 1 << 64
"""Shares are whole multiples of 1/GRID: a hash of 64 bits that is below a threshold."""


class OnTags(Protocol):
    """A condition on tags."""

    @property
    def weight(self) -> Fraction:
        """The share of all 2^64 tags that meet it."""

    def __call__(self, tags: Tags) -> Mask:
        """Which tags meet it."""


@dataclass(frozen=True)
class Bits:
    """The bits that `mask` marks are those of `value`."""

    mask: int
    value: int

    @property
    def weight(self) -> Fraction:
        return Fraction(1, 1 << self.mask.bit_count())

    def __call__(self, tags: Tags) -> Mask:
        found: Mask = (tags & np.uint64(self.mask)) == np.uint64(self.value & self.mask)
        return found


@dataclass(frozen=True)
class Between:
    """From `low` to `high`, both included."""

    low: int
    high: int

    @property
    def weight(self) -> Fraction:
        return Fraction(self.high - self.low + 1, GRID)

    def __call__(self, tags: Tags) -> Mask:
        found: Mask = (tags >= np.uint64(self.low)) & (tags <= np.uint64(self.high))
        return found


@dataclass(frozen=True, eq=False)
class Predicate:
    """A unit matches if it has a row in one of the `cells` (None: any), its tag meets `tags` (None: any), and the hash
    takes it, which is so for `share` of all records (a multiple of 2^-64). With `unknown` no record matches that an
    attacker knows who knows all others: only the target can. That lowers the weight by at most n / 2^64, which is not
    counted."""

    cells: Mask | None = None
    tags: OnTags | None = None
    share: Fraction = Fraction(1)
    unknown: bool = False

    def aside(self) -> "Predicate":
        """The same without any record that is known."""
        return replace(self, unknown=True)

    def weight(self, population: Population) -> Fraction:
        """The exact weight under D."""
        on_tags = Fraction(1) if self.tags is None else self.tags.weight
        return self.share * on_tags * Fraction(population.among(self.cells), population.size)

    def matches(self, drawn: Drawn, rng: Rng) -> int:
        """How many units of the table match."""
        found = self._met(drawn)
        return found if self.share == 1 else int(rng.binomial(found, float(self.share)))

    def _met(self, drawn: Drawn) -> int:
        """How many units meet all but the hash."""
        units = drawn.population.having(self.cells)
        if self.unknown:
            return int(units is None or units[drawn.target])
        if self.tags is None:
            return drawn.having(self.cells)
        marked = self.tags(drawn.tags)
        return int(np.count_nonzero(marked if units is None else marked & units[drawn.who]))

    def isolates(self, drawn: Drawn, rng: Rng) -> bool:
        """Whether exactly one unit matches (Cohen, Nissim 2020, Definition 3.1 of the arXiv version)."""
        return self.matches(drawn, rng) == 1


def taken(weight: Fraction, most: Fraction) -> Fraction:
    """The greatest share on the grid with which a box of that weight has at most the weight `most`."""
    return Fraction(1) if weight <= most else Fraction(int(most / weight * GRID), GRID)
