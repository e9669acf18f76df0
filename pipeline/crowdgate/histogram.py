"""Records and Histogram: a table as row codes, and as distinct tuples with counts. All work on data uses these.

If all released columns are part of the class key (as the guarantee requires), the filtered histogram is the release.
Histograms of disjoint groups of rows merge by addition, so a table is counted in one pass and bounded memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdgate.arrays import AnyIntegers, Bools, Integers
from crowdgate.hierarchy import Level, coarser_codes
from crowdgate.keys import Packing, Word, collapsed
from crowdgate.limits import DENSE_CELLS

if TYPE_CHECKING:
    from crowdgate.arrays import Codes

Subsampler = Callable[[Integers], Integers]
"""Maps class sizes to the numbers of sampled rows of each class."""

FEW_CELLS = 1 << 12
CELLS_PER_ROW = 8
"""Up to so many possible tuples for each row, a counter for each tuple is quicker than sorting."""
_STRETCH = 1 << 18
LEAST_PENDING = 1 << 20
"""New keys are merged once they are as many as this, and as the merged ones."""


@dataclass(frozen=True, eq=False)
class Column:
    """Codes of one attribute on its domain: `lookup[indices]`, or `indices` themselves if there is no lookup."""

    indices: AnyIntegers
    lookup: Codes | None = None

    @property
    def codes(self) -> AnyIntegers:
        """Domain code of the attribute in each row."""
        return self.indices if self.lookup is None else self.lookup[self.indices]


@dataclass(frozen=True, eq=False)
class Records:
    """A batch of rows: a column per attribute. Rows for which `keep` is False are not part of the table. `invalid`
    marks the rows with an invalid cell, for columns that have such cells. `counts` are the numbers of equal rows that
    each of `rows` stands for (None: one)."""

    rows: int
    columns: Mapping[str, Column]
    keep: Bools | None = None
    invalid: Mapping[str, Bools] = field(default_factory=dict)
    counts: Integers | None = None

    @property
    def retained_counts(self) -> Integers | None:
        """The numbers of equal rows that are part of the table, for rows with `keep` (None: one each)."""
        return self.counts if self.counts is None or self.keep is None else self.counts[self.keep]


@dataclass(frozen=True, eq=False)
class View:
    """The columns of a histogram: attributes, each with the generalisation level at which rows are counted."""

    levels: Mapping[str, Level]

    @property
    def names(self) -> tuple[str, ...]:
        """Attributes, in the order of the class key."""
        return tuple(self.levels)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of level codes of each attribute, in the order of `names`."""
        return tuple(len(level) for level in self.levels.values())

    @property
    def cells(self) -> int:
        """Number of possible combinations of level codes: the product of `sizes`."""
        return prod(self.sizes)


@dataclass(frozen=True, eq=False)
class Histogram:
    """The distinct tuples of level codes in a table, in lexicographic order, with the number of rows of each
    (positive). `codes` holds one array for each column, `sizes` the number of possible codes of each."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    codes: tuple[AnyIntegers, ...]
    counts: Integers

    def __len__(self) -> int:
        return len(self.counts)

    def __reduce__(self) -> tuple[Any, ...]:
        # as packed tuples and narrow counts: a seventh of the bytes between processes
        counts = self.counts.astype(np.min_scalar_type(int(self.counts.max(initial=0))))
        words = Packing.of(self.sizes).pack(iter(self.codes), len(counts))
        return _from_words, (self.names, self.sizes, words, counts)

    @property
    def rows(self) -> int:
        """Number of rows counted."""
        return int(self.counts.sum())


def _from_words(
    names: tuple[str, ...], sizes: tuple[int, ...], words: tuple[Word, ...], counts: AnyIntegers
) -> Histogram:
    return Histogram(names, sizes, Packing.of(sizes).unpack(words), counts.astype(np.int64))


def scan(batches: Iterable[Records], views: Mapping[str, View]) -> dict[str, Histogram]:
    """Return the histogram of each view, by name. All views are counted in one pass over the batches of rows."""
    tallies: dict[str, DenseCounter | SparseCounter] = {name: SparseCounter(view) for name, view in views.items()}
    rows = 0
    for batch in batches:
        rows += batch.rows
        tallies = {name: _quicker(each, rows) for name, each in tallies.items()}
        count_dense(batch, [each for each in tallies.values() if isinstance(each, DenseCounter)])
        for each in tallies.values():
            if isinstance(each, SparseCounter):
                each.add(batch)
    return {name: each.histogram() for name, each in tallies.items()}


def _quicker(counter: DenseCounter | SparseCounter, rows: int) -> DenseCounter | SparseCounter:
    """Return a dense counter in place of a sparse one once there are enough rows for the number of possible tuples."""
    if isinstance(counter, DenseCounter) or counter.view.cells > min(DENSE_CELLS, CELLS_PER_ROW * rows):
        return counter
    return DenseCounter(counter.view, counter.histogram())


def count_dense(batch: Records, tallies: Sequence[DenseCounter]) -> None:
    """Count the rows of a batch in each of several dense counters. A column's codes at a level are looked up once for
    all."""
    if len(tallies) == 1:
        tallies[0].add(retained_values(tallies[0].keys(batch), batch.keep), batch.retained_counts)
        return
    levels = {(name, id(level)): level for each in tallies for name, level in each.levels.items()}
    lookups = {key: lookup_of(batch.columns[key[0]], level) for key, level in levels.items()}
    keys = [np.zeros(batch.rows, dtype=np.int32) for _ in tallies]
    for start in range(0, batch.rows, DenseCounter.CHUNK):
        rows = slice(start, start + DenseCounter.CHUNK)
        codes = {key: lookup.take(batch.columns[key[0]].indices[rows]) for key, lookup in lookups.items()}
        for each, key in zip(tallies, keys, strict=True):
            each.key(codes, key[rows])
    for each in tallies:
        each.add(retained_values(keys.pop(0), batch.keep), batch.retained_counts)


class DenseCounter:
    """A number of rows for each possible tuple (cell) of a view with few cells. Its key, a mixed-radix number of the
    level codes, is the cell's place. It starts with the rows of the histogram `before`."""

    CHUNK = 1 << 15  # the codes of one chunk, of all columns, stay in cache
    KEYS = 1 << 14  # keys of one chunk stay in cache

    def __init__(self, view: View, before: Histogram) -> None:
        self.levels = {name: level for name, level in view.levels.items() if len(level) > 1}
        self._view = view
        self._counts = np.zeros(view.cells, dtype=np.int64)
        if len(before):
            self._counts[np.ravel_multi_index(before.codes, view.sizes) if view.sizes else 0] = before.counts

    def keys(self, batch: Records) -> Codes:
        """Return the key of each row of a batch, i.e. the place of its cell in this counter. A lookup gives each
        column's part of the key."""
        sizes = [len(level) for level in self.levels.values()]
        parts = [
            (batch.columns[name].indices, lookup_of(batch.columns[name], level) * np.int32(prod(sizes[at + 1 :])))
            for at, (name, level) in enumerate(self.levels.items())
        ]
        key = np.zeros(batch.rows, dtype=np.int32)
        for start in range(0, batch.rows, self.KEYS):
            rows = slice(start, start + self.KEYS)
            for indices, lookup in parts:
                key[rows] += lookup.take(indices[rows])
        return key

    def key(self, codes: Mapping[tuple[str, int], Codes], key: Codes) -> None:
        """Write into `key`, which holds zeros, the place of each row's cell in this counter. `codes` hold the rows'
        level codes by attribute and id of the level."""
        for name, level in self.levels.items():
            key *= np.int32(len(level))
            key += codes[name, id(level)]

    def add(self, key: Codes, counts: Integers | None = None) -> None:
        """Count rows in the cell of each given key: one row, or the number in `counts`."""
        if counts is not None:
            np.add.at(self._counts, key, counts)
            return
        # counting all cells costs their number, counting at keys costs up to twice as much a key
        if self._counts.size <= 2 * len(key):
            self._counts += np.bincount(key, minlength=self._counts.size)
        else:
            np.add.at(self._counts, key, 1)

    def histogram(self) -> Histogram:
        """Return the histogram of the rows counted so far."""
        key = np.flatnonzero(self._counts)
        codes = np.unravel_index(key, self._view.sizes) if self._view.sizes else ()
        return Histogram(self._view.names, self._view.sizes, tuple(codes), self._counts[key])


class SparseCounter:
    """A counter of the tuples that occur, packed into few words each. Tuples of new batches wait until they outnumber
    the merged ones, so each tuple is sorted a few times, however many batches there are."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._packing = Packing.of(view.sizes)
        self._merged = collapsed(self._packing.empty(), np.zeros(0, dtype=np.uint8))
        self._pending: list[tuple[Word, ...]] = []
        self._pending_counts: list[tuple[int, Integers | None]] = []
        self._waiting = 0

    def add(self, batch: Records) -> None:
        """Count the rows of a batch that are part of the table."""
        rows = batch.rows if batch.keep is None else int(np.count_nonzero(batch.keep))
        self._pending.append(self._packing.pack(level_codes(batch, self.view), rows))
        self._pending_counts.append((rows, batch.retained_counts))
        self._waiting += rows
        if self._waiting >= max(LEAST_PENDING, len(self._merged[1])):
            self._merge()

    def _merge(self) -> None:
        """Sort the tuples of the waiting batches, and merge them with the sorted tuples of earlier batches."""
        rows = _rows_of(self._pending_counts)
        runs = [self._merged, collapsed(_joined(self._pending), rows)]
        self._merged, self._waiting = (self._packing.empty(), rows[:0]), 0
        del rows
        counts = [run[1] for run in runs]
        words = [run[0] for run in runs]
        runs.clear()
        self._merged = collapsed(_joined(words), _joined_counts(counts))

    def histogram(self) -> Histogram:
        """Return the histogram of the rows counted so far."""
        if self._waiting:
            self._merge()
        words, counts = self._merged
        return Histogram(self.view.names, self.view.sizes, self._packing.unpack(words), counts.astype(np.int64))


def _joined(parts: list[tuple[Word, ...]]) -> Iterator[Word]:
    """Yield each word of the packed tuples as one array over all parts. The parts' arrays are released on the way."""
    columns = [list(column) for column in zip(*parts, strict=True)]
    parts.clear()
    while columns:
        yield np.concatenate(columns.pop(0))


def _rows_of(parts: list[tuple[int, Integers | None]]) -> Integers:
    """Return the number of rows of each tuple of all parts, which are released."""
    together = [np.ones(rows, dtype=np.uint8) if counts is None else counts for rows, counts in parts]
    parts.clear()
    return np.concatenate(together)


def _joined_counts(parts: list[Integers]) -> Integers:
    together = np.concatenate(parts)
    parts.clear()
    return together


def level_codes(batch: Records, view: View) -> Iterator[Codes]:
    """Yield the level codes of each of a view's columns, of the rows that are part of the table. A level with one code
    has no array of codes: `Packing.pack` needs none."""
    for name, level in view.levels.items():
        column = batch.columns[name]
        yield (
            np.zeros(0, dtype=np.int32)
            if len(level) == 1
            else retained_values(lookup_of(column, level).take(column.indices), batch.keep)
        )


def lookup_of(column: Column, level: Level) -> Codes:
    """Return the level code of each entry of a column's lookup, or of each domain code if it has no lookup."""
    return level.codes if column.lookup is None else level.codes[column.lookup]


def retained_values(values: Codes, keep: Bools | None) -> Codes:
    """Return the values of the rows that are part of the table: those with `keep`, or all rows if it is None."""
    return values if keep is None else values[keep]


def collapse(
    names: tuple[str, ...], sizes: tuple[int, ...], codes: Sequence[AnyIntegers], counts: Integers
) -> Histogram:
    """Return the histogram of tuples that may repeat: equal tuples become one, their counts are added."""
    if prod(sizes) <= min(DENSE_CELLS, max(FEW_CELLS, len(counts))):
        return _collapse_dense(names, sizes, codes, counts)
    packing = Packing.of(sizes)
    words, added = collapsed(packing.pack(iter(codes), len(counts)), counts)
    return Histogram(names, sizes, packing.unpack(words), added)


def of_words(names: tuple[str, ...], sizes: tuple[int, ...], words: Sequence[Word], counts: AnyIntegers) -> Histogram:
    """Return the histogram of packed tuples that may repeat: equal tuples become one, their counts are added."""
    if prod(sizes) <= min(DENSE_CELLS, max(FEW_CELLS, len(counts))):
        return _of_cells(names, sizes, words[0], counts)  # one word, the number of the cell
    distinct, sums = collapsed(words, counts.astype(np.int64))
    return Histogram(names, sizes, Packing.of(sizes).unpack(distinct), sums)


def _collapse_dense(
    names: tuple[str, ...], sizes: tuple[int, ...], codes: Sequence[AnyIntegers], counts: Integers
) -> Histogram:
    """Return the histogram of tuples that may repeat without sorting, by a counter for each possible tuple."""
    key = np.zeros(len(counts), dtype=np.int64)
    for column, size in zip(codes, sizes, strict=True):
        key = key * size + column
    return _of_cells(names, sizes, key, counts)


def _of_cells(names: tuple[str, ...], sizes: tuple[int, ...], key: AnyIntegers, counts: AnyIntegers) -> Histogram:
    totals = np.zeros(prod(sizes), dtype=np.int64)
    for start in range(0, len(key), _STRETCH):
        part = slice(start, start + _STRETCH)
        np.add.at(totals, key[part].astype(np.intp, copy=False), counts[part].astype(np.int64, copy=False))
    cells = np.flatnonzero(totals)
    return Histogram(names, sizes, tuple(np.unravel_index(cells, sizes)) if sizes else (), totals[cells])


def merge(parts: Sequence[Histogram]) -> Histogram:
    """Return the histogram of all rows of the parts (at least one, all over the same columns)."""
    parts = [part for part in parts if len(part)] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    names, sizes = parts[0].names, parts[0].sizes
    codes = [np.concatenate([part.codes[i] for part in parts]) for i in range(len(names))]
    return collapse(names, sizes, codes, np.concatenate([part.counts for part in parts]))


def project(histogram: Histogram, names: Sequence[str]) -> Histogram:
    """Return the histogram of some of the columns, in the given order."""
    at = [histogram.names.index(name) for name in names]
    sizes = tuple(histogram.sizes[i] for i in at)
    return collapse(tuple(names), sizes, [histogram.codes[i] for i in at], histogram.counts)


def with_column(histogram: Histogram, name: str) -> Histogram:
    """Return the histogram with a further column, which has one value for all rows."""
    constant = np.zeros(len(histogram), dtype=np.int32)
    names, sizes = (*histogram.names, name), (*histogram.sizes, 1)
    return Histogram(names, sizes, (*histogram.codes, constant), histogram.counts)


def generalise(histogram: Histogram, levels: Mapping[str, Level]) -> Histogram:
    """Return the histogram after mapping domain codes to level codes; columns not named are unchanged."""
    codes, sizes = list(histogram.codes), list(histogram.sizes)
    for name, level in levels.items():
        i = histogram.names.index(name)
        codes[i], sizes[i] = level.codes[codes[i]], len(level)
    return collapse(histogram.names, tuple(sizes), codes, histogram.counts)


def joint(views: Iterable[View]) -> View:
    """Return the view that determines all the given ones: each of their attributes, at the finest level that a view has
    it."""
    finest: dict[str, Level] = {}
    for view in views:
        for name, level in view.levels.items():
            if name not in finest or len(level) > len(finest[name]):
                finest[name] = level
    return View(finest)


def split(histogram: Histogram, finest: View, views: Mapping[str, View]) -> dict[str, Histogram]:
    """Return the histogram of each view by name, computed from `histogram`, the histogram of their joint view
    `finest`."""
    return {name: _coarsened(histogram, finest, view) for name, view in views.items()}


def _coarsened(histogram: Histogram, finest: View, view: View) -> Histogram:
    codes = []
    for name, level in view.levels.items():
        column = histogram.codes[histogram.names.index(name)]
        codes.append(column if finest.levels[name] is level else coarser_codes(finest.levels[name], level)[column])
    return collapse(view.names, view.sizes, codes, histogram.counts)


def subsample(histogram: Histogram, subsampler: Subsampler) -> Histogram:
    """Return the histogram of a Bernoulli sample of the rows. `subsampler` draws the sampled rows of each class, in key
    order; the distribution is that of independent sampling of rows."""
    return _select(histogram, subsampler(histogram.counts), 1)


def at_least(histogram: Histogram, k: int) -> Histogram:
    """Return the histogram of the classes with at least k rows; smaller classes are suppressed."""
    return _select(histogram, histogram.counts, k)


def _select(histogram: Histogram, counts: Integers, least: int) -> Histogram:
    stays = counts >= least
    codes = tuple(column[stays] for column in histogram.codes)
    return Histogram(histogram.names, histogram.sizes, codes, counts[stays])


def cut(histogram: Histogram, rows: int) -> Iterator[Histogram]:
    """Yield histograms of consecutive runs of at most `rows` rows, in the order of tuples. A class can be divided
    between runs."""
    # row r belongs to the first class with a cumulated count above r
    ends = np.cumsum(histogram.counts)
    for start in range(0, histogram.rows, rows):
        stop = min(start + rows, histogram.rows)
        first, last = np.searchsorted(ends, [start, stop - 1], side="right")
        inside = slice(first, last + 1)
        # the rows of each class that lie between start and stop
        counts = np.minimum(ends[inside], stop) - np.maximum(ends[inside] - histogram.counts[inside], start)
        codes = tuple(column[inside] for column in histogram.codes)
        yield Histogram(histogram.names, histogram.sizes, codes, counts)
