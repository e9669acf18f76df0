"""A shuffle: rows by person of a table that several machines count, so that no process holds all people.

Each group of parts is counted and divided into buckets by person. Each bucket is merged over all groups, and the run's
process takes one merged bucket after another. What a group has in a bucket is counted once: where the bucket is merged,
or by the run's process, if it is missing there.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from crowdgate.sources.buckets import Division, PeopleForm, block_of, divided, nobody, people_of_block
from crowdgate.sources.counting import Counter, PartialCounts
from crowdgate.sources.facts import TableFacts
from crowdgate.sources.people import merge_people
from crowdgate.sources.people_figures import PeopleFigures, figures_of, sum_of
from crowdgate.sources.source import Piece
from crowdgate.sources.spill import (
    FULL,
    Bucket,
    HeldBlock,
    MergedBucket,
    Spill,
    SpilledPeople,
    StoredBlock,
    merged_bucket,
    spilled,
    stored,
)


class InconsistentShuffleError(Exception):
    """The merged buckets do not hold each row once."""


@dataclass(frozen=True, eq=False, repr=False)
class Totals:
    """Totals of some groups: their number, the facts about their rows, their rows that name a person, and those of
    them that cleaning retains.
    """

    groups: int
    facts: TableFacts
    named: int
    clean: int


@dataclass(frozen=True, eq=False)
class Share:
    """The rows by person of one group in one bucket, in blocks; its place are their numbers. `totals` are those of the
    group, in the first bucket only.
    """

    place: tuple[int, int]
    blocks: tuple[bytes, ...] = field(repr=False)
    totals: Totals | None = field(repr=False)


@dataclass(frozen=True, eq=False)
class ShuffledBucket:
    """A bucket by its number, merged over the groups that are not missing (None: all are): one block, its number of
    entries, and the figures about its people. `totals` are those of its groups, in the first bucket only.
    """

    number: int
    block: bytes | None = field(repr=False)
    entries: int = field(repr=False)
    figures: PeopleFigures | None = field(repr=False)
    totals: Totals | None = field(repr=False)
    missing: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class GatheredPeople:
    """The counts of a table in merged buckets, and whether the run's process has counted a part of it."""

    counts: PartialCounts
    recounted: bool


def shares_of(group: int, counts: PartialCounts, division: Division) -> list[Share]:
    """Return the shares of a group, by its number and its counts, in all buckets."""
    people = counts.people
    assert people is not None, "the privacy unit is a person"
    slices = [list(blocks) for blocks in divided(people, division)]
    totals = Totals(1, counts.facts, people.named, people.clean)
    return [
        Share((group, number), tuple(blocks[number] for blocks in slices), None if number else totals)
        for number in range(division.buckets)
    ]


def shuffled_bucket(number: int, shares: Sequence[Share | None], form: PeopleForm) -> ShuffledBucket:
    """Merge the shares of all groups in a bucket; None stands for a share that is missing. Raises
    InconsistentShuffleError for a share of another place."""
    if any(share is not None and share.place != (group, number) for group, share in enumerate(shares)):
        raise InconsistentShuffleError
    missing = tuple(group for group, share in enumerate(shares) if share is None)
    found = [share for share in shares if share is not None]
    blocks = (block for share in found for block in share.blocks)
    people = merge_people([nobody(form), *(people_of_block(each, form) for each in blocks)])
    totals = None if number else _sum([share.totals for share in found if share.totals is not None])
    entries = max(len(people.counts), len(people.ids))
    return ShuffledBucket(number, block_of(people), entries, figures_of(people, form.most), totals, missing)


def missing_bucket(number: int, groups: int) -> ShuffledBucket:
    """Return a bucket in which so many groups, which are all, are missing."""
    return ShuffledBucket(number, None, 0, None, None, tuple(range(groups)))


def _sum(totals: Sequence[Totals]) -> Totals:
    facts = TableFacts()
    for each in totals:
        facts.add(each.facts)
    groups, named, clean = (sum(getattr(each, name) for each in totals) for name in ("groups", "named", "clean"))
    return Totals(groups, facts, named, clean)


def gathered(found: Iterable[ShuffledBucket], groups: Sequence[Sequence[Piece]], counter: Counter) -> GatheredPeople:
    """Return the counts of a table from its buckets, taken one after another. The counter counts the groups that are
    missing in any; its spill has as many buckets, and stores those that exceed memory.

    Raises InconsistentShuffleError, and what the counter raises.
    """
    spill = counter.spill
    assert spill is not None, "rows by person may exceed memory"
    kept, missing, totals = _kept(found, len(groups), spill)
    counted = {number: _counted(groups[number], counter, spill) for number in sorted(set().union(*missing.values()))}
    for number, absent in missing.items():
        if absent:
            files = chain.from_iterable(counted[group].files for group in sorted(absent))
            blocks = (StoredBlock(each.file, number) for each in files)
            here = () if (there := kept.get(number)) is None else (there.block,)
            kept[number] = merged_bucket(Bucket((*here, *blocks)), counter.form, spill)
    total = _sum([*totals, *(counted[group].totals for group in missing[0])])
    return GatheredPeople(_checked([kept[number] for number in sorted(kept)], total, len(groups)), bool(counted))


def _kept(
    found: Iterable[ShuffledBucket], groups: int, spill: Spill
) -> tuple[dict[int, MergedBucket], dict[int, frozenset[int]], list[Totals]]:
    """Return the buckets, in memory as far as they fit, the groups missing in each, and the totals of the others."""
    kept: dict[int, MergedBucket] = {}
    missing: dict[int, frozenset[int]] = {}
    totals, held = [], 0
    for each in found:
        if each.number in missing:
            raise InconsistentShuffleError
        missing[each.number] = frozenset(each.missing)
        totals += [] if each.totals is None else [each.totals]
        if each.block is not None and each.figures is not None:
            fits = held + each.entries <= FULL * spill.most
            held += each.entries if fits else 0
            block = HeldBlock(each.block) if fits else stored(each.block, spill)
            kept[each.number] = MergedBucket(block, each.figures)
    every = frozenset(range(groups))
    whole = all(absent <= every and (number in kept or absent == every) for number, absent in missing.items())
    if not whole or set(missing) != set(range(spill.division.buckets)):
        raise InconsistentShuffleError
    return kept, missing, totals


@dataclass(frozen=True, eq=False)
class _CountedGroup:
    """A group that the run's process has counted: its rows by person in files, and its totals."""

    files: tuple[SpilledPeople, ...]
    totals: Totals


def _counted(group: Sequence[Piece], counter: Counter, spill: Spill) -> _CountedGroup:
    found = counter(group, None)
    files = (*found.spilled, *(() if found.people is None else spilled(found.people, spill)))
    named, clean = (sum(getattr(each, name) for each in files) for name in ("named", "clean"))
    return _CountedGroup(files, Totals(1, found.facts, named, clean))


def _checked(buckets: Sequence[MergedBucket], total: Totals, groups: int) -> PartialCounts:
    """Return the counts of all buckets. Raises InconsistentShuffleError if they have other totals than the groups."""
    if total.groups != groups or sum_of(each.figures for each in buckets).clean != total.clean:
        raise InconsistentShuffleError
    first, *others = buckets
    named = replace(first, figures=replace(first.figures, named=total.named))
    return PartialCounts(total.facts, {}, buckets=(named, *others))
