"""k-anonymous groups with descriptions that depend on the data; the tag is one more numeric column.

The attributes' codes are used as numbers. A row is a unit: of persons with several rows only tags are described.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.audit.common.observation import Observation, PublicKnowledge
from crowdgate.audit.common.population import DrawnTable, Rng, Tags
from crowdgate.audit.common.predicates import TagBits, TagCondition, TagRange
from crowdgate.audit.common.unreleased_parts import DescribedGroups
from crowdgate.audit.singling_out_controls.base import SinglingOutControl

ON_GROUPS = ("described group and hash", "end point", "downcoding")


@dataclass(frozen=True)
class Mondrian(SinglingOutControl):
    """Control that publishes groups by multidimensional k-anonymity: groups are halved at the median of their widest
    column while each half has at least k rows (K. LeFevre, D. DeWitt, R. Ramakrishnan, 2006)."""

    k: int = 5
    tagged: bool = True
    must = "be caught"
    note = "publishes groups of k rows at least, with the least and greatest value of every column, the tag among them"
    attackers = ON_GROUPS
    n = 300
    rate = 0.99

    @property
    def name(self) -> str:
        return f"Mondrian, k = {self.k}"

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        codes = unit_codes(drawn)
        columns = [*codes.T, *([np.argsort(np.argsort(drawn.tags))] if self.tagged else [])]
        scaled = np.column_stack([column / max(1, np.ptp(column)) for column in columns])
        found = list(self.halved(scaled, codes[:, -1] if codes.shape[1] else np.zeros(drawn.n, dtype=np.int64)))
        return Observation(groups=groups_with_ranges(found, codes, drawn.tags if self.tagged else None))

    def halved(self, scaled: Floats, sensitive: Integers) -> Iterator[Integers]:
        """Yield Mondrian's groups, each as the indices of its rows. `scaled` has a line per row; `sensitive` are the
        codes of the last attribute."""
        waiting: list[Integers] = [np.arange(len(scaled))]
        while waiting:
            rows = waiting.pop()
            part = scaled[rows]
            for column in np.argsort(-np.ptp(part, axis=0), kind="stable"):
                low = part[:, column] <= np.median(part[:, column])
                halves = rows[low], rows[~low]
                if all(self.allowed(half, sensitive) for half in halves):
                    waiting += halves
                    break
            else:
                yield rows

    def allowed(self, rows: Integers, sensitive: Integers) -> bool:
        """Return True if these rows may form a group: at least k, and in subclasses further conditions on the sensitive
        codes."""
        return len(rows) >= self.k


@dataclass(frozen=True)
class Diverse(Mondrian):
    """l-diversity (A. Machanavajjhala et al. 2006): a group has at least two values of the last attribute.

    The results for k-anonymity hold equally: PNAS section 7, a footnote (arXiv: section 6, footnote 22). A table with a
    single value is one group, whose interval ends are rows all the same.
    """

    note = "publishes groups as Mondrian does, each with two values of the last attribute at least"

    @property
    def name(self) -> str:
        return "2-diverse groups"

    def allowed(self, rows: Integers, sensitive: Integers) -> bool:
        return super().allowed(rows, sensitive) and len(np.unique(sensitive[rows])) >= 2


@dataclass(frozen=True)
class Close(Mondrian):
    """t-closeness (N. Li, T. Li, S. Venkatasubramanian 2007, equal distances): a group's shares of the values of the
    last attribute differ from the table's by at most `t`, half the sum of absolute differences.

    The results for k-anonymity hold equally: PNAS section 7, a footnote (arXiv: section 6, footnote 22).
    """

    t: float = 0.3
    note = "publishes groups as Mondrian does, the last attribute distributed in each as in the table but for .3"

    @property
    def name(self) -> str:
        return f"{self.t:g}-close groups"

    def allowed(self, rows: Integers, sensitive: Integers) -> bool:
        if not super().allowed(rows, sensitive):
            return False
        whole, own = np.bincount(sensitive), np.bincount(sensitive[rows], minlength=int(sensitive.max()) + 1)
        return bool(np.abs(whole / len(sensitive) - own / len(rows)).sum() / 2 <= self.t)


@dataclass(frozen=True)
class Datafly(SinglingOutControl):
    """Control that publishes classes by full-domain generalisation: the column with the most values is halved until at
    most k rows are in classes smaller than k, which are left out (L. Sweeney 2002). Every class is then described as
    tightly as its rows allow."""

    k: int = 5
    must = "be caught"
    note = "publishes classes of k rows at least, with the least and greatest value of every column, the tag among them"
    attackers = ON_GROUPS
    n = 300
    rate = 0.99

    @property
    def name(self) -> str:
        return f"Datafly, k = {self.k}"

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        codes = unit_codes(drawn)
        columns = [*(column.astype(np.uint64) for column in codes.T), drawn.tags]
        values = [len(np.unique(column)) for column in columns]
        # if all rows differ in one column, every class has one row
        while (
            max(values) == drawn.n > self.k
            or _below(sizes := np.bincount(of := class_numbers(columns)), self.k) > self.k
        ):
            most = int(np.argmax(values))
            columns[most] = columns[most] >> np.uint64(1)
            values[most] = len(np.unique(columns[most]))
        found = [np.flatnonzero(of == each) for each in np.flatnonzero(sizes >= self.k)]
        return Observation(groups=groups_with_ranges(found, codes, drawn.tags))


class Buckets(SinglingOutControl):
    """Control that publishes the rows sorted by tag in groups of 10, each described by its first and last tag (arXiv:
    section 6.2, interval buckets)."""

    name = "interval buckets"
    must = "be caught"
    note = "publishes the first and last tag of every 10 rows, in the order of tags"
    attackers = ON_GROUPS
    n = 300
    rate = 0.99

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        tags = np.sort(drawn.tags)
        rows = np.arange(len(tags) // 10 * 10).reshape(-1, 10)
        return Observation(groups=groups_with_ranges(list(rows), np.zeros((len(tags), 0), dtype=np.int64), tags))


@dataclass(frozen=True)
class BitSuppression(SinglingOutControl):
    """Control that publishes the tags of groups of k rows in the order of the table; bits in which they disagree are
    suppressed.

    PNAS section 7.B (arXiv: section 6.2, where n / 2^k is to be read as n / 2^(k - 1), and "greater" as "less").
    """

    k: int = 2
    must = "be caught"
    note = "publishes of each k rows the bits of the tag in which they agree"
    attackers = ("bit predicate", "described group and hash")
    n = 200

    @property
    def name(self) -> str:
        return f"bit suppression, k = {self.k}"

    @property
    def rate(self) -> float:  # type: ignore[override]
        return {2: 0.99, 3: 0.55}.get(self.k, 0.36)

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        tags = drawn.tags[: drawn.n // self.k * self.k].reshape(-1, self.k)
        every, some = np.bitwise_and.reduce(tags, axis=1), np.bitwise_or.reduce(tags, axis=1)
        agreed = zip((~(every ^ some)).tolist(), every.tolist(), strict=True)
        return Observation(
            groups=tag_groups(np.full(len(tags), self.k), [TagBits(mask, value) for mask, value in agreed])
        )


class MinimalPrefixes(SinglingOutControl):
    """Control that publishes tags generalised to prefixes of bits that are as long as 2-anonymity allows.

    This is only the first step of "downcoding" (A. Cohen, Attacks on Deidentification's Defenses, USENIX Security
    2022): one column, a binary hierarchy, k = 2. If both rows of a pair were in one half, that half would be published:
    so each half has one.
    """

    name = "minimal generalisation"
    must = "be caught"
    note = "publishes tags generalised to as many first bits as leave two rows in each class at least"
    attackers = ON_GROUPS
    n = 300
    rate = 0.99

    def apply(self, drawn: DrawnTable, known: PublicKnowledge, rng: Rng) -> Observation:
        found = list(prefixes(np.sort(drawn.tags), 0, 64, 2))
        return Observation(groups=tag_groups(np.array([size for size, _ in found]), [tags for _, tags in found]))


def prefixes(tags: Tags, start: int, free: int, k: int) -> Iterator[tuple[int, TagRange]]:
    """Yield the groups of the sorted tags from `start` to `start` + 2^free - 1, each as its number of rows and its
    range of tags: ranges are halved while each half has no row or at least k."""
    half = 1 << max(0, free - 1)
    middle = int(np.searchsorted(tags, np.uint64(start + half))) if free else 0
    parts = [(tags[:middle], start), (tags[middle:], start + half)]
    if free == 0 or any(0 < len(part) < k for part, _ in parts):
        yield len(tags), TagRange(start, start + (1 << free) - 1)
        return
    for part, first in parts:
        if len(part):
            yield from prefixes(part, first, free - 1, k)


def unit_codes(drawn: DrawnTable) -> Integers:
    """Return the attribute codes of each unit's row in the table (units by attributes); no attributes if units may have
    several rows."""
    if drawn.population.rows is not None:
        return np.zeros((drawn.n, 0), dtype=np.int64)
    codes = [column[drawn.who] for column in drawn.population.cells.codes]
    return np.column_stack(codes).astype(np.int64) if codes else np.zeros((drawn.n, 0), dtype=np.int64)


def _below(sizes: Integers, k: int) -> int:
    """Return the number of rows in classes smaller than k."""
    return int(sizes[sizes < k].sum())


def class_numbers(columns: Sequence[Tags]) -> Integers:
    """Return, for each row, the number of its class: the index of its tuple among the distinct tuples of the
    columns."""
    found: Integers = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        _, own = np.unique(column, return_inverse=True)
        _, found = np.unique(found * (int(own.max()) + 1) + own, return_inverse=True)
    return found


def groups_with_ranges(groups: Sequence[Integers], codes: Integers, tags: Tags | None) -> DescribedGroups:
    """Return groups of rows (given as row indices) described by the least and greatest code of each attribute, and by
    the least and greatest tag (None: no tags)."""
    sizes = np.array([len(rows) for rows in groups])
    low, high = (np.array([end(codes[rows], axis=0) for rows in groups]) for end in (np.min, np.max))
    between = None if tags is None else [TagRange(int(tags[rows].min()), int(tags[rows].max())) for rows in groups]
    return DescribedGroups(sizes, between, low, high)


def tag_groups(sizes: Integers, tags: Sequence[TagCondition]) -> DescribedGroups:
    """Return groups described only by a condition on the tags of their rows; `sizes` are their numbers of rows."""
    none = np.zeros((len(sizes), 0), dtype=np.int64)
    return DescribedGroups(sizes, tags, none, none)
