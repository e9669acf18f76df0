"""Distinct tuples of attributes at some levels, and tables joined by them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdgate.arrays import AnyIntegers, Floats, Integers
from crowdgate.hierarchy import Level
from crowdgate.histogram import Histogram


@dataclass(frozen=True, eq=False)
class DistinctTuples:
    """Distinct tuples of attribute codes (`codes`: one array per attribute), and the index of every population cell's
    tuple (`of_cell`)."""

    levels: Mapping[str, Level]
    codes: tuple[Integers, ...]
    of_cell: Integers

    def __len__(self) -> int:
        return len(self.codes[0]) if self.codes else 1

    def by_label(self, labels: Integers, size: int, rows: npt.NDArray[np.generic]) -> Floats:
        """Return the number of rows for each tuple and label of a secret attribute (tuples by labels), from the number
        of rows of each cell (`rows`) and the label of each cell (`labels`)."""
        total = np.bincount(self.of_cell * size + labels, rows, len(self) * size)
        return np.asarray(total, dtype=np.float64).reshape(len(self), size)

    def total(self, rows: npt.NDArray[np.generic]) -> Floats:
        """Return the sum over each tuple's cells of a number per cell, e.g. the number of rows."""
        return np.asarray(np.bincount(self.of_cell, rows, len(self)), dtype=np.float64)

    def counts_of(self, rows: Histogram) -> Integers:
        """Return, for each of these tuples, the number of rows that another table has with it."""
        columns = [
            (rows.codes[rows.names.index(name)], own, len(level))
            for (name, level), own in zip(self.levels.items(), self.codes, strict=True)
        ]
        theirs, own = joint_keys(columns, len(rows), len(self))
        return np.asarray(np.bincount(theirs, rows.counts, int(own.max(initial=-1)) + 1)[own], dtype=np.int64)


def distinct_tuples(columns: Sequence[Integers], cells: int, levels: Mapping[str, Level]) -> DistinctTuples:
    """Return the distinct tuples of codes in the cells of some columns (an array of one code per cell each)."""
    if not columns:
        return DistinctTuples(levels, (), np.zeros(cells, dtype=np.int64))
    of_cell = np.zeros(cells, dtype=np.int64)
    for column in columns:
        _, of_cell = np.unique(of_cell * (int(column.max(initial=0)) + 1) + column, return_inverse=True)
    first = np.zeros(int(of_cell.max(initial=-1)) + 1, dtype=np.int64)
    first[of_cell[::-1]] = np.arange(cells - 1, -1, -1)
    return DistinctTuples(levels, tuple(column[first] for column in columns), of_cell)


def joint_keys(
    columns: Iterable[tuple[AnyIntegers, AnyIntegers, int]], first: int, second: int
) -> tuple[Integers, Integers]:
    """Return an integer key for the tuple of each row of two tables of `first` and `second` rows: equal tuples have
    equal keys, ordered by codes. Each column is given by its codes in both tables and its number of possible codes."""
    one, other = np.zeros(first, dtype=np.int64), np.zeros(second, dtype=np.int64)
    for mine, theirs, size in columns:
        _, key = np.unique(np.concatenate([one * size + mine, other * size + theirs]), return_inverse=True)
        one, other = key[:first].astype(np.int64), key[first:].astype(np.int64)
    return one, other
