"""The columns in the footer of a Parquet file, read without Arrow.

Of the footer only the schema is read, and of the first row group the compression of each column. No statistics and no
number of rows are looked at.
"""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress

from crowdgate.errors import FileFault
from crowdgate.limits import LARGEST_FOOTER
from crowdgate.sources.locations import Location, opened
from crowdgate.sources.table_header import CellType, HeaderColumn, TableHeader
from crowdgate.sources.thrift import Fields, ThriftCursor

TAIL = 8
"""The size of a Parquet file's tail: the length of its footer and PAR1."""
MAGIC = b"PAR1"
CODECS = {0: "none", 1: "SNAPPY", 2: "GZIP", 4: "BROTLI", 5: "LZ4", 6: "ZSTD", 7: "LZ4_RAW"}
"""The compressions that can be read, by their number in a file."""
_SCHEMA, _GROUPS, _COLUMNS, _META, _CODEC = 2, 4, 1, 3, 4
_PHYSICAL, _REPETITION, _NAME, _CHILDREN, _CONVERTED, _LOGICAL = 1, 3, 4, 5, 6, 10
"""Field numbers in a footer, in a row group, and in an element of the schema (parquet.thrift of Apache Parquet)."""
_REPEATED = 2
_BY_PHYSICAL = {
    0: CellType.FLAG, 1: CellType.WHOLE, 2: CellType.WHOLE, 3: CellType.MOMENT, 4: CellType.NUMBER, 5: CellType.NUMBER,
    6: CellType.TEXT, 7: CellType.TEXT,
}  # fmt: skip
_BY_CONVERTED = {
    5: CellType.NUMBER, 6: CellType.DAY, 7: CellType.TIME, 8: CellType.TIME, 9: CellType.MOMENT, 10: CellType.MOMENT,
    21: CellType.UNKNOWN,
}  # fmt: skip
_BY_LOGICAL = {
    5: CellType.NUMBER, 6: CellType.DAY, 7: CellType.TIME, 8: CellType.MOMENT, 11: CellType.UNKNOWN,
    15: CellType.NUMBER,
}  # fmt: skip
"""The types of cells by physical, converted and logical type; where several are stated, the last one holds."""


def parquet_header(path: Location, settings: Mapping[str, str], expected: Collection[str]) -> TableHeader:
    """Return the columns of a Parquet file. Raises FileFault if its footer can't be read, OSError without a file."""
    del settings, expected  # they are about text
    columns = None
    with suppress(ValueError):  # it can hold the footer's statistics, which are cells
        columns = tuple(_columns(_footer(path)))
    if columns is None:
        raise FileFault(f"{path.name}: not a readable Parquet file: its footer is missing or damaged")
    return TableHeader(path.name, "the footer", columns)


def _footer(path: Location) -> bytes:
    with opened(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL))
        tail = file.read(TAIL)
        length = int.from_bytes(tail[:4], "little")
        if tail[4:] != MAGIC or length > min(LARGEST_FOOTER, size):
            raise ValueError("no footer")
        file.seek(size - TAIL - length)
        return bytes(file.read(length))


def _columns(footer: bytes) -> Iterator[HeaderColumn]:
    """Yield the columns of a footer. Raises ValueError if it is damaged."""
    cursor, elements, codecs = ThriftCursor(footer, texts=True), list[Fields](), list[int]()
    for number, kind in cursor.heads():
        if number == _SCHEMA:
            elements = [cursor.struct() for _ in cursor.items()]
        elif number == _GROUPS:
            cursor.texts = False
            codecs = _codecs(cursor)
            break
        else:
            cursor.value(kind)
    at, leaf = 1, 0
    while at < len(elements):
        end, leaves = _subtree(elements, at)
        unread = {codec for codec in codecs[leaf : leaf + leaves] if codec not in CODECS}
        yield _column(elements[at], is_nested=end > at + 1, unread=bool(unread))
        at, leaf = end, leaf + leaves


def _codecs(cursor: ThriftCursor) -> list[int]:
    """Return the compression of each column of the first row group, and nothing else of it."""
    for _ in cursor.items():
        for number, kind in cursor.heads():
            if number == _COLUMNS:
                return [_codec(cursor) for _ in cursor.items()]
            cursor.value(kind)
        break
    return []


def _codec(cursor: ThriftCursor) -> int:
    codec = -1
    for number, kind in cursor.heads():
        if number != _META:
            cursor.value(kind)
            continue
        for inner, inner_kind in cursor.heads():
            value = cursor.value(inner_kind)
            codec = value if inner == _CODEC and isinstance(value, int) else codec
    return codec


def _subtree(elements: Sequence[Fields], at: int) -> tuple[int, int]:
    """Return the place after an element and all below it, and the number of leaves among them."""
    left, leaves = 1, 0
    while left and at < len(elements):
        children = elements[at].get(_CHILDREN, 0)
        if not isinstance(children, int) or children < 0:
            raise ValueError("an element of the schema with a wrong number of children")
        left, leaves, at = left - 1 + children, leaves + (not children), at + 1
    return at, leaves


def _column(element: Fields, *, is_nested: bool, unread: bool) -> HeaderColumn:
    name = element.get(_NAME)
    if not isinstance(name, bytes):
        raise ValueError("an element of the schema without a name")
    nested = is_nested or element.get(_REPETITION) == _REPEATED
    fault = f"is compressed in an unknown way: expected one of {', '.join(CODECS.values())}" if unread else None
    return HeaderColumn(name.decode("utf-8", "replace"), CellType.NESTED if nested else _type(element), fault)


def _type(element: Fields) -> CellType:
    found = _BY_PHYSICAL.get(element.get(_PHYSICAL, -1), CellType.UNKNOWN)
    found = _BY_CONVERTED.get(element.get(_CONVERTED, -1), found)
    logical = element.get(_LOGICAL)
    return _BY_LOGICAL.get(next(iter(logical), -1), found) if isinstance(logical, dict) else found
