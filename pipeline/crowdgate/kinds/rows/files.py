"""The files of a release of rows, made from its histogram and public levels alone: the same release, the same bytes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from crowdgate.formats import Format
from crowdgate.formats.written import Writer
from crowdgate.histogram import Histogram, Integers, cut, expand
from crowdgate.kind.kind import Formats
from crowdgate.kinds.rows import first_estimates
from crowdgate.kinds.rows.candidate import PublishedRows, Weighting
from crowdgate.kinds.rows.margins import margins_table, one_way
from crowdgate.kinds.rows.said import RowsManifest
from crowdgate.mechanisms.rows.calibration import GRID as UNITS
from crowdgate.publish.dictionary import DICTIONARY, Entry, write_dictionary, write_lines
from crowdgate.publish.levels import COARSER, COARSER_COLUMNS

DATA = "data"
WEIGHT = "weight"
MARGINS = "margins"
ESTIMATES = "estimates.csv"
ESTIMATE_COLUMNS = (
    "column", "level", "label", "estimate", "standard_error", "lower", "upper", "rows", "weighted", "residual",
)  # fmt: skip
COUNTS = "counts.csv"
COUNT_COLUMNS = ("column", "label", "at_least")
PIECE_ROWS = 1 << 20
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}", re.ASCII)


def files(said: RowsManifest, held: PublishedRows, formats: Formats) -> Mapping[str, Writer]:
    """The rows in every format, the dictionary of their columns, and what is known of the full table: margins and
    estimates where they were bought, otherwise that it has at least the published rows."""
    columns = _columns(held, first=said.format == 1)
    data = {f"{DATA}.{name}": _writer(each, held, columns) for name, each in formats.items()}
    if said.format == 1:
        known = first_estimates.files(held.rows, said.mechanism.beta, held.labels)
    elif held.weighting is None:
        known = {COUNTS: lambda into: write_lines(into, COUNT_COLUMNS, counts(held))}
    else:
        known = _margin_files(held, held.weighting, formats)
    listed = (*held.columns, *(() if held.weighting is None else held.weighting.entries))
    return {**data, DICTIONARY: lambda into: write_dictionary(listed, into), **known}


def _margin_files(held: PublishedRows, weighting: Weighting, formats: Formats) -> Mapping[str, Writer]:
    table = margins_table(held)
    levels = {COARSER: lambda into: write_lines(into, COARSER_COLUMNS, weighting.coarser)}
    return {
        **(levels if weighting.coarser else {}),
        **{f"{MARGINS}.{name}": _table_writer(each, table) for name, each in formats.items()},
        ESTIMATES: lambda into: write_lines(into, ESTIMATE_COLUMNS, one_way(held)),
    }


def counts(held: PublishedRows) -> Iterator[tuple[str, str, int]]:
    """Every published value of every column with the number of published rows that have it: the full table has at least
    as many."""
    for name, labels in held.labels.items():
        found = np.zeros(len(labels), dtype=np.int64)
        np.add.at(found, held.rows.codes[held.rows.names.index(name)], held.rows.counts)
        for code in np.flatnonzero(found).tolist():
            yield name, labels[code], int(found[code])


def is_number(column: Entry, ordered: bool) -> bool:
    """Whether the values of a column are whole numbers, and are written as such."""
    return ordered and all(_WHOLE.fullmatch(label) for label in column.labels)


def schema(held_columns: Sequence[Entry], ordered: Sequence[bool], *, first: bool, weighted: bool) -> pa.Schema:
    """Whole numbers as numbers (from format 2 on), other columns as labels, and the weight of every row."""
    labels = pa.dictionary(pa.int32(), pa.string())
    pairs = zip(held_columns, ordered, strict=True)
    fields = [(each.column, pa.int64() if not first and is_number(each, known) else labels) for each, known in pairs]
    return pa.schema([*fields, *([(WEIGHT, pa.float64())] if weighted else [])])


def _columns(held: PublishedRows, *, first: bool) -> pa.Schema:
    return schema(held.columns, held.ordered, first=first, weighted=held.weighting is not None)


def pieces(held: PublishedRows, columns: pa.Schema) -> Iterator[pa.Table]:
    """The rows in pieces, so that memory does not grow with their number."""
    rows = held.rows
    weights = None if held.weighting is None else held.weighting.weights / UNITS
    place = np.arange(len(rows), dtype=np.int64)
    numbered = replace(rows, names=(*rows.names, ""), codes=(*rows.codes, place), sizes=(*rows.sizes, len(rows)))
    for part in cut(numbered, PIECE_ROWS):
        made = [_column(part, name, held.labels[name], columns.field(name).type) for name in rows.names]
        if weights is not None:
            made.append(pa.array(weights[expand(part, "")]))
        yield pa.table(made, schema=columns)


def _column(part: Histogram, name: str, labels: Sequence[str], kind: pa.DataType) -> pa.Array:
    codes = expand(part, name)
    if pa.types.is_integer(kind):
        return pa.array(np.array([int(label) for label in labels], dtype=np.int64)[codes])
    occurring, rank = np.unique(part.codes[part.names.index(name)], return_inverse=True)
    ranked = np.repeat(rank.astype(np.int32), part.counts)
    return pa.DictionaryArray.from_arrays(pa.array(ranked), _occurring(occurring, labels))


def _writer(into: Format, held: PublishedRows, columns: pa.Schema) -> Writer:
    return lambda sink: into.write(sink, columns, pieces(held, columns))


def _table_writer(into: Format, table: pa.Table) -> Writer:
    return lambda sink: into.write(sink, table.schema, [table])


def _occurring(codes: Integers, labels: Sequence[str]) -> pa.Array:
    return pa.array([labels[code] for code in codes], type=pa.string())
