"""The columns in the footer of a Parquet file, read without Arrow.

Of the footer only the schema is read, and of the first row group the compression of each column. No statistics and no
number of rows are looked at.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from crowdgate.errors import FileFault
from crowdgate.sources.locations import Location, opened
from crowdgate.sources.parquet_footer import (
    CHILDREN,
    CODEC,
    CONVERTED,
    LOGICAL,
    NAME,
    PHYSICAL,
    REPETITION,
    FooterLimit,
    FooterWalk,
    footer_of,
)
from crowdgate.sources.table_header import CellType, HeaderColumn, TableHeader
from crowdgate.sources.thrift import Fields

CODECS = {0: "none", 1: "SNAPPY", 2: "GZIP", 4: "BROTLI", 5: "LZ4", 6: "ZSTD", 7: "LZ4_RAW"}
"""The compressions that can be read, by their number in a file."""
DAMAGED = "its footer is missing or damaged"
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
    with opened(path) as file:
        columns, words = _header(file)
    if words:
        raise FileFault(f"{path.name}: not a readable Parquet file: {words}")
    return TableHeader(path.name, "the footer", columns)


def _header(file: Any) -> tuple[tuple[HeaderColumn, ...], str]:
    """Return the columns of an opened file, and what is wrong with its footer. An error's text can hold cells."""
    try:
        return tuple(_columns(footer_of(file))), ""
    except FooterLimit as error:
        return (), str(error)
    except ValueError:
        return (), DAMAGED


def _columns(footer: bytes) -> Iterator[HeaderColumn]:
    """Yield the columns of a footer. Raises ValueError if it is damaged."""
    walk = FooterWalk(footer)
    first = next(walk.groups(range(walk.leaves)), ())
    for element, places in walk.columns:
        unread = any(said.get(CODEC, -1) not in CODECS for said in first[places.start : places.stop])
        yield _column(element, unread=unread)


def _column(element: Fields, *, unread: bool) -> HeaderColumn:
    name = element.get(NAME)
    if not isinstance(name, bytes):
        raise ValueError("an element of the schema without a name")
    nested = bool(element.get(CHILDREN)) or element.get(REPETITION) == _REPEATED
    fault = f"is compressed in an unknown way: expected one of {', '.join(CODECS.values())}" if unread else None
    return HeaderColumn(name.decode("utf-8", "replace"), CellType.NESTED if nested else _type(element), fault)


def _type(element: Fields) -> CellType:
    found = _BY_PHYSICAL.get(element.get(PHYSICAL, -1), CellType.UNKNOWN)
    found = _BY_CONVERTED.get(element.get(CONVERTED, -1), found)
    logical = element.get(LOGICAL)
    return _BY_LOGICAL.get(next(iter(logical), -1), found) if isinstance(logical, dict) else found
