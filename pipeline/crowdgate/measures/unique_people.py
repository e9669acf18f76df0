"""Unique people among the people of public counts: limits that hold whatever the counts leave open.

Where the classes of the attributes are known as a whole (a public table, joint counts of all of them, the counts of a
single one), a group of people is drawn from them without replacement. Where counts relate only some of the attributes,
the limits hold for every table with these counts. All are for the worst number of people from `least_people` to
`people`, so no gate becomes easier when more people are stated.

Where a person may have several rows, counts are of rows, and equal rows of one person look like rows of several people.
Then there are upper limits only, which hold for every assignment of rows to people (`risk.classes_of_rows`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.candidate import Measurement
from crowdgate.histogram import Histogram, project
from crowdgate.risk.class_sizes import ClassSizes
from crowdgate.risk.classes_of_rows import least_people, most_share_in_sets_up_to, most_unique_classes
from crowdgate.risk.drawn_groups import (
    NEAR,
    ROUNDING,
    expected_singletons,
    most_singletons,
    share_in_sets_up_to,
)

if TYPE_CHECKING:
    from crowdgate.candidate import Static
    from crowdgate.policy.policy import GateRule

FACTOR = 2
"""Greatest quotient of the two limits of a figure: where they differ by more, the figure is unknown."""
UNRELATED = (
    "public counts do not relate {names}; state joint counts of all (jointMargins), have a public table that can be"
    " read here, or pay for a gate on `singletons`"
)
UNRELATED_ROWS = (
    "public counts do not relate {names}; state joint counts of all (jointMargins), or pay for `classes_below` with"
    " size {size} (up to {rows} rows a person)"
)
ROWS_OF_PEOPLE = (
    "counts of rows give an upper limit of {high:.3g} (up to {rows} rows a person); state fewer rows, use coarser"
    " levels, or pay for `classes_below` with size {size}"
)
CONTRADICTION = "the joint counts of {names} differ by table; correct the counts"
FEWER = "the public counts are of {counted} people, and the gate is about {people}; state counts of all of them"


@dataclass(frozen=True)
class Limits:
    """The least and the greatest value that public counts allow."""

    low: float
    high: float


@dataclass(frozen=True, eq=False)
class CountedGroup:
    """Public counts of some attributes together: the classes with people, and the number of all combinations."""

    classes: ClassSizes
    cells: int


@dataclass(frozen=True, eq=False)
class KnownCounts:
    """Public counts of groups of attributes without common members. One group means that the classes are known.
    `whole` means that nobody but the counted people can be in the table. A person has up to `rows` rows; with more than
    one the counts are of rows."""

    groups: tuple[CountedGroup, ...]
    whole: bool = False
    rows: int = 1

    @property
    def people(self) -> int:
        """Least number of people in the counts, of the group with the fewest."""
        return least_people(min(each.classes.people for each in self.groups), self.rows)

    @property
    def cells(self) -> int:
        """Number of all combinations of values."""
        return prod(each.cells for each in self.groups)

    def uncounted(self, people: int) -> int:
        """Return how many of `people` may be missing from the counts."""
        return 0 if self.whole else max(0, people - self.people)

    def most_classes(self, most: int) -> int:
        """Return a bound on the number of classes with at most `most` people, times `most`. People with one value of a
        group, or their rows, are in no more such classes than there are combinations of the others; without others in
        each other's counts these are the combinations with people."""
        same = len({each.classes.people for each in self.groups}) == 1
        sizes = [each.classes.number if same else each.cells for each in self.groups]
        every = prod(sizes)
        return min(
            int(np.minimum(self.rows * each.classes.sizes, most * float(every // size)) @ each.classes.counts)
            for each, size in zip(self.groups, sizes, strict=True)
        )


def known_counts(static: Static, names: Sequence[str]) -> KnownCounts | None:
    """Return the public counts of these attributes; None if one of them has no counts, or nobody is counted."""
    counted, rows = (static.classes or {}).get(frozenset(names)), static.rows_per_unit
    if counted is not None:
        return KnownCounts((CountedGroup(counted, counted.number),), whole=True, rows=rows)
    groups = tuple(_groups(static, names))
    found = tuple(each for each in groups if each is not None and each.classes.people)
    return KnownCounts(found, rows=rows) if found and len(found) == len(groups) else None


def joint_tables(static: Static, names: Collection[str]) -> tuple[Histogram, ...]:
    """Return the joint counts of the attributes `names`, summed over all others; for repeated sets of attributes the
    first."""
    found: dict[frozenset[str], Histogram] = {}
    for table in static.joint:
        own = [name for name in table.names if name in names]
        if own and frozenset(own) not in found:
            found[frozenset(own)] = project(table, own)
    return tuple(found.values())


def _groups(static: Static, names: Sequence[str]) -> Iterator[CountedGroup | None]:
    """Yield the counts of groups of attributes: the largest joint tables without common attributes, then single
    attributes; None for an attribute without counts."""
    left, tables = [*names], sorted(joint_tables(static, names), key=lambda each: -len(each.names))
    for table in tables:
        if {*table.names} <= {*left}:
            yield CountedGroup(ClassSizes.of(table.counts), prod(table.sizes))
            left = [name for name in left if name not in table.names]
    for name in left:
        own = next((project(each, [name]).counts for each in tables if name in each.names), None)
        known = static.margins(name) if own is None else None
        counts = own if known is None else np.asarray(known, dtype=np.int64)
        yield None if counts is None else CountedGroup(ClassSizes.of(counts), len(static.levels[name]))


def contradiction(static: Static, names: Sequence[str]) -> str | None:
    """Return in words that two joint tables differ in the shares of attributes that both count; None if none do."""
    for one, other in combinations(joint_tables(static, names), 2):
        common = [name for name in one.names if name in other.names]
        if common and not _alike(project(one, common), project(other, common)):
            return CONTRADICTION.format(names=", ".join(common))
    return None


def _alike(one: Histogram, other: Histogram) -> bool:
    """Return True if two tables of the same attributes have the same shares, in whole numbers."""
    same = len(one.counts) == len(other.counts) and all(map(np.array_equal, one.codes, other.codes))
    return same and all(
        a * other.rows == b * one.rows for a, b in zip(one.counts.tolist(), other.counts.tolist(), strict=True)
    )


# --- limits ---


def singleton_limits(known: KnownCounts, least: int, most: int) -> Limits:
    """Return limits of the expected number of classes with one person, for the worst number of people from `least` to
    `most`.

    An attribute more never makes a unique person less so: each group alone is a lower limit. Each row of a person who
    is missing from the counts can be one more such class, and the others of the group are counted people.
    """
    uncounted = known.uncounted(most)
    missing = known.rows * uncounted
    high = float(min(known.rows * most, known.cells, known.most_classes(1) + missing))
    if len(known.groups) == 1:
        high = min(high, _most_singletons(known, max(1, least - uncounted), most) + missing)
    if known.rows > 1:
        return Limits(0.0, high)
    low = max(most_singletons(each.classes, least, most) for each in known.groups)
    return Limits(min(high, low * (1 - ROUNDING)), high)


def _most_singletons(known: KnownCounts, least: int, most: int) -> float:
    """Return an upper limit on the expected number of classes with one person of a group of counted people."""
    classes = known.groups[0].classes
    if known.rows > 1:
        return most_unique_classes(classes, known.rows, least, most)
    return most_singletons(classes, least, most) * (1 + NEAR + ROUNDING)


def probability_limits(known: KnownCounts, least: int, most: int) -> Limits:
    """Return limits of the probability that anybody is unique, for the worst number of people: at most the expected
    number (Markov), and at least this number divided by the greatest possible one."""
    cells = known.cells
    found = singleton_limits(known, least, most)
    if known.rows > 1:
        return Limits(0.0, min(1.0, found.high))
    fewest = max(expected_singletons(each.classes, min(least, each.classes.people)) for each in known.groups)
    low = max(found.low / min(most, cells), fewest * (1 - ROUNDING) / min(least, cells))
    return Limits(min(1.0, low), min(1.0, found.high))


def share_limits(known: KnownCounts, least: int, most: int, size: int) -> Limits:
    """Return limits of the expected share of people in classes of at most `size` of them. The worst number of people is
    the least one."""
    if least <= size:
        return Limits(1.0, 1.0)
    high = min(1.0, known.most_classes(size) / least)
    if known.uncounted(most):
        return Limits(0.0, 1.0)
    if known.rows > 1:
        return Limits(0.0, _most_share(known, min(least, known.people), size))
    low = max(share_in_sets_up_to(each.classes, min(least, each.classes.people), size) for each in known.groups)
    if len(known.groups) == 1:
        high = min(1.0, low * (1 + ROUNDING))
    return Limits(low * (1 - ROUNDING), high)


def _most_share(known: KnownCounts, people: int, size: int) -> float:
    """Return an upper limit on the share where counts are of rows and every person is counted."""
    high = min(1.0, known.most_classes(size) / people)
    if len(known.groups) > 1:
        return high
    return min(high, most_share_in_sets_up_to(known.groups[0].classes, known.rows, people, size))


def figure(limits: Limits, rule: GateRule, widest: float = FACTOR) -> Measurement | None:
    """Return limits as a measurement, at the upper one; None (unknown) where they differ by more than the factor
    `widest` and the gate's limit lies between them."""
    low, high = limits.low, limits.high
    same = high <= widest * low or _passes(rule, low) == _passes(rule, high)
    return Measurement(high, low, high) if same else None


def _passes(rule: GateRule, value: float) -> bool:
    """Return True if a value is within the gate's limit."""
    return value <= rule.at_most if rule.at_most is not None else rule.at_least is None or value >= rule.at_least


def unknown_reason(known: KnownCounts, names: Sequence[str], people: int, high: float) -> str:
    """Return the reason why a figure for `people`, with the upper limit `high`, is unknown, and what would make it
    known."""
    listed, rows = ", ".join(names), known.rows
    if len(known.groups) > 1:
        return (UNRELATED if rows == 1 else UNRELATED_ROWS).format(names=listed, rows=rows, size=rows + 1)
    if rows > 1:
        return ROWS_OF_PEOPLE.format(rows=rows, high=high, size=rows + 1)
    return FEWER.format(counted=known.people, people=people)
