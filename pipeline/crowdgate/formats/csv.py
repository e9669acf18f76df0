"""CSV with a header line, LF line ends and UTF-8.

A table of labels alone is quoted where needed. In a table with numbers all text is quoted, so that the label "10"
differs from the number 10. A missing number is an empty cell.
"""

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import repeat
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv

from crowdgate.errors import VerificationFailed
from crowdgate.formats.format import as_read
from crowdgate.system.regular_files import plain_file

PORTION = 1 << 16
"""Bytes written at once."""
BLOCK = 4 << 20
"""Bytes read at once: no line of a release is longer."""


def write(into: BinaryIO, schema: pa.Schema, pieces: Iterable[pa.Table]) -> None:
    if _is_labels(schema):
        _write_labels(into, schema, pieces)
    else:
        options = pyarrow.csv.WriteOptions(quoting_style="needed")
        with pyarrow.csv.CSVWriter(into, schema, write_options=options) as out:
            for piece in pieces:
                out.write_table(piece)


def _write_labels(into: BinaryIO, schema: pa.Schema, pieces: Iterable[pa.Table]) -> None:
    """Write a table of labels only; successive equal rows are formatted once and written repeatedly."""
    into.write(_line(schema.names))
    for piece in pieces:
        for cells, count in _runs(piece):
            line = _line(cells)
            for many in _portions(count, max(1, PORTION // len(line))):
                into.write(line * many)


def _line(cells: Iterable[str]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue().encode()


def _portions(count: int, most: int) -> Iterator[int]:
    yield from repeat(most, count // most)
    if count % most:
        yield count % most


def _runs(piece: pa.Table) -> Iterator[tuple[list[str], int]]:
    """Yield the cells of each run of equal successive rows, with the number of rows in the run."""
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


def read(path: Path, schema: pa.Schema, most: int) -> Iterator[pa.Table]:
    expected = as_read(schema)
    text = pa.dictionary(pa.int32(), pa.string())
    types = {field.name: text if pa.types.is_string(field.type) else field.type for field in expected}
    convert = pyarrow.csv.ConvertOptions(
        column_types=types,
        null_values=[""],
        strings_can_be_null=not _is_labels(schema),
        quoted_strings_can_be_null=False,
    )
    parse = pyarrow.csv.ParseOptions(newlines_in_values=True)
    read = pyarrow.csv.ReadOptions(use_threads=False, block_size=BLOCK)
    rows = 0
    with (
        plain_file(path) as raw,
        pyarrow.csv.open_csv(raw, read_options=read, convert_options=convert, parse_options=parse) as file,
    ):
        for batch in file:
            rows += batch.num_rows
            if rows > most:
                raise VerificationFailed(f"{path.name}: the file has more rows than the manifest states")
            yield pa.Table.from_batches([batch])
