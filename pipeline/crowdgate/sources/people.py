"""The bound on rows per person: a random subset of each person's rows is retained, chosen by secret numbers.

Rows are counted by person and tuple, part by part, and the counts of all parts merged. Then each row of a person with
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
    """

    view: View
    ids: Any
    of: AnyIntegers
    words: tuple[Word, ...]
    counts: AnyIntegers
    named: int
    watched: tuple[str, ...]
    faults: Bools

    @cached_property
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
        view, names, of, tuple(words_), _narrow(counts), named, watched, _people_marks(faulty, numbers, len(names))
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


def merge_people(parts: list[RowsByPerson]) -> RowsByPerson:
    """Return the rows of all parts (at least one), counted by person and tuple over the whole table. The list of parts
    is empty afterwards, so that their memory is free where nothing else holds them."""
    parts[:] = [part for part in parts if part.named or len(part.ids)] or parts[:1]
    if len(parts) == 1:
        return parts.pop()
    ids, *columns, counts, faults = _together(parts)
    view, watched, named = parts[0].view, parts[0].watched, sum(part.named for part in parts)
    parts.clear()  # the memory of the parts and their columns is needed to sort
    (of, *words), counts = collapsed((columns.pop(0) for _ in range(len(columns))), counts)
    return RowsByPerson(view, ids, of, tuple(words), _narrow(counts), named, watched, faults)


def _together(parts: Sequence[RowsByPerson]) -> list[Any]:
    """Return the ids of all parts, one after another the people, words and counts of their entries, and the marks of
    people with faults, which a fault in any part gives them."""
    ids, numbers = _places([part.ids for part in parts])
    pairs = list(zip(numbers, parts, strict=True))
    faults = np.zeros((len(parts[0].faults), len(ids)), dtype=np.bool_)
    for places, part in pairs:
        faults[:, places] |= part.faults
    of = np.concatenate([places[part.of] for places, part in pairs])
    columns = zip(*([*part.words, part.counts] for part in parts), strict=True)
    return [ids, of, *map(np.concatenate, columns), faults]


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
    words, sums = collapsed((word[stays] for word in people.words), counts[stays].astype(np.int64))
    return collapse(people.view.names, people.view.sizes, Packing.of(people.view.sizes).unpack(words), sums)


def bounded_entries(people: RowsByPerson, most: int, key: SecretKey) -> tuple[AnyIntegers, list[AnyIntegers], Integers]:
    """Return a random choice of at most `most` rows of each person, as entries: their people, their tuples (one array
    per column) and their numbers of rows.
    """
    counts = _retained(people, most, key)
    stays = counts > 0
    codes = Packing.of(people.view.sizes).unpack([word[stays] for word in people.words])
    return people.of[stays], list(codes), counts[stays].astype(np.int64)


def _retained(people: RowsByPerson, most: int, key: SecretKey) -> AnyIntegers:
    """Return the number of retained rows of each entry."""
    # which entries are of a person with too many rows
    over = (people.rows > most)[people.of]
    counts = people.counts.copy()
    counts[over] = _chosen(people, np.flatnonzero(over), most, key)
    return counts


def _chosen(people: RowsByPerson, entries: AnyIntegers, most: int, key: SecretKey) -> AnyIntegers:
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
    ids = _as_text(people.ids.take(pa.array(owner[first])))
    draws = row_draws(key, ids, place, [*(word[entries][entry] for word in people.words), copy])
    # retained rows, counted by entry
    retained = np.bincount(entry[smallest(place, draws, most)], minlength=len(entries))
    return retained.astype(people.counts.dtype)


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
    numbers = np.full(len(cells), NOBODY, dtype=np.int32)
    known = cells.drop_null().to_numpy()
    dense = _dense_places([known])
    ids, places = np.unique(known, return_inverse=True) if dense is None else (dense[0], dense[1][0])
    numbers[cells.is_valid().to_numpy()] = places
    return pa.array(ids), numbers


def _places(parts: Sequence[Any]) -> tuple[Any, list[AnyIntegers]]:
    """Return the distinct ids of some parts, which are distinct in each part, and for each part the places of its ids
    among them."""
    if _are_numbers(parts):
        numbers = [part.to_numpy() for part in parts]
        dense = _dense_places(numbers)
        if dense is not None:
            return pa.array(dense[0]), dense[1]
        ids = np.sort(np.concatenate(numbers))
        ids = ids[np.diff(ids, prepend=ids[:1] - 1) != 0]  # np.unique hashes, which took 70 times as long
        return pa.array(ids), [np.searchsorted(ids, part).astype(np.int32) for part in numbers]
    with system_memory_pool():
        encoded = _texts(parts).dictionary_encode()
        places = encoded.indices.to_numpy(zero_copy_only=False)
    return encoded.dictionary, np.split(places, np.cumsum([len(part) for part in parts])[:-1])


def _dense_places(parts: Sequence[AnyIntegers]) -> tuple[AnyIntegers, list[AnyIntegers]] | None:
    """Return the distinct numbers of all parts, in order, and for each part the places of its numbers among them; None
    if they lie so far apart that sorting takes less memory."""
    ends = [(int(each.min()), int(each.max())) for each in parts if len(each)]
    low, high = min((end[0] for end in ends), default=0), max((end[1] for end in ends), default=0)
    if not ends or high - low >= _SPREAD * sum(map(len, parts)):
        return None
    wide = np.uint64 if low >= 0 else np.int64
    present, own = np.zeros(high - low + 1, dtype=np.bool_), parts[0].dtype
    for part in parts:
        present[part.astype(wide) - wide(low)] = True
    places = np.cumsum(present, dtype=np.int32) - np.int32(1)
    ids = (np.flatnonzero(present).astype(wide) + wide(low)).astype(own)
    return ids, [places[part.astype(wide) - wide(low)] for part in parts]


def _are_numbers(ids: Sequence[Any]) -> bool:
    """Return whether ids are whole numbers of one type."""
    return len({each.type for each in ids}) == 1 and pa.types.is_integer(ids[0].type)


def _texts(ids: Sequence[Any]) -> Any:
    """Return all ids, whole numbers or bytes, in one array of bytes."""
    return pa.chunked_array([_as_text(each) for each in ids], pa.large_binary()).combine_chunks()


def _as_text(ids: Any) -> Any:
    """Return ids that are whole numbers or bytes as bytes."""
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
