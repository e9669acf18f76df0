"""The bound on rows per person: a random subset of each person's rows is retained, chosen by secret numbers.

Rows are counted by person and tuple, part by part, and the counts of all parts merged. Then each row of a person with
too many rows gets a number from its person, its tuple and its index among the person's equal rows. The rows with the
smallest numbers are retained. So neither the order of rows nor the division into parts matters.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crowdgate.arrays import AnyIntegers, Bools, Codes, Integers
from crowdgate.histogram import Histogram, Records, View, collapse, lookup_of, retained_values
from crowdgate.keys import Packing, Word, collapsed
from crowdgate.limits import LONGEST_ID
from crowdgate.sampling import Draws, SecretKey, row_draws
from crowdgate.sources.encode import is_text, plain, shortened, texts
from crowdgate.system.arrow_memory import system_memory_pool

NOBODY = -1
_SLICE = 1 << 16
_ENTRIES = 1 << 19
"""Entries whose rows are chosen at once, unless one person has more."""
_DIGITS = {16: 11, 32: 24, 64: 53}
"""The number of binary digits of a float's fraction, by the width of its type (IEEE 754)."""


@dataclass(frozen=True, eq=False)
class RowsByPerson:
    """Rows counted by person and tuple: person `of[i]` (an index into `ids`) has `counts[i]` rows of tuple `words[i]`.

    `ids` are the distinct usable ids of all rows, also of those that cleaning drops; `named` is the number of rows that
    have one. `faults` marks the ids with an invalid cell in any of these rows: its first line in any column, then one
    line for each of the `watched` ones. Confidential, like all counts.
    """

    view: View
    ids: Any
    of: AnyIntegers
    words: tuple[Word, ...]
    counts: Integers
    named: int
    watched: tuple[str, ...]
    faults: Bools

    @property
    def rows(self) -> Integers:
        """The number of rows of each of `ids` that cleaning retains."""
        return np.bincount(self.of, self.counts, len(self.ids)).astype(np.int64)


def count_people(view: View, batches: Iterable[tuple[Any, Records]], watched: tuple[str, ...] = ()) -> RowsByPerson:
    """Return the rows of some batches, counted by person and tuple; each batch comes with the cells of its person
    column.

    Rows without a usable id are left out.
    """
    packing, cells, keeps, start = Packing.of(view.sizes), [], [], 0
    faulty: list[list[AnyIntegers]] = [[] for _ in range(1 + len(watched))]
    tuples: list[tuple[Word, ...]] = [packing.empty()]
    rows_each = [np.zeros(0, dtype=np.int64)]
    for ids, records in batches:
        cells.append(ids if pa.types.is_integer(ids.type) else _as_bytes(ids))
        rows_each.append(np.ones(records.rows, dtype=np.int64) if records.counts is None else records.counts)
        keeps.append(np.ones(records.rows, dtype=np.bool_) if records.keep is None else records.keep)
        tuples.append(packing.pack(_codes(view, records), int(np.count_nonzero(keeps[-1]))))
        for line, names in zip(faulty, (records.invalid, *((name,) for name in watched)), strict=True):
            line += [start + np.flatnonzero(records.invalid[name]) for name in names if name in records.invalid]
        start += records.rows
    # ids of all rows, also of dropped ones: facts about ids must not depend on cleaning
    names, numbers = _numbered(cells)
    # only rows that cleaning retains, and that have a usable id, are counted
    keep = np.concatenate([np.zeros(0, dtype=np.bool_), *keeps])
    each = np.concatenate(rows_each)
    of, words = numbers[keep], tuple(np.concatenate(parts) for parts in zip(*tuples, strict=True))
    stays = of != NOBODY
    rows = tuple(word[stays] for word in words)
    (of, *words_), counts = collapsed((of[stays], *rows), each[keep][stays])
    named = int(each[numbers != NOBODY].sum())
    return RowsByPerson(
        view, names, of, tuple(words_), counts, named, watched, _people_marks(faulty, numbers, len(names))
    )


def _people_marks(lines: Sequence[Sequence[AnyIntegers]], numbers: Codes, people: int) -> Bools:
    """Return one line of marks, one for each person, for each list of row numbers: True for the people who have one of
    these rows.
    """
    # the additional last place is for rows without a usable id (NOBODY)
    marks = np.zeros((len(lines), people + 1), dtype=np.bool_)
    for line, rows in zip(marks, lines, strict=True):
        for found in rows:
            line[numbers[found]] = True
    return marks[:, :-1]


def _codes(view: View, records: Records) -> Iterator[Codes]:
    for name, level in view.levels.items():
        column = records.columns[name]
        yield retained_values(lookup_of(column, level)[column.indices], records.keep)


def merge_people(parts: Sequence[RowsByPerson]) -> RowsByPerson:
    """Return the rows of all parts (at least one), counted by person and tuple over the whole table."""
    parts = [part for part in parts if part.named or len(part.ids)] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    # ids of all parts in one dictionary; `numbers` leads from a part's id to its place there
    with system_memory_pool():
        ids = pa.chunked_array([part.ids for part in parts], pa.large_binary())
        together = ids.dictionary_encode().combine_chunks()
    ends = np.cumsum([0, *(len(part.ids) for part in parts)])
    numbers = together.indices.to_numpy(zero_copy_only=False)
    # a part's ids begin at its end of the one before
    of = np.concatenate([numbers[ends[i] : ends[i + 1]][part.of] for i, part in enumerate(parts)])
    words = [np.concatenate([part.words[i] for part in parts]) for i in range(len(parts[0].words))]
    counts = np.concatenate([part.counts for part in parts])
    (of, *words), counts = collapsed((of, *words), counts)
    # a fault in any part is a fault of the person
    faults = np.zeros((len(parts[0].faults), len(together.dictionary)), dtype=np.bool_)
    for i, part in enumerate(parts):
        faults[:, numbers[ends[i] : ends[i + 1]]] |= part.faults
    named, watched = sum(part.named for part in parts), parts[0].watched
    return RowsByPerson(parts[0].view, together.dictionary, of, tuple(words), counts, named, watched, faults)


def bounded_histogram(people: RowsByPerson, most: int, key: SecretKey) -> Histogram:
    """Return the histogram of a random subset of the rows: at most `most` rows of each person, every choice of them
    equally likely.
    """
    # person ids are dropped
    return collapse(people.view.names, people.view.sizes, *bounded_entries(people, most, key)[1:])


def bounded_entries(people: RowsByPerson, most: int, key: SecretKey) -> tuple[AnyIntegers, list[AnyIntegers], Integers]:
    """Return a random choice of at most `most` rows of each person, as entries: their people, their tuples (one array
    per column) and their numbers of rows.
    """
    # how many rows each person has, and which entries are of a person with too many
    over = (people.rows > most)[people.of]
    counts = people.counts.copy()
    counts[over] = _chosen(people, np.flatnonzero(over), most, key)
    # back to columns
    codes = Packing.of(people.view.sizes).unpack(people.words)
    stays = counts > 0
    return people.of[stays], [column[stays] for column in codes], counts[stays]


def _chosen(people: RowsByPerson, entries: AnyIntegers, most: int, key: SecretKey) -> Integers:
    """Return the number of retained rows of each of these entries: each person retains the `most` rows with the
    smallest draws.
    """
    edges = _stretches(people.of[entries])
    found = [_chosen_of(people, entries[first:last], most, key) for first, last in pairwise(edges)]
    return np.concatenate([people.counts[:0], *found])


def _stretches(owner: AnyIntegers) -> list[int]:
    """Return where stretches of entries begin and end, so that each has all entries of its people. Entries are ordered
    by their people.
    """
    edges = [0]
    while edges[-1] < len(owner):
        last = owner[min(edges[-1] + _ENTRIES, len(owner)) - 1]
        edges.append(int(np.searchsorted(owner, last, side="right")))
    return edges


def _chosen_of(people: RowsByPerson, entries: AnyIntegers, most: int, key: SecretKey) -> Integers:
    """Return the number of retained rows of each of these entries, which are all entries of some people."""
    counts = people.counts[entries]
    # one line per row again: its entry, and which of the entry's equal rows it is
    entry = np.repeat(np.arange(len(entries)), counts)
    copy = np.arange(len(entry)) - np.repeat(np.cumsum(counts) - counts, counts)
    # the persons of these rows, numbered from 0, and a draw for each row
    owner = people.of[entries][entry]
    who, place = np.unique(owner, return_inverse=True)
    ids = people.ids.take(pa.array(who)).to_pylist()
    draws = row_draws(key, ids, place, [*(word[entries][entry] for word in people.words), copy])
    # retained rows, counted by entry
    return np.bincount(entry[smallest(place, draws, most)], minlength=len(entries)).astype(np.int64)


def smallest(owner: AnyIntegers, draws: Draws, most: int) -> Bools:
    """Return marks of each owner's `most` smallest draws; among equal draws, the first ones."""
    order = _by_owner_and_draw(owner, draws)
    sorted_owner = owner[order]
    # the place at `most` before, where it has the same owner, has taken the last of its places
    late = np.zeros(len(owner), dtype=np.bool_)
    late[most:] = sorted_owner[most:] == sorted_owner[:-most]
    marked = np.ones(len(owner), dtype=np.bool_)
    marked[order[late]] = False
    return marked


def _by_owner_and_draw(owner: AnyIntegers, draws: Draws) -> AnyIntegers:
    """Return the indices that sort by owner, then by draw; equal draws of an owner stay in their order."""
    # both in one number, with the first bits of each draw: draws that share them are rare
    bits = int(owner.max()).bit_length() if len(owner) else 0
    both = (owner.astype(np.uint64) << np.uint64(64 - bits) if bits else np.uint64(0)) | (draws >> np.uint64(bits))
    order: AnyIntegers = np.argsort(both)
    both = both[order]
    return np.lexsort((draws, owner)) if (both[1:] == both[:-1]).any() else order


def _numbered(cells: Sequence[Any]) -> tuple[Any, Codes]:
    """Return the distinct usable ids, and for every row the index of its id among them, or NOBODY."""
    with system_memory_pool():
        ids, indices = _distinct(cells)
        numbers = indices.fill_null(NOBODY).to_numpy(zero_copy_only=False)
        # from a place among all distinct ids to one among the usable ones; the last entry serves nulls (place -1)
        named = _names_person(ids)
        places = np.append(np.where(named, np.cumsum(named) - 1, NOBODY), NOBODY).astype(np.int32)
        return ids.filter(pa.array(named)), places[numbers]


def _distinct(cells: Sequence[Any]) -> tuple[Any, Any]:
    """Return the distinct ids as bytes, and for every row the index of its id among them or null. Whole numbers of one
    type are compared as such, which is quicker than their texts.
    """
    kinds = {each.type for each in cells}
    if len(kinds) == 1 and pa.types.is_integer(kind := kinds.pop()):
        encoded = pa.chunked_array(cells, kind).combine_chunks().dictionary_encode()
        return _as_bytes(encoded.dictionary), encoded.indices
    texts = [_as_bytes(each) if pa.types.is_integer(each.type) else each for each in cells]
    encoded = pa.chunked_array(texts, pa.large_binary()).combine_chunks().dictionary_encode()
    return encoded.dictionary, encoded.indices


def _as_bytes(cells: Any) -> Any:
    """Return person ids as bytes: a number by its text, as one null turns integers into floats and must not change ids.

    An id that is too long is null. A dictionary's ids are shortened before they are written out for every row.
    """
    if pa.types.is_dictionary(cells.type):
        return _as_bytes(cells.dictionary).take(cells.indices)
    cells = plain(_without_merged(cells) if pa.types.is_floating(cells.type) else cells)
    if is_text(cells.type):
        return shortened(cells.cast(pa.large_binary()), LONGEST_ID, None)
    if pa.types.is_integer(cells.type):
        return cells.cast(pa.string()).cast(pa.large_binary())
    distinct = cells.dictionary_encode()
    number = pa.types.is_floating(cells.type) or pa.types.is_decimal(cells.type)
    names = pa.array([_encoded(text, number) for text in texts(distinct.dictionary)], pa.large_binary())
    return names.take(distinct.indices)


def _without_merged(cells: Any) -> Any:
    """Return ids in floats with null in place of those so large that their type merges successive whole numbers: they
    could be of two persons.
    """
    merged = pc.greater_equal(pc.abs(cells.cast(pa.float64())), 2.0 ** _DIGITS[cells.type.bit_width])
    return pc.if_else(merged, pa.scalar(None, cells.type), cells)


def _encoded(text: str | None, number: bool) -> bytes | None:
    """Return the text of a person id as bytes, without exponent and trailing zeros, so that a person has one id in all
    types of a column.
    """
    if text is None:
        return None
    plain_text = format(Decimal(text), "f") if number else text
    shortest = re.sub(r"\.?0+(?=Z?$)", "", plain_text) if "." in plain_text else plain_text
    return shortest.encode("utf-8", "surrogateescape")


def _names_person(ids: Any) -> Bools:
    """Return marks of the distinct ids that can identify a person: those that are neither empty nor invalid UTF-8."""
    slices = (ids.slice(start, _SLICE) for start in range(0, len(ids), _SLICE))
    named = [_all_name_persons(part) if _valid_utf8(part) else _each_names_person(part) for part in slices]
    return np.concatenate([np.zeros(0, dtype=np.bool_), *named])


def _valid_utf8(ids: Any) -> bool:
    try:
        ids.cast(pa.large_string())
    except pa.ArrowInvalid:
        return False
    return True


def _all_name_persons(ids: Any) -> Bools:
    # a large binary array holds where each cell begins, and where the last one ends
    lengths = np.diff(np.frombuffer(ids.buffers()[1], dtype=np.int64)[ids.offset : ids.offset + len(ids) + 1])
    named: Bools = lengths > 0
    return named


def _each_names_person(ids: Any) -> Bools:
    return np.fromiter((cell != b"" and _is_utf8(cell) for cell in ids.to_pylist()), dtype=np.bool_, count=len(ids))


def _is_utf8(cell: bytes) -> bool:
    try:
        cell.decode()
    except UnicodeDecodeError:
        return False
    return True
