"""The files of a release of rows, made from its histogram and public levels alone: one release always gives the same
bytes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from crowdgate.formats import Format
from crowdgate.formats.byte_compare import Writer
from crowdgate.kind.kind import Formats
from crowdgate.kinds.rows import first_estimates
from crowdgate.kinds.rows.candidate import CalibratedMargins, PublishedRows
from crowdgate.kinds.rows.estimates import COLUMNS, ESTIMATES, ONE_WAY_COLUMNS, one_way, with_shares
from crowdgate.kinds.rows.manifest_fields import RowsManifest
from crowdgate.kinds.rows.margins import margins_table
from crowdgate.mechanisms.rows.calibration import GRID as UNITS
from crowdgate.mechanisms.rows.charge_names import WEIGHT
from crowdgate.publish import rows
from crowdgate.publish.dictionary import DICTIONARY, DictionaryEntry, write_dictionary, write_lines
from crowdgate.publish.levels import COARSER, COARSER_COLUMNS

MARGINS = "margins"
COUNTS = "counts.csv"
COUNT_COLUMNS = ("column", "label", "at_least")


def files(said: RowsManifest, held: PublishedRows, formats: Formats) -> Mapping[str, Writer]:
    """Return a writer for each file, by its name: the rows in each format, the dictionary of their columns, and counts
    of the full table (margins and estimates if the policy has margins, otherwise the published rows as lower
    bounds)."""
    columns = _columns(held, first=said.format == 1)
    data = {f"{rows.DATA}.{name}": _writer(each, held, columns) for name, each in formats.items()}
    if said.format == 1:
        known = first_estimates.files(held.rows, said.mechanism.beta, held.labels)
    elif held.weighting is None:
        known = {COUNTS: lambda into: write_lines(into, COUNT_COLUMNS, counts(held))}
    else:
        known = _margin_files(held, held.weighting, formats)
    listed = (*held.columns, *(() if held.weighting is None else held.weighting.entries))
    return {**data, DICTIONARY: lambda into: write_dictionary(listed, into), **known}


def _margin_files(held: PublishedRows, weighting: CalibratedMargins, formats: Formats) -> Mapping[str, Writer]:
    table = margins_table(held)
    levels = {COARSER: lambda into: write_lines(into, COARSER_COLUMNS, weighting.coarser)}
    return {
        **(levels if weighting.coarser else {}),
        **{f"{MARGINS}.{name}": _table_writer(each, table) for name, each in formats.items()},
        ESTIMATES: lambda into: _write_estimates(held, into),
    }


def _write_estimates(held: PublishedRows, into: BinaryIO) -> None:
    if held.shares is None:
        write_lines(into, ONE_WAY_COLUMNS, one_way(held))
    else:
        write_lines(into, COLUMNS, with_shares(held, held.shares))


def counts(held: PublishedRows) -> Iterator[tuple[str, str, int]]:
    """Yield (column, value, number of published rows) for each published value of each column. The number is a lower
    bound on the full table's rows with this value."""
    for name, labels in held.labels.items():
        found = np.zeros(len(labels), dtype=np.int64)
        np.add.at(found, held.rows.codes[held.rows.names.index(name)], held.rows.counts)
        for code in np.flatnonzero(found).tolist():
            yield name, labels[code], int(found[code])


def schema(
    held_columns: Sequence[DictionaryEntry], ordered: Sequence[bool], *, first: bool, weighted: bool
) -> pa.Schema:
    """Return the Arrow schema of the rows' files: whole numbers as numbers (from format 2 on), other columns as labels,
    and the weight of each row if `weighted`."""
    fields = [*rows.schema(held_columns, [known and not first for known in ordered])]
    return pa.schema([*fields, *([pa.field(WEIGHT, pa.float64())] if weighted else [])])


def _columns(held: PublishedRows, *, first: bool) -> pa.Schema:
    return schema(held.columns, held.ordered, first=first, weighted=held.weighting is not None)


def pieces(held: PublishedRows, columns: pa.Schema) -> Iterator[pa.Table]:
    """Yield the rows as successive tables of some rows each, so that memory does not grow with the number of rows."""
    weights = None if held.weighting is None else held.weighting.weights / UNITS
    for part in rows.parts(held.rows):
        made = [rows.column(part, each, columns.field(each.column).type) for each in held.columns]
        if weights is not None:
            made.append(rows.repeated(weights[part.codes[-1]], part))
        yield pa.table(made, schema=columns)


def _writer(into: Format, held: PublishedRows, columns: pa.Schema) -> Writer:
    return lambda sink: into.write(sink, columns, pieces(held, columns))


def _table_writer(into: Format, table: pa.Table) -> Writer:
    return lambda sink: into.write(sink, table.schema, [table])
