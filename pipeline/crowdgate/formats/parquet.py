"""Parquet. Dictionaries hold only labels that occur; no index, no pandas metadata, no times."""

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from crowdgate.formats.format import Format

ROW_GROUP = 1 << 20


def _write(path: Path, schema: pa.Schema, pieces: Iterable[pa.Table]) -> None:
    with pq.ParquetWriter(path, schema, compression="zstd", store_schema=False) as out:
        for piece in pieces:
            out.write_table(piece, ROW_GROUP)


def _read(path: Path, schema: pa.Schema) -> pa.Table:
    del schema  # the file states its own, which is compared with the expected one
    return pq.read_table(path)


FORMAT = Format(_write, _read)
