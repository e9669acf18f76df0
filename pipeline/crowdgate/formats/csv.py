"""CSV with a header line, LF line ends and UTF-8.

A table of labels alone is quoted where needed; beside numbers all text is quoted, so that the label "10" is told from
the number 10. A missing number is an empty cell.
"""

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import repeat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from crowdgate.formats.format import Format, as_read


def _write(path: Path, schema: pa.Schema, pieces: Iterable[pa.Table]) -> None:
    if _is_labels(schema):
        _write_labels(path, schema, pieces)
    else:
        options = pyarrow.csv.WriteOptions(quoting_style="needed")
        with pyarrow.csv.CSVWriter(path, schema, write_options=options) as out:
            for piece in pieces:
                out.write_table(piece)


def _write_labels(path: Path, schema: pa.Schema, pieces: Iterable[pa.Table]) -> None:
    """Equal rows that follow each other are one line, made once and written so often."""
    line = io.StringIO(newline="")
    out = csv.writer(line, lineterminator="\n")
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerow(schema.names)
        for piece in pieces:
            for cells, count in _runs(piece):
                out.writerow(cells)
                file.writelines(repeat(line.getvalue(), count))
                line.seek(line.truncate(0))


def _runs(piece: pa.Table) -> Iterator[tuple[list[str], int]]:
    """Rows that differ from the one before them, with the length of their run."""
    if not piece.num_rows:
        return
    columns = [column.combine_chunks() for column in piece.columns]
    columns = [column.chunk(0) if isinstance(column, pa.ChunkedArray) else column for column in columns]
    indices = [column.indices.to_numpy(zero_copy_only=False) for column in columns]
    new = np.arange(piece.num_rows) == 0
    for codes in indices:
        new[1:] |= codes[1:] != codes[:-1]
    starts = np.flatnonzero(new)
    labels = [column.dictionary.to_pylist() for column in columns]
    for *row, count in zip(*(codes[starts] for codes in indices), np.diff(starts, append=piece.num_rows), strict=True):
        yield [held[code] for held, code in zip(labels, row, strict=True)], int(count)


def _is_labels(schema: pa.Schema) -> bool:
    return all(pa.types.is_dictionary(field.type) for field in schema)


def _read(path: Path, schema: pa.Schema) -> pa.Table:
    expected = as_read(schema)
    convert = pyarrow.csv.ConvertOptions(
        column_types={field.name: field.type for field in expected},
        null_values=[""],
        strings_can_be_null=not _is_labels(schema),
        quoted_strings_can_be_null=False,
    )
    return pyarrow.csv.read_csv(
        path, convert_options=convert, parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True)
    )


FORMAT = Format(_write, _read)
