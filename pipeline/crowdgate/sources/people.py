"""The bound on rows per person: a random subset of each person's rows is retained, chosen by secret numbers.

Rows are read part by part, and those of many parts counted together by person and tuple. Then each row of a person with
too many rows gets a number from its person, its tuple and its index among the person's equal rows. The rows with the
smallest numbers are retained. So neither the order of rows nor the division into parts matters.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crowdgate.arrays import AnyIntegers, Bools, Codes, Integers
from crowdgate.histogram import Histogram, Records, View, level_codes, of_words
from crowdgate.keys import Packing, Word, collapsed
from crowdgate.limits import LONGEST_ID
from crowdgate.sampling import Draws, SecretKey, row_draws
from crowdgate.sources.encode import is_text, plain, shortened, texts
from crowdgate.system.arrow_memory import system_memory_pool
from crowdgate.system.freed_memory import return_freed_memory

NOBODY = -1
_SLICE = 1 << 16
_ENTRIES = 1 << 15
"""Entries whose rows are chosen at once, unless one person has more."""
_SPREAD = 4
"""Numbers are dense up to this many possible ones for each that occurs."""
_DIGITS = {16: 11, 32: 24, 64: 53}
"""The number of binary digits of a float's fraction, by the width of its type (IEEE 754)."""


@dataclass(frozen=True, eq=False)
class RowsByPerson:
    """Rows counted by person and tuple: person `of[i]` (an index into `ids`) has `counts[i]` rows of tuple `words[i]`.

    `ids` are the distinct usable ids of all rows, also of those that cleaning drops: whole numbers of one type, or
    bytes. `named` is the number of rows that have one. `faults` marks the ids with an invalid cell in any of these
    rows: its first line in any column, then one line for each of the `watched` ones. Confidential, like all counts.

    Rows that are not `merged` yet are in the order of the table: an id, or a tuple of a person, can occur repeatedly.
    """

    view: View
    ids: Any
    of: AnyIntegers
    words: tuple[Word, ...]
    counts: AnyIntegers
    named: int
    watched: tuple[str, ...]
    faults: Bools
    merged: bool = True

    @property
    def clean(self) -> int:
        """The number of rows that cleaning retains."""
        return int(self.counts.sum(dtype=np.int64))

    @cached_property
    def rows(self) -> Integers:
        """The number of rows of each of `ids` that cleaning retains."""
        found = np.zeros(len(self.ids), dtype=np.int64)
        for first, last in pairwise(_stretches(self.of)):
            owner = self.of[first:last]
            found[owner[0] : owner[-1] + 1] = np.bincount(owner - owner[0], self.counts[first:last])
        return found


def people_of(view: View, batches: Iterable[tuple[Any, Records]], watched: tuple[str, ...] = ()) -> RowsByPerson:
    """Return the rows of some batches with their people, not merged yet; each batch comes with the cells of its person
    column.

    Rows without a usable id are left out.
    """
    packing, cells, keeps, start = Packing.of(view.sizes), [], [], 0
    faulty: list[list[AnyIntegers]] = [[] for _ in range(1 + len(watched))]
    tuples: list[tuple[Word, ...]] = [packing.empty()]
    rows_each: list[AnyIntegers] = [np.zeros(0, dtype=np.int8)]
    for ids, records in batches:
        cells.append(ids if pa.types.is_integer(ids.type) else _as_bytes(ids))
        rows_each.append(np.ones(records.rows, dtype=np.int8) if records.counts is None else records.counts)
        keeps.append(np.ones(records.rows, dtype=np.bool_) if records.keep is None else records.keep)
        tuples.append(packing.pack(level_codes(records, view), int(np.count_nonzero(keeps[-1]))))
        for line, names in zip(faulty, (records.invalid, *((name,) for name in watched)), strict=True):
            line += [start + np.flatnonzero(records.invalid[name]) for name in names if name in records.invalid]
        start += records.rows
    # ids of all rows, also of dropped ones: facts about ids must not depend on cleaning
    names, numbers = _numbered(cells)
    # only rows that cleaning retains, and that have a usable id, are counted
    keep = np.concatenate([np.zeros(0, dtype=np.bool_), *keeps])
    each = np.concatenate(rows_each)
    has_id = numbers != NOBODY
    stays = has_id[keep]
    words = tuple(_where(stays, np.concatenate(parts)) for parts in zip(*tuples, strict=True))
    of, counts = _where(keep & has_id, numbers), _narrow(_where(keep & has_id, each))
    faults, named = _people_marks(faulty, numbers, len(names)), int(_where(has_id, each).sum(dtype=np.int64))
    return RowsByPerson(view, names, of, words, counts, named, watched, faults, merged=False)


def _where(marks: Bools, values: AnyIntegers) -> AnyIntegers:
    return values if marks.all() else values[marks]


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


def merge_people(parts: list[RowsByPerson]) -> RowsByPerson:
    """Return the rows of all parts (at least one), counted by person and tuple over the whole table. The list of parts
    is empty afterwards, so that their memory is free where nothing else holds them."""
    parts[:] = [part for part in parts if part.named or len(part.ids)] or parts[:1]
    if len(parts) == 1 and parts[0].merged:
        return parts.pop()
    view, watched, named = parts[0].view, parts[0].watched, sum(part.named for part in parts)
    ids, people = [part.ids for part in parts], [part.of for part in parts]
    marks, counts = [part.faults for part in parts], np.concatenate([part.counts for part in parts])
    columns = [list(words) for words in zip(*(part.words for part in parts), strict=True)]
    parts.clear()  # each array is freed once it is read, as sorting needs the memory
    numbering = _numbering(ids)
    faults = _faults(marks, numbering)
    columns.insert(0, [numbering.numbers.pop(0)[people.pop(0)] for _ in range(len(people))])
    (of, *words), sums = collapsed(_joined(columns), counts)
    places = numbering.places(of)
    return RowsByPerson(view, numbering.ids, places, tuple(words), _narrow(sums), named, watched, faults)


def _joined(columns: list[list[AnyIntegers]]) -> Iterator[AnyIntegers]:
    while columns:
        joined = np.concatenate(columns.pop(0))
        return_freed_memory()  # the arrays of the parts are too small to be returned one by one
        yield joined


def _faults(marks: Sequence[Bools], numbering: "_Numbering") -> Bools:
    """Return the marks of the people with faults, which a fault in any part gives them."""
    faults = np.zeros((len(marks[0]), len(numbering.ids)), dtype=np.bool_)
    for numbers, part in zip(numbering.numbers, marks, strict=True):
        for line, found in zip(faults, part, strict=True):
            line[numbering.places(numbers[np.flatnonzero(found)])] = True
    return faults


def _narrow(counts: AnyIntegers) -> AnyIntegers:
    """Return the counts in the smallest type of signed integers that holds them: most people have few equal rows."""
    return counts.astype(np.min_scalar_type(-int(counts.max(initial=0)) - 1))


def bounded_histogram(people: RowsByPerson, most: int, key: SecretKey) -> Histogram:
    """Return the histogram of a random subset of the rows: at most `most` rows of each person, every choice of them
    equally likely.
    """
    counts = _retained(people, most, key)
    stays = counts > 0
    # person ids are dropped
    return of_words(people.view.names, people.view.sizes, [word[stays] for word in people.words], counts[stays])


def bounded_entries(people: RowsByPerson, most: int, key: SecretKey) -> tuple[AnyIntegers, list[AnyIntegers], Integers]:
    """Return a random choice of at most `most` rows of each person, as entries: their people, their tuples (one array
    per column) and their numbers of rows.
    """
    counts = _retained(people, most, key)
    stays = counts > 0
    codes = Packing.of(people.view.sizes).unpack([word[stays] for word in people.words])
    return people.of[stays], list(codes), counts[stays].astype(np.int64)


def _retained(people: RowsByPerson, most: int, key: SecretKey) -> AnyIntegers:
    """Return the number of retained rows of each entry: each person retains the `most` rows with the smallest draws."""
    retained = people.counts.copy()
    for first, last in pairwise(_stretches(people.of)):
        owner, counts = people.of[first:last] - people.of[first], people.counts[first:last]
        # the entries of people with too many rows
        entries = first + np.flatnonzero((np.bincount(owner, counts) > most)[owner])
        retained[entries] = _chosen_of(people, entries, most, key)
    return retained


def _stretches(owner: AnyIntegers) -> list[int]:
    """Return where stretches of entries begin and end, so that each has all entries of its people. Entries are ordered
    by their people.
    """
    edges = [0]
    while edges[-1] < len(owner):
        last = owner[min(edges[-1] + _ENTRIES, len(owner)) - 1]
        edges.append(int(np.searchsorted(owner, last, side="right")))
    return edges


def _chosen_of(people: RowsByPerson, entries: AnyIntegers, most: int, key: SecretKey) -> AnyIntegers:
    """Return the number of retained rows of each of these entries, which are all entries of some people."""
    counts = people.counts[entries].astype(np.int64)
    # one line per row again: its entry, and which of the entry's equal rows it is
    entry = np.repeat(np.arange(len(entries)), counts)
    copy = np.arange(len(entry)) - np.repeat(np.cumsum(counts) - counts, counts)
    # the persons of these rows, numbered from 0, and a draw for each row; entries are ordered by their people
    owner = people.of[entries][entry]
    first = np.diff(owner, prepend=NOBODY) != 0
    place = np.cumsum(first) - 1
    ids = id_texts(people.ids.take(pa.array(owner[first])))
    draws = row_draws(key, ids, place, [*(word[entries][entry] for word in people.words), copy])
    # retained rows, counted by entry
    retained = np.bincount(entry[smallest(place, draws, most)], minlength=len(entries))
    return retained.astype(people.counts.dtype)


def smallest(owner: AnyIntegers, draws: Draws, most: int) -> Bools:
    """Return marks of each owner's `most` smallest draws; among equal draws, the first ones."""
    # both in one number, with the first bits of each draw: draws that share them are rare
    bits = int(owner.max(initial=0)).bit_length()
    both = (owner.astype(np.uint64) << np.uint64(64 - bits) if bits else np.uint64(0)) | (draws >> np.uint64(bits))
    ordered = np.sort(both)
    if (ordered[1:] == ordered[:-1]).any():
        return _first_in_order(owner, np.lexsort((draws, owner)), most)
    rows = np.bincount(owner)
    last = ordered[np.cumsum(rows) - rows + np.minimum(rows, most) - 1]  # the largest number that each owner retains
    marks: Bools = both <= last[owner]
    return marks


def _first_in_order(owner: AnyIntegers, order: AnyIntegers, most: int) -> Bools:
    sorted_owner = owner[order]
    # the place at `most` before, where it has the same owner, has taken the last of its places
    late = np.zeros(len(owner), dtype=np.bool_)
    late[most:] = sorted_owner[most:] == sorted_owner[:-most]
    marked = np.ones(len(owner), dtype=np.bool_)
    marked[order[late]] = False
    return marked


def _numbered(cells: Sequence[Any]) -> tuple[Any, Codes]:
    """Return the distinct usable ids, and for every row the index of its id among them, or NOBODY. Whole numbers of one
    type stay such, in order: they are compared more quickly than their texts."""
    if _are_numbers(cells):
        return _numbered_integers(pa.chunked_array(cells))
    with system_memory_pool():
        encoded = _texts(cells).dictionary_encode()
        ids, numbers = encoded.dictionary, encoded.indices.fill_null(NOBODY).to_numpy(zero_copy_only=False)
        # from a place among all distinct ids to one among the usable ones; the last entry serves nulls (place -1)
        named = _names_person(ids)
        places = np.append(np.where(named, np.cumsum(named) - 1, NOBODY), NOBODY).astype(np.int32)
        return ids.filter(pa.array(named)), places[numbers]


def _numbered_integers(cells: Any) -> tuple[Any, Codes]:
    """Return the whole numbers of all rows that have one, as they are, and the place of each row's number."""
    numbers = np.full(len(cells), NOBODY, dtype=np.int32)
    known = cells.drop_null().to_numpy()
    numbers[cells.is_valid().to_numpy()] = np.arange(len(known), dtype=np.int32)
    return pa.array(known), numbers


@dataclass(frozen=True, eq=False)
class _Numbering:
    """The distinct ids of some parts, and for each part the numbers of its ids. The place of the id with number i is
    `ranks[i]`; without ranks, the numbers are the places."""

    ids: Any
    numbers: list[AnyIntegers]
    ranks: AnyIntegers | None = None

    def places(self, numbers: AnyIntegers) -> AnyIntegers:
        """Return the places among `ids` of the ids with these numbers, in the same order as the numbers."""
        return numbers if self.ranks is None else self.ranks[numbers]


def _numbering(parts: list[Any]) -> _Numbering:
    """Return the numbering of the ids of some parts, in which whole numbers can occur repeatedly. Of whole numbers, the
    list of parts is empty afterwards."""
    if _are_numbers(parts):
        numbers = [parts.pop(0).to_numpy() for _ in range(len(parts))]
        return _dense_numbering(numbers) or _sorted_numbering(numbers)
    with system_memory_pool():
        encoded = _texts(parts).dictionary_encode()
        places = encoded.indices.to_numpy(zero_copy_only=False)
    return _Numbering(encoded.dictionary, np.split(places, np.cumsum([len(part) for part in parts])[:-1]))


def _sorted_numbering(parts: Sequence[AnyIntegers]) -> _Numbering:
    distinct = [np.unique(part, return_inverse=True) for part in parts]
    ids = np.sort(np.concatenate([own for own, _ in distinct]))
    ids = ids[np.diff(ids, prepend=ids[:1] - 1) != 0]  # np.unique hashes, which took 70 times as long
    numbers: list[AnyIntegers] = [np.searchsorted(ids, own).astype(np.int32)[places] for own, places in distinct]
    return _Numbering(pa.array(ids), numbers)


def _dense_numbering(parts: list[AnyIntegers]) -> _Numbering | None:
    """Return the numbering by the distance from the least id; None if ids lie so far apart that sorting takes less
    memory."""
    ends = [(int(each.min()), int(each.max())) for each in parts if len(each)]
    low, high = min((end[0] for end in ends), default=0), max((end[1] for end in ends), default=0)
    if not ends or high - low >= _SPREAD * sum(map(len, parts)):
        return None
    wide, own = np.uint64 if low >= 0 else np.int64, parts[0].dtype
    numbers: list[AnyIntegers] = []
    present = np.zeros(high - low + 1, dtype=np.bool_)
    while parts:
        distance = parts.pop(0).astype(wide, copy=False) - wide(low)
        numbers.append(distance.astype(np.min_scalar_type(low - high - 1)))
        present[numbers[-1]] = True
    ids = (np.flatnonzero(present).astype(wide) + wide(low)).astype(own)
    return _Numbering(pa.array(ids), numbers, np.cumsum(present, dtype=np.int32) - np.int32(1))


def _are_numbers(ids: Sequence[Any]) -> bool:
    """Return whether ids are whole numbers of one type."""
    return len({each.type for each in ids}) == 1 and pa.types.is_integer(ids[0].type)


def _texts(ids: Sequence[Any]) -> Any:
    """Return all ids, whole numbers or bytes, in one array of bytes."""
    return pa.chunked_array([id_texts(each) for each in ids], pa.large_binary()).combine_chunks()


def id_texts(ids: Any) -> Any:
    """Return ids that are whole numbers or bytes as bytes, by which a person is the same in all parts."""
    return _as_bytes(ids) if pa.types.is_integer(ids.type) else ids


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
