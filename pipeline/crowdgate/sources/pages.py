"""Memory of a Parquet file's pages, from their headers, before any of them is decompressed.

A footer may state any size. Arrow allocates what the page's own header states, and a page that decompresses to another
size is an error. So headers bound memory, whatever bytes follow them. The limits apply to the file, for the columns
that are read; `problem` is asked before anything is charged.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from crowdgate.limits import LARGEST_PAGE, LARGEST_PAGES, MOST_PAGE_VALUES
from crowdgate.sources import thrift
from crowdgate.sources.parquet_footer import (
    CHILDREN,
    CODEC,
    DATA_AT,
    DICTIONARY_AT,
    LENGTH,
    NAME,
    PHYSICAL,
    VALUES,
    FooterWalk,
)
from crowdgate.sources.parquet_patterns import page_header
from crowdgate.sources.parquet_schema import CODECS

MOST_ROWS, MOST_BYTES = 1 << 17, 1 << 29
_HEADERS = (1 << 10, 1 << 16, 1 << 20)
"""The numbers of bytes that are tried for a header; Arrow accepts at most 16 MiB."""
_KIND, _UNCOMPRESSED, _COMPRESSED = 1, 2, 3
_DATA, _DICTIONARY, _DATA_V2 = 0, 2, 3
_DETAILS = {_DATA: (5, 1, 2), _DICTIONARY: (7, 1, 2), _DATA_V2: (8, 1, 4)}
"""By page type: the field of its own header, and in that the fields of its number of values and of its encoding."""
_DELTA_TEXTS = (6, 7)
"""DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY: a few bytes may encode any number of long cells."""
_GREATEST = (1 << 31) - 1
"""The greatest number in a header: Arrow cuts numbers to 32 bits."""
HEADER: thrift.Kept = {
    **dict.fromkeys((_KIND, _UNCOMPRESSED, _COMPRESSED), thrift.I32),
    **{place: dict.fromkeys(numbers, thrift.I32) for place, *numbers in _DETAILS.values()},
}
"""The fields of a page's header that are kept."""
_FIXED_LENGTH = 7
"""The physical type of cells that have all the same number of bytes."""


class ParquetPage(NamedTuple):
    """A page of a Parquet file: its bytes when decompressed, the number of its values, its type and its encoding."""

    bytes: int
    values: int
    kind: int
    encoding: int


@dataclass(frozen=True)
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
    def bytes(self) -> int:
        """The bytes of all decompressed pages."""
        return sum(page.bytes for page in self.pages)

    @property
    def buffered_bytes(self) -> int:
        """The bytes of pages that are in memory at once: the dictionary and the largest data page."""
        return self.dictionary + max((page.bytes for page in self.data), default=0)


class Leaf(NamedTuple):
    """A column of plain cells: its name, and the size in bytes of a cell of fixed width, else 0."""

    name: str
    width: int


@dataclass(frozen=True, eq=False)
class ColumnPlaces:
    """Some columns of a table, and for each row group what its footer says of them."""

    leaves: tuple[Leaf, ...]
    groups: tuple[Sequence[thrift.Fields], ...]


def places_of(footer: bytes, names: Collection[str]) -> ColumnPlaces:
    """Return the places of these columns, of those that hold plain cells. Raises FooterLimit, ValueError if the footer
    is damaged anywhere.
    """
    walk = FooterWalk(footer)
    leaves = _leaves(walk, names)
    return ColumnPlaces(tuple(leaves.values()), tuple(walk.groups(leaves)))


def _leaves(walk: FooterWalk, names: Collection[str]) -> Mapping[int, Leaf]:
    """Return the columns with these names that hold no other columns, by their place in a row group."""
    found = {}
    for element, places in walk.columns:
        name = element.get(NAME)
        column = name.decode("utf-8", "replace") if isinstance(name, bytes) else ""
        if column in names and not element.get(CHILDREN):
            width = _number(element, LENGTH) if element.get(PHYSICAL) == _FIXED_LENGTH else 0
            found[places[0]] = Leaf(column, width)
    return found


def chunks_of(file: Any | bytes, places: ColumnPlaces) -> Iterator[list[ColumnChunk]]:
    """Yield the pages of columns of an opened file, or of the bytes of a small one, in each row group.

    Raises ValueError if a page has no header.
    """
    for said in places.groups:
        yield [_chunk(file, each, leaf) for each, leaf in zip(said, places.leaves, strict=True)]


def problem(chunks: Sequence[ColumnChunk]) -> str | None:
    """Return the reason why these columns of a row group can't be read in bounded memory, without quoting the file;
    None if they can.
    """
    for chunk in chunks:
        words = _chunk_problem(chunk)
        if words is not None:
            return f"column {chunk.name!r} {words}"
    if sum(chunk.bytes for chunk in chunks) <= LARGEST_PAGES:
        return None
    if sum(chunk.buffered_bytes for chunk in chunks) > LARGEST_PAGES:
        return f"its columns have pages of more than {LARGEST_PAGES >> 20} MiB together: write it with smaller ones"
    return None


def _chunk_problem(chunk: ColumnChunk) -> str | None:
    if chunk.codec not in CODECS:
        return f"is compressed in an unknown way: expected one of {', '.join(CODECS.values())}"
    for page in chunk.pages:
        if page.encoding in _DELTA_TEXTS:
            return "is encoded as DELTA_BYTE_ARRAY or DELTA_LENGTH_BYTE_ARRAY: write it plain or with a dictionary"
        if page.bytes > LARGEST_PAGE:
            return f"has a page of more than {LARGEST_PAGE >> 20} MiB: write it with smaller ones"
        if page.kind == _DICTIONARY and page.values > min(page.bytes, MOST_PAGE_VALUES):
            return f"has a dictionary of more than {MOST_PAGE_VALUES} values: write it with smaller ones"
    return None


def batch_rows(chunks: Sequence[ColumnChunk], loose: Collection[str]) -> int:
    """Return the number of rows of a batch, at least 1, such that the cells of any so many successive rows have at most
    MOST_BYTES (unless it is 1).

    Cells of `loose` columns may each be as long as the column's dictionary.
    """
    rows, width = MOST_ROWS, sum(chunk.width + chunk.dictionary * (chunk.name in loose) for chunk in chunks)
    if rows * width + sum(chunk.bytes for chunk in chunks) <= MOST_BYTES:
        return rows
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


def _chunk(file: Any, said: thrift.Fields, leaf: Leaf) -> ColumnChunk:
    start, dictionary = _number(said, DATA_AT), said.get(DICTIONARY_AT)
    if isinstance(dictionary, int) and 0 < dictionary < start:
        start = dictionary
    return ColumnChunk(leaf.name, _number(said, CODEC), leaf.width, tuple(_pages(file, start, _number(said, VALUES))))


def _pages(file: Any, at: int, values: int) -> Iterator[ParquetPage]:
    """Yield a column's pages from byte `at` on, until they hold `values` values: where Arrow stops as well."""
    while values > 0:
        page, size = _page_at(file, at)
        yield page
        values -= page.values if page.kind in (_DATA, _DATA_V2) else 0
        at += size


def _page_at(file: Any, at: int) -> tuple[ParquetPage, int]:
    """Return the page at a place, and its size in the file with its header."""
    if at < 0:
        raise ValueError("a page before the file's start")
    if isinstance(file, bytes):
        return _usual_page(file, at) or _page(thrift.parse(file[at:], HEADER))
    for size in _HEADERS:
        file.seek(at)
        window = bytes(file.read(size))
        try:
            return _usual_page(window, 0) or _page(thrift.parse(window, HEADER))
        except thrift.TruncatedStruct:
            continue
    raise ValueError("a header that is too long, or ends with the file")


def _usual_page(data: bytes, at: int) -> tuple[ParquetPage, int] | None:
    """Return the page at a place, and its size, if its header is as writers usually make it."""
    found = page_header().match(data, at)
    if found is None:
        return None
    kind_of, size_of, compressed_of, checksum, *stated = found.groups()
    kind, size, compressed = thrift.number_of(kind_of), thrift.number_of(size_of), thrift.number_of(compressed_of)
    place, values, encoding = _DETAILS.get(kind, (0, 0, 0))
    if place != stated[0][0] // 16 + _COMPRESSED + (checksum is not None) or stated[encoding] is None:
        return None
    page = ParquetPage(size, thrift.number_of(stated[values]), kind, thrift.number_of(stated[encoding]))
    is_plain = all(0 <= number <= _GREATEST for number in (size, compressed, page.values, page.encoding))
    return (page, found.end() - at + compressed) if is_plain and abs(kind) <= _GREATEST else None


def _page(header: thrift.ParsedStruct) -> tuple[ParquetPage, int]:
    kind, size = _number(header.fields, _KIND), _number(header.fields, _UNCOMPRESSED)
    end = header.size + _number(header.fields, _COMPRESSED)
    if kind not in _DETAILS:  # Arrow passes over it
        return ParquetPage(size, 0, kind, 0), end
    place, values, encoding = _DETAILS[kind]
    details = header.fields.get(place)
    if not isinstance(details, dict):
        raise ValueError("a page of another type than its header")
    return ParquetPage(size, _number(details, values), kind, _number(details, encoding)), end


def _number(fields: thrift.Fields, name: int) -> int:
    found = fields.get(name)
    if not isinstance(found, int) or found < 0:
        raise ValueError("a header without a number that it must have")
    return found
