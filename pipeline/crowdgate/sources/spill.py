"""Rows by person that exceed memory: encrypted temporary files of buckets of people.

The bucket of a person is a keyed hash of the id, so all rows of a person are in one bucket, whichever process wrote
them. Each bucket is merged alone. The choice of a person's rows depends on that person only, so it is that of people in
memory, for any number of files.
"""

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from crowdgate.arrays import AnyIntegers
from crowdgate.histogram import View
from crowdgate.sampling import KEY_BYTES, id_numbers
from crowdgate.sources.people import RowsByPerson, id_texts, merge_people
from crowdgate.sources.people_figures import PeopleFigures, figures_of
from crowdgate.sources.sealed_file import SealedFile, write_sealed
from crowdgate.system.freed_memory import return_freed_memory

MOST_ENTRIES = 1 << 24
"""Entries of people that one process holds before it writes them to files: some 500 MB with ids that are whole numbers,
and more with texts."""
BUCKETS = 128
"""So a bucket of two billion entries fits into memory as well."""
_LEAST = 1 << 20
"""Entries that each of many processes may hold at least: fewer make files of tiny blocks."""
_PEOPLE = 1 << 20
"""The most people of one file: their places are sorted in memory."""


@dataclass(frozen=True)
class Spill:
    """Destination of rows by person that exceed memory: a folder, the most entries that a process holds, and the secret
    of the buckets."""

    folder: Path
    most: int
    secret: bytes = field(repr=False)

    def shared(self, processes: int) -> "Spill":
        """Return the spill of one of several processes, whose entries one process then holds together."""
        return replace(self, most=max(self.most // processes, min(self.most, _LEAST)))


@dataclass(frozen=True)
class SpilledPeople:
    """Rows by person in a file, with a block for each bucket; `named` is their number of rows with an id."""

    file: SealedFile
    named: int


@dataclass(frozen=True)
class Bucket:
    """A bucket of people in several files. Its size is in bytes."""

    number: int
    files: tuple[SealedFile, ...] = field(repr=False)

    @property
    def size(self) -> int:
        """The bytes of the bucket in all files."""
        return sum(file.size(self.number) for file in self.files)


@dataclass(frozen=True)
class MergedBucket:
    """The rows by person of a bucket, merged, in a file of one block, and the figures about them."""

    file: SealedFile
    figures: PeopleFigures


def spill_to(folder: Path) -> Spill:
    """Return the spill to a folder, with a new secret."""
    return Spill(folder, MOST_ENTRIES, secrets.token_bytes(KEY_BYTES))


def spilled(people: RowsByPerson, spill: Spill) -> tuple[SpilledPeople, ...]:
    """Write merged rows by person to files. Raises EnvironmentFault."""
    named, found = people.named, []
    for start in range(0, len(people.ids), _PEOPLE):
        part = _people_slice(people, start, min(start + _PEOPLE, len(people.ids)))
        found.append(SpilledPeople(write_sealed(spill.folder, _blocks(part, spill.secret)), named))
        named = 0  # rows without a retained one are counted, too: they are of no bucket
        return_freed_memory()
    return tuple(found)


def buckets_of(people: Sequence[SpilledPeople]) -> list[Bucket]:
    """Return the buckets that some files hold together."""
    files = tuple(each.file for each in people)
    return [Bucket(number, files) for number in range(BUCKETS)]


def merged_bucket(bucket: Bucket, view: View, watched: tuple[str, ...], most: int, spill: Spill) -> MergedBucket:
    """Merge the rows by person of a bucket, and write them to a file. Raises EnvironmentFault."""
    people = merge_people([_people_in(file.read(bucket.number), view, watched) for file in bucket.files])
    return MergedBucket(write_sealed(spill.folder, [_block(people)]), figures_of(people, most))


def people_in(bucket: MergedBucket, view: View, watched: tuple[str, ...]) -> RowsByPerson:
    """Return the rows by person of a merged bucket. Raises EnvironmentFault."""
    return _people_in(bucket.file.read(0), view, watched)


def _people_slice(people: RowsByPerson, first: int, last: int) -> RowsByPerson:
    """Return the rows of the people with places from `first` to before `last`. Entries are ordered by their people."""
    start, end = np.searchsorted(people.of, np.array([first, last], dtype=people.of.dtype))
    return replace(
        people,
        ids=people.ids.slice(first, last - first),
        of=people.of[start:end] - first,
        words=tuple(word[start:end] for word in people.words),
        counts=people.counts[start:end],
        faults=people.faults[:, first:last],
    )


def _blocks(people: RowsByPerson, secret: bytes) -> Iterator[bytes]:
    """Yield the block of each bucket."""
    bucket = id_numbers(secret, id_texts(people.ids), BUCKETS)
    own, people_edges = _by_bucket(bucket)
    places = np.empty(len(own), dtype=np.int32)  # of a person in the bucket
    for first, last in pairwise(people_edges):
        places[own[first:last]] = np.arange(last - first, dtype=np.int32)
    entries, entry_edges = _by_bucket(bucket[people.of])
    for (first, last), (start, end) in zip(pairwise(people_edges), pairwise(entry_edges), strict=True):
        ours, rows = own[first:last], entries[start:end]
        yield _block(
            replace(
                people,
                ids=people.ids.take(pa.array(ours)),
                of=places[people.of[rows]],
                words=tuple(word[rows] for word in people.words),
                counts=people.counts[rows],
                faults=people.faults[:, ours],
            )
        )


def _by_bucket(bucket: AnyIntegers) -> tuple[AnyIntegers, list[int]]:
    """Return the places of all elements by their buckets, in order, and where those of each bucket begin and end."""
    sizes = np.bincount(bucket, minlength=BUCKETS)
    return np.argsort(bucket, kind="stable"), [0, *np.cumsum(sizes).tolist()]


def _block(people: RowsByPerson) -> bytes:
    """Return rows by person as two streams of Arrow IPC: the people, then their entries."""
    sink = pa.BufferOutputStream()
    _write_table(sink, [people.ids, *map(pa.array, people.faults)])
    _write_table(sink, list(map(pa.array, (people.of, *people.words, people.counts))))
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _write_table(sink: Any, columns: list[Any]) -> None:
    table = pa.record_batch(columns, names=list(map(str, range(len(columns)))))
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_batch(table)


def _people_in(block: bytes, view: View, watched: tuple[str, ...]) -> RowsByPerson:
    reader = pa.BufferReader(block)
    (people,) = pa.ipc.open_stream(reader)
    (entries,) = pa.ipc.open_stream(reader)
    ids, *faults = people.columns
    of, *words, counts = (each.to_numpy() for each in entries.columns)
    marks = np.array([each.to_numpy(zero_copy_only=False) for each in faults], dtype=np.bool_)
    return RowsByPerson(view, ids, of, tuple(words), counts, 0, watched, marks)
