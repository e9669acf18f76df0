"""Outputs of mechanisms that no policy releases: raw rows, exact counts, and groups with descriptions that depend on
the data. Tags stand for identifiers."""

from collections.abc import Sequence
from dataclasses import dataclass

from crowdgate.arrays import Integers
from crowdgate.audit.common.population import Tags
from crowdgate.audit.common.predicates import TagCondition


@dataclass(frozen=True, eq=False)
class RawRows:
    """Raw rows: the number of rows in each cell of the population, or for each row the bits of its tag at the ones of
    `mask`, or both."""

    cells: Integers | None = None
    mask: int = 0
    tags: Tags | None = None


@dataclass(frozen=True)
class Strip:
    """Counts of the numbers from `low` to `high`: all of them, and those with each of their last bits set. Without
    `aside` the bits begin with the last one. With `aside` they begin with the last but one, and every count includes
    the odd numbers of the whole table, of which there are `aside`. None: too few to be published."""

    low: int
    high: int
    all: int | None
    bits: tuple[int | None, ...]
    aside: int | None = None


@dataclass(frozen=True)
class StripCounts:
    """Exact counts of tags, or of their keyed hashes."""

    strips: Sequence[Strip]
    key: bytes | None = None


@dataclass(frozen=True, eq=False)
class SeededCounts:
    """Counts of one strip (all, then each of the last bits) with noise from a short seed. Each row of `seeds` is the
    noise of one seed."""

    low: int
    high: int
    answers: Integers
    seeds: Integers


@dataclass(frozen=True, eq=False)
class DescribedGroups:
    """Disjoint groups of rows: the number of rows of each, the condition on tags (None: any), and the least and
    greatest code of every attribute of the population's cells (groups by attributes; none if groups are of tags
    only)."""

    sizes: Integers
    tags: Sequence[TagCondition] | None
    low: Integers
    high: Integers


@dataclass(frozen=True)
class Pad:
    """A key, and a message encrypted with this key (None: not published), both of `bits` bits. The message is the first
    bits of the last tag."""

    bits: int
    key: int | None
    cipher: int | None
