"""What the pages of a Parquet file take, by their headers, before any of them is decompressed.

A footer may claim any size; what Arrow allocates for a page is what the page's own header says, and a page that
decompresses to something else is an error. So headers bound memory, whatever the bytes behind them are. The rules are
about the file, and hold for the columns that are read; `problem` is asked before anything is charged.
"""

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crowdgate.limits import LARGEST_PAGE, LARGEST_PAGES, MOST_PAGE_VALUES
from crowdgate.sources import thrift

MOST_ROWS, MOST_BYTES = 1 << 17, 1 << 29
_HEADERS = (1 << 10, 1 << 16, 1 << 20)
"""Bytes that are looked at for a header; Arrow takes at most 16 MiB."""
_KIND, _UNCOMPRESSED, _COMPRESSED = 1, 2, 3
_DATA, _DICTIONARY, _DATA_V2 = 0, 2, 3
_DETAILS = {_DATA: (5, 1, 2), _DICTIONARY: (7, 1, 2), _DATA_V2: (8, 1, 4)}
"""By a page's type: the field of its own header, and there those of its number of values and of its encoding."""
_DELTA_TEXTS = (6, 7)
"""DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY: a few bytes may stand for any number of long cells."""
_CODECS = ("UNCOMPRESSED", "SNAPPY", "GZIP", "BROTLI", "LZ4", "ZSTD")


class Page(NamedTuple):
    """The bytes of a page once decompressed, how many values it holds, and of which kind they are."""

    bytes: int
    values: int
    kind: int
    encoding: int


@dataclass(frozen=True, eq=False)
class Chunk:
    """The pages of one column in one row group. `width` is what a cell of fixed width takes, else 0."""

    name: str
    codec: str
    width: int
    pages: tuple[Page, ...]

    @property
    def data(self) -> list[Page]:
        """Its pages of cells."""
        return [page for page in self.pages if page.kind != _DICTIONARY]

    @property
    def dictionary(self) -> int:
        """Bytes of its dictionary, 0 without one."""
        return max((page.bytes for page in self.pages if page.kind == _DICTIONARY), default=0)

    @property
    def held(self) -> int:
        """Bytes of the pages that are held at once: its dictionary and one of its cells."""
        return self.dictionary + max((page.bytes for page in self.data), default=0)


def problem(path: Path, metadata: Any, columns: Sequence[str]) -> str | None:
    """Why these columns of a file can't be read in bounded memory, in words that quote nothing of it; None if they can.

    Raises OSError when the file can't be opened.
    """
    try:
        groups = (chunks_of(path, metadata, group, columns) for group in range(metadata.num_row_groups))
        return next((words for chunks in groups if (words := _problem(chunks))), None)
    except ValueError:
        return "it is damaged: a page has no header that can be read"


def _problem(chunks: Sequence[Chunk]) -> str | None:
    for chunk in chunks:
        words = _chunk_problem(chunk)
        if words is not None:
            return f"column {chunk.name!r} {words}"
    if sum(chunk.held for chunk in chunks) > LARGEST_PAGES:
        return f"its columns have pages of more than {LARGEST_PAGES >> 20} MiB together: write it with smaller ones"
    return None


def _chunk_problem(chunk: Chunk) -> str | None:
    if chunk.codec not in _CODECS:
        return f"is compressed in an unknown way: expected {', '.join(_CODECS[1:])} or none"
    if any(page.encoding in _DELTA_TEXTS for page in chunk.pages):
        return "is encoded as DELTA_BYTE_ARRAY or DELTA_LENGTH_BYTE_ARRAY: write it plain or with a dictionary"
    if any(page.bytes > LARGEST_PAGE for page in chunk.pages):
        return f"has a page of more than {LARGEST_PAGE >> 20} MiB: write it with smaller ones"
    if any(page.kind == _DICTIONARY and page.values > min(page.bytes, MOST_PAGE_VALUES) for page in chunk.pages):
        return f"has a dictionary of more than {MOST_PAGE_VALUES} values: write it with smaller ones"
    return None


def batch_rows(chunks: Sequence[Chunk], loose: Collection[str]) -> int:
    """Rows of a batch, at least 1: of that many rows in a run, wherever it begins, the cells take at most MOST_BYTES.

    Cells of `loose` columns may each be as long as the column's dictionary.
    """
    rows, width = MOST_ROWS, sum(chunk.width + chunk.dictionary * (chunk.name in loose) for chunk in chunks)
    while rows > 1 and rows * width + sum(_fullest(chunk.data, rows) for chunk in chunks) > MOST_BYTES:
        rows //= 2
    return rows


def _fullest(pages: Sequence[Page], rows: int) -> int:
    """The most bytes of all pages that so many rows in a run can touch."""
    ends = np.cumsum([page.values for page in pages])
    held = np.cumsum([0, *(page.bytes for page in pages)])
    # a run that begins at the last row of a page touches all pages up to that of its own last row
    last = np.minimum(np.searchsorted(ends, ends + rows - 1, side="left"), len(pages) - 1)
    return int((held[last + 1] - held[:-1]).max(initial=0))


def chunks_of(path: Path, metadata: Any, group: int, columns: Sequence[str]) -> list[Chunk]:
    """These columns in one row group. Raises ValueError where a page has no header, OSError where there is no file."""
    schema = metadata.schema
    wanted = [place for place in range(metadata.num_columns) if schema.column(place).path in columns]
    with path.open("rb", buffering=0) as file:
        return [_chunk(file.fileno(), metadata.row_group(group).column(at), schema.column(at)) for at in wanted]


def _chunk(file: int, said: Any, column: Any) -> Chunk:
    width = column.length if column.physical_type == "FIXED_LEN_BYTE_ARRAY" else 0
    start = said.data_page_offset
    if said.has_dictionary_page and 0 < said.dictionary_page_offset < start:
        start = said.dictionary_page_offset
    pages = tuple(_pages(file, start, said.num_values))
    return Chunk(column.path, said.compression, width, pages)


def _pages(file: int, at: int, values: int) -> Iterator[Page]:
    """Pages from a byte on, until they hold so many values: where Arrow stops as well."""
    while values > 0:
        header = _header(file, at)
        page = _page(header.fields)
        yield page
        values -= page.values if page.kind in (_DATA, _DATA_V2) else 0
        at += header.size + _number(header.fields, _COMPRESSED)


def _header(file: int, at: int) -> thrift.Parsed:
    if at < 0:
        raise ValueError("a page before the file's start")
    for size in _HEADERS:
        window = os.pread(file, size, at)
        try:
            return thrift.parse(window)
        except thrift.Short:
            continue
    raise ValueError("a header that is too long, or ends with the file")


def _page(header: thrift.Fields) -> Page:
    kind, size = _number(header, _KIND), _number(header, _UNCOMPRESSED)
    if kind not in _DETAILS:  # Arrow passes over it
        return Page(size, 0, kind, 0)
    place, values, encoding = _DETAILS[kind]
    details = header.get(place)
    if details is None or isinstance(details, int):
        raise ValueError("a page of another type than its header")
    return Page(size, _number(details, values), kind, _number(details, encoding))


def _number(fields: thrift.Fields, name: int) -> int:
    found = fields.get(name)
    if not isinstance(found, int) or found < 0:
        raise ValueError("a header without a number that it must have")
    return found
