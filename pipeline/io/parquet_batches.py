"""Parquet as batches that stay in cache, text columns as dictionaries, only the wanted columns."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from pipeline.errors import FileFault
from pipeline.io.encode import is_text

MOST_ROWS, MOST_BYTES = 1 << 17, 1 << 29


def read_names(path: Path, wanted: Sequence[str]) -> tuple[str, ...]:
    """Column names from the footer. Raises FileFault when it cannot be read or a wanted column holds no plain cells."""
    schema = _schema(path)
    if schema is None:
        raise FileFault(f"{path.name}: not a readable Parquet file: its footer is missing or damaged")
    for field in schema:
        if field.name in wanted and pa.types.is_nested(_storage(field.type)):
            raise FileFault(f"{path.name}: column {field.name!r} holds lists or structures: expected one value a cell")
    return tuple(schema.names)


def read_batches(path: Path, columns: Sequence[str], *, dictionaries: bool) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows reached so far, and an Arrow array per column. Text columns are dictionaries where `dictionaries` is set."""
    schema = _schema(path)
    if schema is None:
        raise FileFault(f"{path.name}: not a readable Parquet file: its footer is missing or damaged")
    text = [name for name in columns if is_text(schema.field(name).type)]
    with _returning_memory(), pyarrow.parquet.ParquetFile(path, read_dictionary=text if dictionaries else None) as file:
        done = 0
        for batch in file.iter_batches(_batch_rows(file.metadata), columns=list(columns), use_threads=False):
            done += batch.num_rows
            yield done, {name: batch.column(name) for name in columns}


@contextmanager
def _returning_memory() -> Iterator[None]:
    """Allocate through the system: Arrow's own pool keeps what it freed, a fifth more CPU and 100 MB at 10M rows."""
    before = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(before)


def count_rows(path: Path) -> int:
    """Rows that the footer promises."""
    return int(pyarrow.parquet.read_metadata(path).num_rows)


def _schema(path: Path) -> Any:
    try:
        return pyarrow.parquet.read_schema(path)
    except (pa.ArrowException, OSError, ValueError):
        return None


def _storage(kind: Any) -> Any:
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def _batch_rows(metadata: Any) -> int:
    """The largest row group, up to a bound: batches that end with their row group keep its dictionaries as they are.

    Rows of very long cells come in smaller batches, since Arrow's text arrays end at 2 GiB.
    """
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    longest = max((group.total_byte_size // max(group.num_rows, 1) for group in groups), default=0)
    rows = max((group.num_rows for group in groups), default=0)
    return max(1, min(rows, MOST_ROWS, MOST_BYTES // max(longest, 1)))
