"""Output formats: one table for every kind of release and for verification. A new one is a file here and a line below.

The name of a format is the suffix of its files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.formats.format import Format, as_read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    import pyarrow as pa

    from crowdgate.formats.byte_compare import Writer


def _write_parquet(into: BinaryIO, schema: pa.Schema, pieces: Iterable[pa.Table]) -> None:
    from crowdgate.formats.parquet import write

    write(into, schema, pieces)


def _read_parquet(path: Path, schema: pa.Schema, most: int) -> Iterator[pa.Table]:
    from crowdgate.formats.parquet import read

    return read(path, schema, most)


def _is_same_parquet(path: Path, writer: Writer) -> bool:
    from crowdgate.formats.parquet import same_bytes_but_writer

    return same_bytes_but_writer(path, writer)


def _write_csv(into: BinaryIO, schema: pa.Schema, pieces: Iterable[pa.Table]) -> None:
    from crowdgate.formats.csv import write

    write(into, schema, pieces)


def _read_csv(path: Path, schema: pa.Schema, most: int) -> Iterator[pa.Table]:
    from crowdgate.formats.csv import read

    return read(path, schema, most)


FORMATS: dict[str, Format] = {
    "parquet": Format(_write_parquet, _read_parquet, _is_same_parquet),
    "csv": Format(_write_csv, _read_csv),
}

__all__ = ["FORMATS", "Format", "as_read"]
