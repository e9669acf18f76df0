"""The files of a release of tables: one tidy table for each count, sum, mean and quantile, and a list of them."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from typing import Literal

import numpy as np
import pyarrow as pa

from crowdgate.formats import Format
from crowdgate.formats.byte_compare import Writer
from crowdgate.hierarchy import Level
from crowdgate.kind.kind import Formats
from crowdgate.kinds.tables.flags import FLAG_COLUMNS, FLAGS, FLAGS_FILE, number_flags, quantile_flags
from crowdgate.kinds.tables.manifest_fields import TableFields, TablesManifest
from crowdgate.kinds.tables.one_table import ALL_TABLES, one_table
from crowdgate.kinds.tables.released_files import PublishedTables
from crowdgate.mechanisms.tables.answers import QuantileAnswer, TableAnswer
from crowdgate.mechanisms.tables.columns import COUNT_NUMBERS, NUMBERS
from crowdgate.mechanisms.tables.workload import ContingencyTable, Item, Mean, Quantiles, RowsAtBound, Sum
from crowdgate.publish.dictionary import DICTIONARY, write_dictionary, write_lines
from crowdgate.publish.levels import COARSER, COARSER_COLUMNS

LISTING = "tables.csv"
LISTING_COLUMNS = ("file", "table", "kind", "column", "level", "cells", "noise_error")
RAW = "-raw"


def statistic(item: Item) -> Literal["count", "sum", "mean", "quantiles", "clamped"]:
    """Return the statistic of a table: counts, sums, means or quantiles, or rows at a bound of a sum or mean."""
    if isinstance(item, Sum | RowsAtBound):
        return "sum" if isinstance(item, Sum) else "clamped"
    return "mean" if isinstance(item, Mean) else "quantiles" if isinstance(item, Quantiles) else "count"


def file_names(answers: Sequence[TableAnswer | QuantileAnswer]) -> list[str]:
    """Return a file name for each table, without extension: its number and its words, in plain letters."""
    width = len(str(len(answers)))
    return [f"{at:0{width}d}-{_slug(answer.item.name)}" for at, answer in enumerate(answers, start=1)]


def files(said: TablesManifest, held: PublishedTables, formats: Formats) -> Mapping[str, Writer]:
    """Return a writer for each file, by its name: the tables in each format, the list of them, and the levels of their
    columns. Releases that state the errors of values also have one table of all numbers, and the meaning of flags."""
    return {
        **dict(_table_writers(held.said, held.tables, formats)),
        **dict(_table_writers(held.said, held.raw, formats, RAW)),
        **({} if said.mechanism.errors is None else _files_with_errors(said, held, formats)),
        LISTING: lambda into: write_lines(into, LISTING_COLUMNS, listing(said)),
        DICTIONARY: lambda into: write_dictionary(held.columns, into),
        COARSER: lambda into: write_lines(into, COARSER_COLUMNS, held.coarser),
    }


def _files_with_errors(said: TablesManifest, held: PublishedTables, formats: Formats) -> Mapping[str, Writer]:
    """Return the writers of the files that earlier releases lack."""
    together = one_table(said, held)
    return {
        **{f"{ALL_TABLES}.{end}": _writer(together, form) for end, form in formats.items()},
        FLAGS_FILE: lambda into: write_lines(into, FLAG_COLUMNS, FLAGS.items()),
    }


def listing(said: TablesManifest) -> Iterator[list[object]]:
    """Yield a line for each table: its file, its statistic, its number of cells and the standard error of its noise,
    which is empty for means and where the noise is on residuals."""
    mechanism = said.mechanism
    for each in said.data.tables:
        at = each.queries[0]
        none = each.kind == "mean" or mechanism.residuals is not None
        error = "" if none else f"{sqrt(mechanism.law(at).variance) * float(mechanism.unit(at)):.6g}"
        yield [each.file, each.table, each.kind, each.column or "", each.level or "", each.cells, error]


def _table_writers(
    said: Sequence[TableFields], tables: Sequence[pa.Table], formats: Formats, suffix: str = ""
) -> Iterator[tuple[str, Writer]]:
    """Yield a writer for each table in each format."""
    for each, table in zip(said, tables, strict=False):
        for end, form in formats.items():
            yield f"{each.file}{suffix}.{end}", _writer(table, form)


def tidy(answer: TableAnswer | QuantileAnswer) -> pa.Table:
    """Return a table with one row for each cell: the labels of its axes, then the numbers (empty if withheld)."""
    if isinstance(answer, QuantileAnswer):
        return _quantiles(answer)
    return _numbers(answer, COUNT_NUMBERS if isinstance(answer.item, ContingencyTable) else NUMBERS)


def tidy_raw(answer: TableAnswer | QuantileAnswer) -> pa.Table:
    """Return a tidy table of the numbers as drawn, before consistency."""
    return _quantiles(answer) if isinstance(answer, QuantileAnswer) else _numbers(answer, NUMBERS)


def _writer(table: pa.Table, form: Format) -> Writer:
    return lambda into: form.write(into, table.schema, [table])


def _slug(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name.lower()).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60].strip("-") or "table"


def _numbers(answer: TableAnswer, names: Sequence[str]) -> pa.Table:
    cells = answer.cells
    columns = _axes(answer.levels, cells.value.shape)
    held = {"value": cells.value, "unbiased": cells.unbiased, "standard_error": cells.standard_error,
            "error": cells.error, "lower": cells.lower, "upper": cells.upper}  # fmt: skip
    for name in names[:-2]:
        columns[name] = pa.array(held[name].ravel(), mask=~np.isfinite(held[name].ravel()))
    columns["trustworthy"] = pa.array(cells.trustworthy.ravel())
    columns["flag"] = number_flags(cells.value.ravel(), answer.parts, consistent="unbiased" in names)
    for name, values in answer.parts.items():
        columns[name] = pa.array(values.ravel(), mask=np.isnan(values.ravel()))
    return pa.table(columns)


def _quantiles(answer: QuantileAnswer) -> pa.Table:
    probabilities = [f"{float(p):g}" for p in answer.item.probabilities]
    columns = _axes(answer.levels, answer.bins.shape)
    columns["probability"] = pa.array(np.tile(probabilities, answer.bins.size // max(len(probabilities), 1)))
    labels = answer.column.labels
    for name, codes in (("bin", answer.bins), ("lower", answer.lower), ("upper", answer.upper)):
        columns[name] = pa.array([labels[code] if code >= 0 else None for code in codes.ravel()], pa.string())
    columns["error"] = pa.array(answer.errors.ravel(), mask=np.isnan(answer.errors.ravel()))
    columns["flag"] = quantile_flags(answer.bins.ravel() >= 0)
    return pa.table(columns)


def _axes(levels: Mapping[str, Level], shape: tuple[int, ...]) -> dict[str, pa.Array]:
    """Return for each column (at its level) the label of each cell, in the order of the array of this shape; axes
    beyond the columns repeat the labels."""
    columns: dict[str, pa.Array] = {}
    for axis, (name, level) in enumerate(levels.items()):
        codes = np.broadcast_to(
            np.arange(len(level)).reshape([-1 if i == axis else 1 for i in range(len(shape))]), shape
        )
        columns[name] = pa.array(np.asarray(level.labels, dtype=object)[codes.ravel()], pa.string())
    return columns
