"""Memory of a Parquet file's pages, from their headers, before any of them is decompressed.

A footer may state any size. Arrow allocates what the page's own header states, and a page that decompresses to another
size is an error. So headers bound memory, whatever bytes follow them. The limits apply to the file, for the columns
that are read; `problem` is called before anything is charged.
"""

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from crowdgate.limits import LARGEST_PAGE, LARGEST_PAGES, MOST_PAGE_VALUES
from crowdgate.sources import thrift
from crowdgate.sources.locations import Location, opened
from crowdgate.sources.parquet_schema import CODECS, TAIL

MOST_ROWS, MOST_BYTES = 1 << 17, 1 << 29
_HEADERS = (1 << 10, 1 << 16, 1 << 20)
"""The numbers of bytes that are tried for a header; Arrow accepts at most 16 MiB."""
_KIND, _UNCOMPRESSED, _COMPRESSED = 1, 2, 3
_DATA, _DICTIONARY, _DATA_V2 = 0, 2, 3
_DETAILS = {_DATA: (5, 1, 2), _DICTIONARY: (7, 1, 2), _DATA_V2: (8, 1, 4)}
"""By page type: the field of its own header, and in that the fields of its number of values and of its encoding."""
_DELTA_TEXTS = (6, 7)
"""DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY: a few bytes may encode any number of long cells."""
_GROUPS, _COLUMNS, _META, _CODEC, _VALUES, _DATA_AT, _DICTIONARY_AT = 4, 1, 3, 4, 5, 9, 11
"""Field numbers in a footer: row groups, their columns, a column's metadata, and fields of that."""


class ParquetPage(NamedTuple):
    """A page of a Parquet file: its bytes when decompressed, the number of its values, its type and its encoding."""

    bytes: int
    values: int
    kind: int
    encoding: int


@dataclass(frozen=True, eq=False)
class ColumnChunk:
    """The pages of one column in one row group. `width` is the size in bytes of a cell of fixed width, else 0."""

    name: str
    codec: int
    width: int
    pages: tuple[ParquetPage, ...]

    @property
    def data(self) -> list[ParquetPage]:
        """The pages that hold values, i.e. all except the dictionary."""
        return [page for page in self.pages if page.kind != _DICTIONARY]

    @property
    def dictionary(self) -> int:
        """The bytes of the decompressed dictionary page, 0 without one."""
        return max((page.bytes for page in self.pages if page.kind == _DICTIONARY), default=0)

    @property
    def buffered_bytes(self) -> int:
        """The bytes of pages that are in memory at once: the dictionary and the largest data page."""
        return self.dictionary + max((page.bytes for page in self.data), default=0)


def problem(path: Location, schema: Any, columns: Sequence[str]) -> str | None:
    """Return the reason why these columns can't be read in bounded memory, without quoting the file; None if they can.

    Raises OSError if the file can't be opened.
    """
    try:
        groups = (chunks_of(path, schema, group, columns) for group in groups_of(path))
        return next((words for chunks in groups if (words := _problem(chunks))), None)
    except ValueError:
        return "the Parquet file is damaged: its footer, or the header of a page, can't be read"


def _problem(chunks: Sequence[ColumnChunk]) -> str | None:
    for chunk in chunks:
        words = _chunk_problem(chunk)
        if words is not None:
            return f"column {chunk.name!r} {words}"
    if sum(chunk.buffered_bytes for chunk in chunks) > LARGEST_PAGES:
        return f"its columns have pages of more than {LARGEST_PAGES >> 20} MiB together: write it with smaller ones"
    return None


def _chunk_problem(chunk: ColumnChunk) -> str | None:
    if chunk.codec not in CODECS:
        return f"is compressed in an unknown way: expected one of {', '.join(CODECS.values())}"
    if any(page.encoding in _DELTA_TEXTS for page in chunk.pages):
        return "is encoded as DELTA_BYTE_ARRAY or DELTA_LENGTH_BYTE_ARRAY: write it plain or with a dictionary"
    if any(page.bytes > LARGEST_PAGE for page in chunk.pages):
        return f"has a page of more than {LARGEST_PAGE >> 20} MiB: write it with smaller ones"
    if any(page.kind == _DICTIONARY and page.values > min(page.bytes, MOST_PAGE_VALUES) for page in chunk.pages):
        return f"has a dictionary of more than {MOST_PAGE_VALUES} values: write it with smaller ones"
    return None


def batch_rows(chunks: Sequence[ColumnChunk], loose: Collection[str]) -> int:
    """Return the number of rows of a batch, at least 1, such that the cells of any so many successive rows have at most
    MOST_BYTES (unless it is 1).

    Cells of `loose` columns may each be as long as the column's dictionary.
    """
    rows, width = MOST_ROWS, sum(chunk.width + chunk.dictionary * (chunk.name in loose) for chunk in chunks)
    while rows > 1 and rows * width + sum(_fullest(chunk.data, rows) for chunk in chunks) > MOST_BYTES:
        rows //= 2
    return rows


def _fullest(pages: Sequence[ParquetPage], rows: int) -> int:
    """Return the most bytes of decompressed pages that any `rows` successive rows of a column can touch."""
    ends = np.cumsum([page.values for page in pages])
    held = np.cumsum([0, *(page.bytes for page in pages)])
    # a run that begins at the last row of a page touches all pages up to that of its own last row
    last = np.minimum(np.searchsorted(ends, ends + rows - 1, side="left"), len(pages) - 1)
    return int((held[last + 1] - held[:-1]).max(initial=0))


def groups_of(path: Location) -> Sequence[thrift.Fields]:
    """Return the row groups in a footer, without pyarrow, which can crash the process at a damaged chunk.

    Raises ValueError if there is no footer, OSError if there is no file.
    """
    with opened(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL))
        length = int.from_bytes(file.read(4), "little")
        file.seek(max(0, size - TAIL - length))
        found = thrift.parse(file.read(length)).fields.get(_GROUPS)
    return _structs(found)


def chunks_of(path: Location, schema: Any, group: thrift.Fields, columns: Sequence[str]) -> list[ColumnChunk]:
    """Return the pages of these columns in one row group. Raises ValueError if a page has no header, OSError if there
    is no file.
    """
    said = _structs(group.get(_COLUMNS))
    if len(said) != len(schema):
        raise ValueError("a row group of other columns than the schema's")
    wanted = [(column, at) for at in range(len(schema)) if (column := schema.column(at)).path in columns]
    with opened(path) as file:
        return [_chunk(file, said[at].get(_META), column) for column, at in wanted]


def _structs(found: Any) -> Sequence[thrift.Fields]:
    if not isinstance(found, list):
        raise ValueError("no list of structs where there must be one")
    return found


def _chunk(file: Any, said: Any, column: Any) -> ColumnChunk:
    if not isinstance(said, dict):
        raise ValueError("a column of which nothing is said")
    width = column.length if column.physical_type == "FIXED_LEN_BYTE_ARRAY" else 0
    start, dictionary = _number(said, _DATA_AT), said.get(_DICTIONARY_AT, 0)
    if isinstance(dictionary, int) and 0 < dictionary < start:
        start = dictionary
    return ColumnChunk(column.path, _number(said, _CODEC), width, tuple(_pages(file, start, _number(said, _VALUES))))


def _pages(file: Any, at: int, values: int) -> Iterator[ParquetPage]:
    """Yield a column's pages from byte `at` on, until they hold `values` values: where Arrow stops as well."""
    while values > 0:
        header = _header(file, at)
        page = _page(header.fields)
        yield page
        values -= page.values if page.kind in (_DATA, _DATA_V2) else 0
        at += header.size + _number(header.fields, _COMPRESSED)


def _header(file: Any, at: int) -> thrift.ParsedStruct:
    if at < 0:
        raise ValueError("a page before the file's start")
    for size in _HEADERS:
        file.seek(at)
        window = file.read(size)
        try:
            return thrift.parse(window)
        except thrift.TruncatedStruct:
            continue
    raise ValueError("a header that is too long, or ends with the file")


def _page(header: thrift.Fields) -> ParquetPage:
    kind, size = _number(header, _KIND), _number(header, _UNCOMPRESSED)
    if kind not in _DETAILS:  # Arrow passes over it
        return ParquetPage(size, 0, kind, 0)
    place, values, encoding = _DETAILS[kind]
    details = header.get(place)
    if not isinstance(details, dict):
        raise ValueError("a page of another type than its header")
    return ParquetPage(size, _number(details, values), kind, _number(details, encoding))


def _number(fields: thrift.Fields, name: int) -> int:
    found = fields.get(name)
    if not isinstance(found, int) or found < 0:
        raise ValueError("a header without a number that it must have")
    return found
