"""Rows by person that exceed memory: encrypted temporary files of buckets of people.

Each bucket is merged alone. The choice of a person's rows depends on that person only, so it is that of people in
memory, for any number of files and buckets.
"""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from crowdgate.sampling import KEY_BYTES
from crowdgate.sources.buckets import MOST_BUCKETS, Division, PeopleForm, block_of, divided, nobody, people_of_block
from crowdgate.sources.people import RowsByPerson, merge_people
from crowdgate.sources.people_figures import PeopleFigures, figures_of
from crowdgate.sources.sealed_file import SealedFile, write_sealed

MOST_ENTRIES = 1 << 24
"""Entries of people that one process holds before it writes them to files: some 500 MB with ids that are whole numbers,
and more with texts."""
FULL = 0.75
"""The share of the entries that memory may hold, above which a sum of people is written to files. It leaves place for
others, as each addition sorts all of them."""
_LEAST = 1 << 20
"""Entries that each of many processes may hold at least: fewer make files of tiny blocks."""


@dataclass(frozen=True)
class Spill:
    """Destination of rows by person that exceed memory: a folder, the most entries that a process holds, and the
    division into buckets."""

    folder: Path
    most: int
    division: Division

    def shared(self, processes: int) -> "Spill":
        """Return the spill of one of several processes, whose entries one process then holds together."""
        return replace(self, most=max(self.most // processes, min(self.most, _LEAST)))

    def divided(self, buckets: int) -> "Spill":
        """Return the spill with so many buckets, a power of two."""
        return replace(self, division=replace(self.division, buckets=buckets))


@dataclass(frozen=True, repr=False)
class SpilledPeople:
    """Rows by person in a file, with a block for each bucket; `named` is their number of rows with an id, `clean` that
    of those among them that cleaning retains."""

    file: SealedFile
    named: int
    clean: int


class PeopleBlock(Protocol):
    """Rows by person of a bucket, as bytes."""

    @property
    def size(self) -> int:
        """The number of bytes."""

    def read(self) -> bytes:
        """Return the bytes. Raises EnvironmentFault."""


@dataclass(frozen=True)
class StoredBlock:
    """A block of a file, by its number."""

    file: SealedFile
    number: int

    @property
    def size(self) -> int:
        """The number of bytes in the file."""
        return self.file.size(self.number)

    def read(self) -> bytes:
        """Return the bytes. Raises EnvironmentFault."""
        return self.file.read(self.number)


@dataclass(frozen=True)
class HeldBlock:
    """A block in memory."""

    content: bytes = field(repr=False)

    @property
    def size(self) -> int:
        """The number of bytes."""
        return len(self.content)

    def read(self) -> bytes:
        """Return the bytes."""
        return self.content


@dataclass(frozen=True)
class Bucket:
    """A bucket of people in several blocks. Its size is in bytes."""

    blocks: tuple[PeopleBlock, ...] = field(repr=False)

    @property
    def size(self) -> int:
        """The bytes of all blocks."""
        return sum(block.size for block in self.blocks)


@dataclass(frozen=True, repr=False)
class MergedBucket:
    """The rows by person of a bucket, merged, in one block, and the figures about them."""

    block: PeopleBlock
    figures: PeopleFigures


def spill_to(folder: Path) -> Spill:
    """Return the spill to a folder, with a new secret."""
    return Spill(folder, MOST_ENTRIES, Division(MOST_BUCKETS, secrets.token_bytes(KEY_BYTES)))


@contextmanager
def removed_on_error(spill: Spill) -> Iterator[None]:
    """Remove the files that are written inside if it fails, so that their space is free again."""
    before = set(spill.folder.iterdir())
    try:
        yield
    except BaseException:
        for path in set(spill.folder.iterdir()) - before:
            path.unlink(missing_ok=True)
        raise


def spilled(people: RowsByPerson, spill: Spill) -> tuple[SpilledPeople, ...]:
    """Write merged rows by person to files. Raises EnvironmentFault."""
    rows, found = (people.named, people.clean), []
    for blocks in divided(people, spill.division):
        found.append(SpilledPeople(write_sealed(spill.folder, blocks), *rows))
        rows = (0, 0)  # those of all people are in the first file
    return tuple(found)


def buckets_of(people: Sequence[SpilledPeople], division: Division) -> list[Bucket]:
    """Return the buckets that some files hold together."""
    return [Bucket(tuple(StoredBlock(each.file, number) for each in people)) for number in range(division.buckets)]


def merged_bucket(bucket: Bucket, form: PeopleForm, spill: Spill) -> MergedBucket:
    """Merge the rows by person of a bucket, and write them to a file. Raises EnvironmentFault."""
    people = merge_people([nobody(form), *(people_of_block(block.read(), form) for block in bucket.blocks)])
    return MergedBucket(stored(block_of(people), spill), figures_of(people, form.most))


def stored(block: bytes, spill: Spill) -> StoredBlock:
    """Write a block to a file of its own. Raises EnvironmentFault."""
    return StoredBlock(write_sealed(spill.folder, [block]), 0)


def people_in(bucket: MergedBucket, form: PeopleForm) -> RowsByPerson:
    """Return the rows by person of a merged bucket. Raises EnvironmentFault."""
    return people_of_block(bucket.block.read(), form)
