"""Outputs of mechanisms that no policy releases: raw rows, exact counts, and groups with descriptions that depend on
the data. Tags stand for identifiers."""

from collections.abc import Sequence
from dataclasses import dataclass

from crowdgate.arrays import Integers
from crowdgate.audit.common.population import Tags
from crowdgate.audit.common.predicates import TagCondition


@dataclass(frozen=True, eq=False)
class RawRows:
    """Raw rows of a table: the number of rows in each cell of the population, or for each row some bits of its tag
    (those set in `mask`), or both."""

    cells: Integers | None = None
    mask: int = 0
    tags: Tags | None = None


@dataclass(frozen=True)
class Strip:
    """Counts of the tags (64-bit numbers) from `low` to `high`: of all of them (`all`), and of those with each of their
    last bits set (`bits`). Without `aside`, the bits begin with the last one.

    With `aside` they begin with the last but one, and every count includes the odd tags of the whole table, of which
    there are `aside`. None: a count too small to be published.
    """

    low: int
    high: int
    all: int | None
    bits: tuple[int | None, ...]
    aside: int | None = None


@dataclass(frozen=True)
class StripCounts:
    """Exact counts of tags by ranges (strips), or of their hashes with `key`."""

    strips: Sequence[Strip]
    key: bytes | None = None


@dataclass(frozen=True, eq=False)
class SeededCounts:
    """Noisy counts of the tags from `low` to `high` (`answers`: of all, then of those with each of their last bits
    set). The noise comes from a short seed; each row of `seeds` is the noise of one possible seed."""

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
    """A key, and a message encrypted with this key by exclusive or (None: not published), both of `bits` bits. The
    message is the first bits of the table's last tag."""

    bits: int
    key: int | None
    cipher: int | None
