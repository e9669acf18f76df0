"""Content of the files of a release of synthetic rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from crowdgate.arrays import Codes, Integers
from crowdgate.histogram import Histogram, collapse
from crowdgate.publish.dictionary import DictionaryEntry
from crowdgate.publish.levels import CoarserLine, ReleasedDomains

Axes = tuple[tuple[str, str], ...]
"""Columns, each at a level."""


@dataclass(frozen=True, eq=False)
class NoisyTable:
    """A measured table: noisy counts in the cells of its axes."""

    axes: Axes
    noisy: Integers


@dataclass(frozen=True, eq=False)
class PublishedSynthetic:
    """Rows by class; their columns with all values, which of these are numbers or days in order, and the coarser levels
    of the columns; the noisy tables behind the rows; and a noisy distance between rows and table for each pair of
    columns, in rows (none if there are no rows)."""

    rows: Histogram
    columns: tuple[DictionaryEntry, ...]
    ordered: tuple[bool, ...]
    levels: tuple[DictionaryEntry, ...]
    coarser: Sequence[CoarserLine]
    measured: tuple[NoisyTable, ...]
    distances: Integers

    @property
    def pairs(self) -> tuple[tuple[DictionaryEntry, DictionaryEntry], ...]:
        """All pairs of columns, in the order of the certificate."""
        return tuple(combinations(self.columns, 2))

    def nearness(self, domains: ReleasedDomains) -> Iterator[int]:
        """Yield for each measured table the sum of absolute differences between the rows and its noisy counts."""
        for table, own in zip(self.measured, self.counted(domains), strict=True):
            yield int(np.abs(own - table.noisy.reshape(-1)).sum())

    def counted(self, domains: ReleasedDomains) -> Iterator[Integers]:
        """Yield for each measured table the numbers of rows in its cells, flat."""
        finest = {each.column: each.level for each in self.columns}
        for table in self.measured:
            yield self._counted(table.axes, finest, domains)

    def _counted(self, axes: Axes, finest: dict[str, str], domains: ReleasedDomains) -> Integers:
        cell = np.zeros(len(self.rows), dtype=np.int64)
        for name, level in axes:
            codes = domains.codes(name, finest[name], level)[self.rows.codes[self.rows.names.index(name)]]
            cell = cell * len(domains.labels(name, level)) + codes
        size = int(np.prod([len(domains.labels(*axis)) for axis in axes]))
        out = np.zeros(size, dtype=np.int64)
        np.add.at(out, cell, self.rows.counts)
        return out


def by_class(names: tuple[str, ...], sizes: tuple[int, ...], made: Sequence[Codes]) -> Histogram:
    """Return rows as a histogram over the columns `names`, of `sizes` values each; `made` holds the codes of each
    column, and no columns if there are no rows."""
    codes = made if len(made) else tuple(np.zeros(0, dtype=np.int32) for _ in sizes)
    return collapse(names, sizes, codes, np.ones(len(codes[0]), dtype=np.int64))
