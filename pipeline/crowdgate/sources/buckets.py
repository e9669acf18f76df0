"""Division of people into buckets, and the blocks of bytes in which rows by person are kept and sent.

The bucket of a person is a keyed hash of the id, so all rows of a person are in one bucket, whichever process counted
them. So each bucket can be merged alone, and figures about disjoint buckets add up.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from crowdgate.arrays import AnyIntegers
from crowdgate.histogram import View
from crowdgate.sampling import id_numbers
from crowdgate.sources.people import RowsByPerson, id_texts, people_of
from crowdgate.system.freed_memory import return_freed_memory

MOST_BUCKETS = 128
"""With so many, each bucket of two billion entries fits into memory."""
_PEOPLE = 1 << 20
"""The most people whose places are sorted at once."""


@dataclass(frozen=True)
class Division:
    """A division of people into buckets: their number, a power of two, and the secret of the hash."""

    buckets: int
    secret: bytes = field(repr=False)


@dataclass(frozen=True, eq=False)
class PeopleForm:
    """The form of rows by person: the view in which they are counted, the watched columns, and the most rows that are
    retained of a person."""

    view: View
    watched: tuple[str, ...]
    most: int


def nobody(form: PeopleForm) -> RowsByPerson:
    """Return the rows of no person."""
    return people_of(form.view, [], form.watched)


def divided(people: RowsByPerson, division: Division) -> Iterator[Iterator[bytes]]:
    """Yield merged rows by person as one block for each bucket, repeatedly: of a limited number of people each time."""
    for start in range(0, len(people.ids), _PEOPLE):
        yield _blocks(_people_slice(people, start, min(start + _PEOPLE, len(people.ids))), division)
        return_freed_memory()


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


def _blocks(people: RowsByPerson, division: Division) -> Iterator[bytes]:
    bucket = id_numbers(division.secret, id_texts(people.ids), division.buckets)
    own, people_edges = _by_bucket(bucket, division.buckets)
    places = np.empty(len(own), dtype=np.int32)  # of a person in the bucket
    for first, last in pairwise(people_edges):
        places[own[first:last]] = np.arange(last - first, dtype=np.int32)
    entries, entry_edges = _by_bucket(bucket[people.of], division.buckets)
    for (first, last), (start, end) in zip(pairwise(people_edges), pairwise(entry_edges), strict=True):
        ours, rows = own[first:last], entries[start:end]
        yield block_of(
            replace(
                people,
                ids=people.ids.take(pa.array(ours)),
                of=places[people.of[rows]],
                words=tuple(word[rows] for word in people.words),
                counts=people.counts[rows],
                faults=people.faults[:, ours],
            )
        )


def _by_bucket(bucket: AnyIntegers, buckets: int) -> tuple[AnyIntegers, list[int]]:
    """Return the places of all elements by their buckets, in order, and where those of each bucket begin and end."""
    sizes = np.bincount(bucket, minlength=buckets)
    return np.argsort(bucket, kind="stable"), [0, *np.cumsum(sizes).tolist()]


def block_of(people: RowsByPerson) -> bytes:
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


def people_of_block(block: bytes, form: PeopleForm) -> RowsByPerson:
    """Return the rows by person of a block. Rows that name a person and are not retained are in no block."""
    reader = pa.BufferReader(block)
    (people,) = pa.ipc.open_stream(reader)
    (entries,) = pa.ipc.open_stream(reader)
    ids, *faults = people.columns
    of, *words, counts = (each.to_numpy() for each in entries.columns)
    marks = np.array([each.to_numpy(zero_copy_only=False) for each in faults], dtype=np.bool_)
    return RowsByPerson(form.view, ids, of, tuple(words), counts, 0, form.watched, marks)
