"""One tidy table of all numbers of a release: a line for each number, in the unit of its own column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa

from crowdgate.kinds.tables.flags import GIVEN, WITHHELD
from crowdgate.kinds.tables.manifest_fields import TableFields, TablesManifest
from crowdgate.kinds.tables.released_files import PublishedTables
from crowdgate.mechanisms.tables.columns import MEAN_PARTS

ALL_TABLES = "all-tables"
_NUMBERS = ("value", "lower", "upper", "error")
_SEPARATOR = "; "

_Codes = Mapping[tuple[str, str], Mapping[str, int]]


def one_table(said: TablesManifest, held: PublishedTables) -> pa.Table:
    """Return all numbers as one table of the columns table, variables, values, labels, statistic, value, lower, upper,
    error and flag.

    `table` is the name of the number's own file. `variables` and `labels` are its columns and their labels, separated
    by "; "; `values` are the codes of the labels, as dictionary.csv lists them. A quantile is the code of its bin; its
    limits and its error count bins. The sum behind a mean is that of the column itself: its offset is undone.
    """
    codes = {(each.column, each.level): {label: at for at, label in enumerate(each.labels)} for each in held.columns}
    parts = (_Lines(said, *pair, codes).tables() for pair in zip(held.said, held.tables, strict=True))
    return pa.concat_tables(chain.from_iterable(parts))


@dataclass(frozen=True, eq=False)
class _Lines:
    """The lines of one published table. `codes` are those of all labels, by column and level."""

    said: TablesManifest
    stated: TableFields
    table: pa.Table
    codes: _Codes

    def tables(self) -> Iterator[pa.Table]:
        """Yield the lines of the table's numbers and, for means, those of the noisy sums and rows."""
        if self.stated.kind == "quantiles":
            yield self._quantiles()
            return
        column = self.stated.column
        statistic = self.stated.kind if column is None else f"{self.stated.kind} of {column}"
        numbers = {name: self.table[name].combine_chunks() for name in _NUMBERS}
        yield self._lines([statistic] * len(self.table), numbers, self.table["flag"].combine_chunks())
        if self.stated.kind == "mean":
            yield from self._mean_parts()

    def _quantiles(self) -> pa.Table:
        assert self.stated.level is not None, "quantiles state their level"
        places = self.codes[str(self.stated.column), self.stated.level]
        what = f"of {self.stated.column}, in bins of {self.stated.level}"
        words = [f"quantile {each} {what}" for each in self.table["probability"].to_pylist()]
        named = {"value": "bin", "lower": "lower", "upper": "upper"}
        bins = {to: [places.get(label) for label in self.table[name].to_pylist()] for to, name in named.items()}
        numbers = {to: pa.array(own, pa.float64()) for to, own in bins.items()}
        error = self.table["error"].combine_chunks()
        return self._lines(words, {**numbers, "error": error}, self.table["flag"].combine_chunks())

    def _mean_parts(self) -> Iterator[pa.Table]:
        """Yield the lines of the noisy sums of the column itself, and of the noisy rows, with the errors of their
        noise. These are not known on a sample; nor are intervals of such sums."""
        mechanism, queries = self.said.mechanism, self.stated.queries
        grid = mechanism.queries[queries[0]].grid
        assert grid is not None, "the queries of a mean have grids"
        around, rows = (np.array(self.table[name].to_pylist(), dtype=np.float64) for name in MEAN_PARTS)
        offset = float(grid.offset)
        of_sum, of_rows = (mechanism.law(at).variance ** 0.5 * float(mechanism.unit(at)) for at in queries)
        errors = (np.hypot(of_sum, offset * of_rows), of_rows) if mechanism.beta == 1 else (np.nan, np.nan)
        for what, values, error in zip(("sum of", "rows with"), (around + offset * rows, rows), errors, strict=True):
            known = ~np.isnan(values)
            given = {"value": values, "error": np.where(known, error, np.nan)}
            numbers = {name: pa.array(own, mask=np.isnan(own)) for name, own in given.items()}
            flags = pa.array(np.where(known, GIVEN, WITHHELD).tolist(), pa.string())
            yield self._lines([f"{what} {self.stated.column}"] * len(values), numbers, flags)

    def _lines(self, statistic: Sequence[str], numbers: Mapping[str, pa.Array], flags: pa.Array) -> pa.Table:
        """Return lines with these numbers, one for each line of the published table; a number that is not given is
        empty."""
        count, axes = len(self.table), self.stated.levels
        labels = [self.table[name].to_pylist() for name in axes]
        coded = [[str(self.codes[axis][own]) for own in each] for axis, each in zip(axes.items(), labels, strict=True)]
        nothing = pa.nulls(count, pa.float64())
        return pa.table(
            {
                "table": pa.array([self.stated.file] * count, pa.string()),
                "variables": pa.array([_SEPARATOR.join(axes)] * count, pa.string()),
                "values": pa.array(_joined(coded, count), pa.string()),
                "labels": pa.array(_joined(labels, count), pa.string()),
                "statistic": pa.array(statistic, pa.string()),
                **{name: numbers.get(name, nothing) for name in _NUMBERS},
                "flag": flags,
            }
        )


def _joined(columns: Sequence[Sequence[str]], count: int) -> list[str]:
    return [_SEPARATOR.join(each) for each in zip(*columns, strict=True)] if columns else [""] * count
