"""Records and Histogram: a table as row codes, and as distinct tuples with counts. All work on data is done on these.

When every released column is part of the class key (it must be for the guarantee), the filtered histogram is the
release. Histograms of disjoint groups of rows merge by addition, so a table is counted in one pass and bounded memory.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from pipeline.domain import Codes
from pipeline.hierarchy import Level

Mask = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.integer]
Counts = npt.NDArray[np.int64]
Thinning = Callable[[Counts], Counts]
"""Given class sizes, how many rows of each class the sample keeps."""

DENSE_CELLS = 1 << 24
"""Up to here every cell has a counter (128 MiB); above, only distinct tuples are kept."""
MOST_PENDING = 1 << 22
_KEY_LIMIT = 1 << 62


@dataclass(frozen=True, eq=False)
class Column:
    """Codes of one attribute on its domain: `lookup[indices]`, or `indices` themselves when there is no lookup."""

    indices: Integers
    lookup: Codes | None = None

    @property
    def codes(self) -> Integers:
        """One domain code per row."""
        return self.indices if self.lookup is None else self.lookup[self.indices]


@dataclass(frozen=True, eq=False)
class Records:
    """A batch of rows: a column per attribute. Rows that `keep` marks False are not part of the table."""

    rows: int
    columns: Mapping[str, Column]
    keep: Mask | None = None


@dataclass(frozen=True, eq=False)
class View:
    """Which attributes to count together, and at which level each."""

    levels: Mapping[str, Level]

    @property
    def names(self) -> tuple[str, ...]:
        """Attributes, in the order of the class key."""
        return tuple(self.levels)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of level codes of each attribute."""
        return tuple(len(level) for level in self.levels.values())

    @property
    def cells(self) -> int:
        """Number of tuples that could occur."""
        return prod(self.sizes)


@dataclass(frozen=True, eq=False)
class Histogram:
    """Distinct tuples in lexicographic order, one code array per column, with their counts (all positive)."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    codes: tuple[Integers, ...]
    counts: Counts

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def rows(self) -> int:
        """Number of rows counted."""
        return int(self.counts.sum())


def scan(batches: Iterable[Records], views: Mapping[str, View]) -> dict[str, Histogram]:
    """Count every view in one pass over the batches."""
    counters = {name: _counter(view) for name, view in views.items()}
    for batch in batches:
        for counter in counters.values():
            counter.add(batch)
    return {name: counter.histogram() for name, counter in counters.items()}


def _counter(view: View) -> "_Dense | _Sparse":
    return _Dense(view) if view.cells <= DENSE_CELLS else _Sparse(view)


class _Dense:
    """A counter for every cell of a small key space; the key is a mixed-radix number."""

    CHUNK = 1 << 17  # keys of one chunk stay in cache

    def __init__(self, view: View) -> None:
        self._view = view
        self._strides = [prod(view.sizes[i + 1 :]) for i in range(len(view.sizes))]
        self._counts = np.zeros(view.cells, dtype=np.int64)

    def add(self, batch: Records) -> None:
        parts = [
            (batch.columns[name].indices, _lookup(batch.columns[name], level) * np.int32(stride))
            for (name, level), stride in zip(self._view.levels.items(), self._strides, strict=True)
            if len(level) > 1
        ]
        key = np.zeros(batch.rows, dtype=np.int32)
        for start in range(0, batch.rows, self.CHUNK):
            rows = slice(start, start + self.CHUNK)
            for indices, lookup in parts:
                key[rows] += lookup[indices[rows]]
        self._count(_kept(key, batch.keep))

    def _count(self, key: Codes) -> None:
        if self._counts.size <= 2 * len(key):
            self._counts += np.bincount(key, minlength=self._counts.size)
        else:
            np.add.at(self._counts, key, 1)

    def histogram(self) -> Histogram:
        key = np.flatnonzero(self._counts)
        codes = np.unravel_index(key, self._view.sizes) if self._view.sizes else ()
        return Histogram(self._view.names, self._view.sizes, tuple(codes), self._counts[key])


class _Sparse:
    """Distinct tuples only, grouped batch by batch and merged when many are pending."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._parts = [_empty(view.names, view.sizes)]

    def add(self, batch: Records) -> None:
        codes = [
            _kept(_lookup(batch.columns[name], level)[batch.columns[name].indices], batch.keep)
            for name, level in self._view.levels.items()
        ]
        ones = np.ones(len(codes[0]), dtype=np.int64)
        self._parts.append(group(self._view.names, self._view.sizes, codes, ones))
        if sum(map(len, self._parts)) > MOST_PENDING:
            self._parts = [merge(self._parts)]

    def histogram(self) -> Histogram:
        return merge(self._parts)


def _lookup(column: Column, level: Level) -> Codes:
    return level.codes if column.lookup is None else level.codes[column.lookup]


def _kept(values: Codes, keep: Mask | None) -> Codes:
    return values if keep is None else values[keep]


def _empty(names: tuple[str, ...], sizes: tuple[int, ...]) -> Histogram:
    return Histogram(names, sizes, tuple(np.zeros(0, dtype=np.int32) for _ in names), np.zeros(0, dtype=np.int64))


def group(names: tuple[str, ...], sizes: tuple[int, ...], codes: Sequence[Integers], counts: Counts) -> Histogram:
    """The histogram of tuples that may repeat: equal tuples become one, their counts are added."""
    if not len(counts):
        return _empty(names, sizes)
    key = _key(codes, sizes, len(counts))
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    first = order[starts]
    return Histogram(names, sizes, tuple(column[first] for column in codes), np.add.reduceat(counts[order], starts))


def _key(codes: Sequence[Integers], sizes: Sequence[int], rows: int) -> Counts:
    """One number per tuple that orders as the tuples do. Where the next factor would overflow, the key so far is
    replaced by its dense rank."""
    key = np.zeros(rows, dtype=np.int64)
    span = 1
    for column, size in zip(codes, sizes, strict=True):
        if span * size > _KEY_LIMIT:
            distinct, ranks = np.unique(key, return_inverse=True)
            key, span = ranks.astype(np.int64), len(distinct)
        key = key * size + column
        span *= size
    return key


def merge(parts: Sequence[Histogram]) -> Histogram:
    """The histogram of all rows of the parts (at least one, all over the same columns)."""
    names, sizes = parts[0].names, parts[0].sizes
    codes = [np.concatenate([part.codes[i] for part in parts]) for i in range(len(names))]
    return group(names, sizes, codes, np.concatenate([part.counts for part in parts]))


def project(histogram: Histogram, names: Sequence[str]) -> Histogram:
    """The histogram of some of the columns, in the given order."""
    at = [histogram.names.index(name) for name in names]
    sizes = tuple(histogram.sizes[i] for i in at)
    return group(tuple(names), sizes, [histogram.codes[i] for i in at], histogram.counts)


def generalise(histogram: Histogram, levels: Mapping[str, Level]) -> Histogram:
    """The histogram after mapping domain codes to level codes; columns not named stay as they are."""
    codes, sizes = list(histogram.codes), list(histogram.sizes)
    for name, level in levels.items():
        i = histogram.names.index(name)
        codes[i], sizes[i] = level.codes[codes[i]], len(level)
    return group(histogram.names, tuple(sizes), codes, histogram.counts)


def thin(histogram: Histogram, thinning: Thinning) -> Histogram:
    """A Bernoulli sample of the rows: cell by cell, the same law as a coin for every row."""
    return _select(histogram, thinning(histogram.counts), 1)


def at_least(histogram: Histogram, k: int) -> Histogram:
    """The classes of at least k rows; the others are suppressed."""
    return _select(histogram, histogram.counts, k)


def _select(histogram: Histogram, counts: Counts, least: int) -> Histogram:
    stays = counts >= least
    codes = tuple(column[stays] for column in histogram.codes)
    return Histogram(histogram.names, histogram.sizes, codes, counts[stays])


def cut(histogram: Histogram, rows: int) -> Iterator[Histogram]:
    """The histogram in consecutive parts of at most `rows` rows, whose expansions follow each other."""
    ends = np.cumsum(histogram.counts)
    for start in range(0, histogram.rows, rows):
        stop = min(start + rows, histogram.rows)
        first, last = np.searchsorted(ends, [start, stop - 1], side="right")
        inside = slice(first, last + 1)
        counts = np.minimum(ends[inside], stop) - np.maximum(ends[inside] - histogram.counts[inside], start)
        codes = tuple(column[inside] for column in histogram.codes)
        yield Histogram(histogram.names, histogram.sizes, codes, counts)


def expand(histogram: Histogram, name: str) -> Integers:
    """One column of the table of rows that the histogram counts, in canonical sorted order."""
    return np.repeat(histogram.codes[histogram.names.index(name)], histogram.counts)
