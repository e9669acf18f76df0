"""Parts of what mechanisms tell that no policy releases: rows as they are, exact counts, groups with descriptions that
were made from the data. Tags stand for identifiers."""

from collections.abc import Sequence
from dataclasses import dataclass

from crowdgate.arrays import Integers
from crowdgate.audit.common.population import Tags
from crowdgate.audit.common.predicates import TagCondition


@dataclass(frozen=True, eq=False)
class RawRows:
    """Rows as they are: how many there are of each cell of the population, or of each row the bits of its tag that
    `mask` marks, or both."""

    cells: Integers | None = None
    mask: int = 0
    tags: Tags | None = None


@dataclass(frozen=True)
class Strip:
    """Answers about the numbers from `low` to `high`: how many there are, and how many of them have each of their last
    bits set, the last but one first where `aside` is told. Then everything is counted together with the odd numbers,
    and `aside` is how many odd numbers there are. None: too few to be told."""

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
    """The counts of one strip (all, then each of the last bits) with noise of a seed that has few bits: the noise of
    each of `seeds` is a row."""

    low: int
    high: int
    answers: Integers
    seeds: Integers


@dataclass(frozen=True, eq=False)
class DescribedGroups:
    """Disjoint groups of rows: how many rows each has, which tags (None: any), and from which code to which of every
    attribute of the population's cells (groups by attributes; none where the groups are of tags only)."""

    sizes: Integers
    tags: Sequence[TagCondition] | None
    low: Integers
    high: Integers


@dataclass(frozen=True)
class Pad:
    """A key, and a message under that key (None: not told), both of `bits` bits. The message is the first bits of the
    last tag."""

    bits: int
    key: int | None
    cipher: int | None
