"""Parquet. Dictionaries hold only labels that occur; no index, no pandas metadata, no times, no compression.

Rows are sorted, so run lengths alone make the file small (within a tenth of zstd). Without compression no small file
can expand to a large one, and the bytes do not depend on the version of a compressor.
"""

import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from crowdgate.errors import VerificationFailed
from crowdgate.formats.format import Format, as_read, labels_in
from crowdgate.formats.written import Writer, same

ROW_GROUP = 1 << 20
READ_ROWS = 1 << 18
LONGEST_TEXT = 1 << 20
"""Bytes of a text in the footer."""
LARGEST_ANEW = 1 << 28
"""Bytes of a file that is compared with one in memory."""
_WRITER = re.compile(r"parquet-cpp-arrow version [0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}")


def _write(into: BinaryIO, schema: pa.Schema, pieces: Iterable[pa.Table]) -> None:
    with pq.ParquetWriter(into, schema, compression="none", store_schema=False) as out:
        for piece in pieces:
            out.write_table(piece, ROW_GROUP)


def _read(path: Path, schema: pa.Schema, most: int) -> Iterator[pa.Table]:
    """Columns come as dictionaries, which a forged file can't blow up; the footer is looked at first."""
    limits = {"thrift_string_size_limit": LONGEST_TEXT, "thrift_container_size_limit": LONGEST_TEXT}
    with pq.ParquetFile(path, read_dictionary=labels_in(schema), pre_buffer=False, **limits) as file:
        _check(path.name, file, schema, most)
        for batch in file.iter_batches(READ_ROWS, use_threads=False):
            yield pa.Table.from_batches([batch])


def _check(name: str, file: pq.ParquetFile, schema: pa.Schema, most: int) -> None:
    said, held = file.metadata, file.schema_arrow
    if said.metadata or held.metadata or not held.equals(_held(held, schema)):
        raise VerificationFailed(f"{name}: its columns are not those that the manifest states, or it carries metadata")
    if said.num_rows > most:
        raise VerificationFailed(f"{name}: it has more rows than the manifest states")
    for at in range(said.num_row_groups):
        group = said.row_group(at)
        if any(group.column(i).compression != "UNCOMPRESSED" for i in range(group.num_columns)):
            raise VerificationFailed(f"{name}: it is compressed, which no release is")


def _held(held: pa.Schema, schema: pa.Schema) -> pa.Schema:
    """What the schema should be: text may have been read as a dictionary."""
    expected = [
        (field.name, held.field(field.name).type if _is_text(held, field) else field.type) for field in as_read(schema)
    ]
    return pa.schema(expected)


def _is_text(held: pa.Schema, field: pa.Field) -> bool:
    if field.name not in held.names or not pa.types.is_string(field.type):
        return False
    found = held.field(field.name).type
    return bool(pa.types.is_dictionary(found) and pa.types.is_string(found.value_type))


def _same(path: Path, write: Writer) -> bool:
    """Byte by byte. The name of the version that wrote it may be another: then all but that name is compared."""
    return same(path, write) or (path.stat().st_size <= LARGEST_ANEW and _same_but_writer(path, write))


def _same_but_writer(path: Path, write: Writer) -> bool:
    written = io.BytesIO()
    write(written)
    anew, here = written.getvalue(), pq.read_metadata(path).created_by
    there = pq.read_metadata(io.BytesIO(anew)).created_by
    # a footer ends with its length and PAR1
    begins = len(anew) - 8 - int.from_bytes(anew[-8:-4], "little")
    named = anew[begins:-8].split(_text(there))
    if len(named) != 2 or not _WRITER.fullmatch(here):
        return False
    footer = _text(here).join(named)
    return path.read_bytes() == anew[:begins] + footer + len(footer).to_bytes(4, "little") + anew[-4:]


def _text(name: str) -> bytes:
    """As a footer holds a text of less than 128 bytes: its length, then the text."""
    return bytes([len(name)]) + name.encode()


FORMAT = Format(_write, _read, _same)
