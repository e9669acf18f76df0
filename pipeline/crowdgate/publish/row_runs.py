"""Recount of rows from a file: classes as runs of equal rows, in bounded memory."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from crowdgate.arrays import Codes, Integers
from crowdgate.errors import VerificationFailed
from crowdgate.histogram import Histogram
from crowdgate.publish.dictionary import DictionaryEntry

GREATEST_WEIGHT = 1e12
"""The greatest weight: in units, smaller ones are whole numbers of 64 bits, and exact as floats."""


@dataclass
class RowRuns:
    """Equivalence classes of a released file, read as runs of equal rows, which is possible because rows are sorted.

    If a column `weight` holds design weights in multiples of 1/`units_of_one`, each class has one weight. Memory grows
    only with the number of classes.
    """

    file: str
    columns: Sequence[DictionaryEntry]
    most: int
    weight: str | None = None
    units_of_one: int = 1
    tuples: list[Codes] = field(default_factory=list)
    counts: list[Integers] = field(default_factory=list)
    weights: list[Integers] = field(default_factory=list)
    found: int = 0

    def add(self, piece: pa.Table) -> None:
        """Add the next rows of the file. Raises VerificationFailed for unknown values, a wrong order, or too many
        classes.
        """
        if not piece.num_rows:
            return
        codes, units = np.stack([self._codes(piece, each) for each in self.columns]), self._units(piece)
        # a row starts a run where any of its columns, or its weight, differs from the row before
        changed = (codes[:, 1:] != codes[:, :-1]).any(axis=0) | (units[1:] != units[:-1])
        starts = np.flatnonzero(np.append(True, changed))
        tuples, own, counts = codes[:, starts], units[starts], np.diff(starts, append=codes.shape[1])
        if self.found and (tuples[:, 0] == self.tuples[-1][:, -1]).all() and own[0] == self.weights[-1][-1]:
            self.counts[-1][-1] += counts[0]
            tuples, own, counts = tuples[:, 1:], own[1:], counts[1:]
        self._keep(tuples, own, counts)

    def _keep(self, tuples: Codes, units: Integers, counts: Integers) -> None:
        if not len(counts):
            return
        last = [self.tuples[-1][:, -1:]] if self.found else []
        if not _is_sorted(np.concatenate([*last, tuples], axis=1)):
            raise VerificationFailed(f"{self.file}: its rows are not in canonical order, or a class has two weights")
        self.found += len(counts)
        if self.found > self.most:
            raise VerificationFailed(f"{self.file}: it has more classes than the manifest says")
        self.tuples.append(tuples)
        self.counts.append(counts)
        self.weights.append(units)

    def _codes(self, piece: pa.Table, column: DictionaryEntry) -> Codes:
        chunk = piece[column.column].combine_chunks()
        if isinstance(chunk, pa.ChunkedArray):
            chunk = chunk.chunk(0)
        held = chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk.unique()
        if chunk.null_count or held.null_count or len(held) > len(column.labels):
            raise VerificationFailed(
                f"{self.file}: column {column.column!r} holds a value that dictionary.csv does not list"
            )
        found = self._numbers(chunk, column) if pa.types.is_integer(chunk.type) else self._labels(chunk, column)
        if (found < 0).any():
            raise VerificationFailed(
                f"{self.file}: column {column.column!r} holds a value that dictionary.csv does not list"
            )
        return found

    @staticmethod
    def _labels(chunk: pa.Array, column: DictionaryEntry) -> Codes:
        place = {label: code for code, label in enumerate(column.labels)}
        codes = np.array([place.get(label, -1) for label in chunk.dictionary.to_pylist()], dtype=np.int32)
        found: Codes = codes[chunk.indices.to_numpy(zero_copy_only=False)]
        return found

    @staticmethod
    def _numbers(chunk: pa.Array, column: DictionaryEntry) -> Codes:
        """Return, for each whole number, the index of the label that denotes it, or -1."""
        numbers, values = np.array([int(label) for label in column.labels]), chunk.to_numpy(zero_copy_only=False)
        order = np.argsort(numbers)
        at = order[np.minimum(np.searchsorted(numbers[order], values), len(order) - 1)]
        return np.where(numbers[at] == values, at, -1).astype(np.int32)

    def _units(self, piece: pa.Table) -> Integers:
        """Return the design weight of each row of a piece, in multiples of 1/`units_of_one`; zeros without a weight
        column.
        """
        if self.weight is None:
            return np.zeros(piece.num_rows, dtype=np.int64)
        values = piece[self.weight].to_numpy()
        if not (np.isfinite(values).all() and (np.abs(values) < GREATEST_WEIGHT).all()):
            raise VerificationFailed(f"{self.file}: a weight is not a number, or outside the stated limits")
        units: Integers = np.round(values * self.units_of_one).astype(np.int64)
        if (units / self.units_of_one != values).any():
            raise VerificationFailed(f"{self.file}: a weight that is no whole number of its units")
        return units

    def units(self) -> Integers:
        """Return the design weight of every class, in multiples of 1/`units_of_one`."""
        return np.concatenate([np.zeros(0, dtype=np.int64), *self.weights])

    def histogram(self) -> Histogram:
        """Return the number of rows of every class, with the class's values, as a histogram."""
        names = tuple(each.column for each in self.columns)
        sizes = tuple(len(each.labels) for each in self.columns)
        if not self.found:
            empty = np.zeros(0, dtype=np.int32)
            return Histogram(names, sizes, tuple(empty for _ in names), np.zeros(0, dtype=np.int64))
        return Histogram(names, sizes, tuple(np.concatenate(self.tuples, axis=1)), np.concatenate(self.counts))


def _is_sorted(tuples: Codes) -> bool:
    """Return whether the tuples strictly increase in lexicographic order; each line of `tuples` is a column, the most
    significant first.
    """
    equal = np.ones(tuples.shape[1] - 1, dtype=np.bool_)
    for column in tuples:
        if (equal & (column[1:] < column[:-1])).any():
            return False
        equal &= column[1:] == column[:-1]
    return not equal.any()
