"""The columns of an Arrow IPC file or stream by its schema, which stands before all batches and dictionaries."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from crowdgate.errors import FileFault
from crowdgate.sources.locations import Location, opened
from crowdgate.sources.table_header import CellType, HeaderColumn, TableHeader

MAGIC = b"ARROW1\0\0"
"""The first bytes of an IPC file; a stream begins with its schema."""


def arrow_columns(path: Location) -> tuple[HeaderColumn, ...]:
    """Return the columns of an Arrow IPC file or stream. Raises FileFault without a schema, OSError without a file."""
    import pyarrow as pa

    with opened(path) as file:
        file.seek(len(MAGIC) if file.read(len(MAGIC)) == MAGIC else 0)
        try:
            schema = pa.ipc.read_schema(file)
        except (pa.ArrowException, EOFError, ValueError, MemoryError, OSError):
            schema = None
    if schema is None:
        raise FileFault(f"{path.name}: not a readable Arrow file: its schema is missing or damaged")
    return tuple(HeaderColumn(field.name, _cell_type(field.type)) for field in schema)


def arrow_header(path: Location, settings: Mapping[str, str], expected: Collection[str]) -> TableHeader:
    """Return the columns of an Arrow IPC file or stream. Raises FileFault without a schema, OSError without a file."""
    del settings, expected  # they are about text
    return TableHeader(path.name, "the schema", arrow_columns(path))


def _cell_type(stated: Any) -> CellType:
    """Return the type of cells of an Arrow type; of a dictionary and an extension that of what they store."""
    import pyarrow.types as types

    if types.is_dictionary(stated):
        return _cell_type(stated.value_type)
    if hasattr(stated, "storage_type"):
        return _cell_type(stated.storage_type)
    tests = {
        types.is_null: CellType.UNKNOWN,
        types.is_integer: CellType.WHOLE,
        types.is_floating: CellType.NUMBER,
        types.is_decimal: CellType.NUMBER,
        types.is_boolean: CellType.FLAG,
        types.is_date: CellType.DAY,
        types.is_timestamp: CellType.MOMENT,
        types.is_time: CellType.TIME,
        types.is_nested: CellType.NESTED,
    }
    return next((found for test, found in tests.items() if test(stated)), CellType.TEXT)
