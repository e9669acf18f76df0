"""The footer of a Parquet file, walked without Arrow: its schema, and where the pages of each column are.

Arrow can crash the process at a damaged column of a row group, and makes an object of up to 1 KB of each before it
looks at any. So a footer is walked before Arrow gets it, within limits. No statistics and no number of rows are
looked at.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Any

from crowdgate.limits import LARGEST_FOOTER, MOST_CHUNKS, MOST_COLUMNS
from crowdgate.sources.parquet_patterns import column_chunk
from crowdgate.sources.thrift import BINARY, I32, I64, STRUCT, Fields, Kept, ThriftCursor, number_of

TAIL = 8
"""The size of a Parquet file's tail: the length of its footer and PAR1."""
MAGIC = b"PAR1"
PHYSICAL, LENGTH, REPETITION, NAME, CHILDREN, CONVERTED, LOGICAL = 1, 2, 3, 4, 5, 6, 10
"""Field numbers in an element of the schema (parquet.thrift of Apache Parquet)."""
CODEC, VALUES, DATA_AT, DICTIONARY_AT = 4, 5, 9, 11
"""Field numbers in the metadata of a column of a row group."""
_SCHEMA, _GROUPS, _COLUMNS, _META = 2, 4, 1, 3
_ELEMENT: Kept = {
    **dict.fromkeys((PHYSICAL, LENGTH, REPETITION, CHILDREN, CONVERTED), I32),
    NAME: BINARY,
    LOGICAL: {kind: {} for kind in range(1, 20)},
}
_CHUNK: Kept = {_META: {CODEC: I32, VALUES: I64, DATA_AT: I64, DICTIONARY_AT: I64}}


Columns = tuple[tuple[Fields, range], ...]
"""The element of each column of a table, and the places of its leaves among the columns of a row group."""


class FooterLimit(ValueError):
    """An error: a footer is larger than a limit, which its text names."""


def footer_of(file: Any | bytes) -> bytes:
    """Return the footer of an opened file, or of the bytes of a small one. Raises FooterLimit, ValueError without a
    footer.
    """
    size = len(file) if isinstance(file, bytes) else file.seek(0, os.SEEK_END)
    tail = _end(file, size, TAIL)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != MAGIC or length > size - TAIL:
        raise ValueError("no footer")
    if length > LARGEST_FOOTER:
        raise FooterLimit(f"its footer is larger than {LARGEST_FOOTER >> 20} MiB")
    return _end(file, size, TAIL + length)[:length]


def _end(file: Any | bytes, size: int, length: int) -> bytes:
    """Return so many bytes at the end of a file."""
    start = max(0, size - length)
    if isinstance(file, bytes):
        return file[start:]
    file.seek(start)
    return bytes(file.read(length))


def _subtree(elements: Sequence[Fields], at: int) -> tuple[int, int]:
    """Return the place after an element and all below it, and the number of leaves among them."""
    left, leaves = 1, 0
    while left and at < len(elements):
        children = elements[at].get(CHILDREN, 0)
        if not isinstance(children, int) or children < 0:
            raise ValueError("an element of the schema with a wrong number of children")
        left, leaves, at = left - 1 + children, leaves + (not children), at + 1
    return at, leaves


@lru_cache(maxsize=1)
def _columns_of(kind: int, schema: bytes) -> Columns:
    """Return the columns of a schema, a field of this type; files of one table mostly have the same bytes here."""
    cursor, elements = ThriftCursor(schema), list[Fields]()
    for _ in cursor.items(kind):
        if len(elements) > MOST_COLUMNS:
            raise FooterLimit(f"it has more than {MOST_COLUMNS} columns")
        elements.append(cursor.struct(_ELEMENT))
    return tuple(_with_leaves(elements))


def _with_leaves(elements: Sequence[Fields]) -> Iterator[tuple[Fields, range]]:
    at, leaf = 1, 0
    while at < len(elements):
        end, leaves = _subtree(elements, at)
        yield elements[at], range(leaf, leaf + leaves)
        at, leaf = end, leaf + leaves


class FooterWalk:
    """One walk over a footer: first the `columns` of its schema, each with its element and the places of its leaves
    among the columns of a row group, then the row groups.

    Raises FooterLimit, ValueError if the footer is damaged as far as it was walked.
    """

    def __init__(self, footer: bytes) -> None:
        self._cursor = ThriftCursor(footer)
        self._heads = self._cursor.heads()
        self.columns = self._schema()

    def _schema(self) -> Columns:
        for number, kind in self._heads:
            start = self._cursor.at
            self._cursor.skip(kind)
            if number == _SCHEMA:
                return _columns_of(kind, self._cursor.data[start : self._cursor.at])
        raise ValueError("no schema")

    @property
    def leaves(self) -> int:
        """The number of columns of a row group."""
        return self.columns[-1][1].stop if self.columns else 0

    def groups(self, wanted: Collection[int]) -> Iterator[Sequence[Fields]]:
        """Yield for each row group what is said of the `wanted` leaves, in order: their codec, their number of values
        and their places. All else is passed over, up to the footer's end.
        """
        left, is_known = MOST_CHUNKS, False
        for number, kind in self._heads:
            if number != _GROUPS:
                self._cursor.skip(kind)
                continue
            is_known = True
            for _ in self._cursor.items(kind):
                left -= self.leaves
                if left < 0:
                    raise FooterLimit(f"its row groups have more than {MOST_CHUNKS} columns together")
                yield _group(self._cursor, self.leaves, wanted)
        if not is_known:
            raise ValueError("no row groups")


def _group(cursor: ThriftCursor, leaves: int, wanted: Collection[int]) -> Sequence[Fields]:
    found: list[Fields] | None = None
    for number, kind in cursor.heads():
        if number == _COLUMNS:
            found = list(_chunks(cursor, kind, leaves, wanted))
        else:
            cursor.skip(kind)
    if found is None:
        raise ValueError("a row group without columns")
    return found


def _chunks(cursor: ThriftCursor, kind: int, leaves: int, wanted: Collection[int]) -> Iterator[Fields]:
    leaf, matched = -1, column_chunk().match
    for leaf, _ in enumerate(cursor.items(kind)):
        if leaf >= leaves:
            break
        usual = matched(cursor.data, cursor.at)
        if usual is not None:
            cursor.at = usual.end()
            if leaf in wanted:
                yield _numbers(usual)
        elif leaf in wanted:
            yield cursor.struct(_CHUNK).get(_META) or {}
        else:
            cursor.skip(STRUCT)
    if leaf + 1 != leaves:
        raise ValueError("a row group of other columns than the schema's")


def _numbers(usual: re.Match[bytes]) -> Fields:
    found = zip((CODEC, VALUES, DATA_AT, DICTIONARY_AT), usual.groups(), strict=True)
    return {name: number_of(varint) for name, varint in found if varint is not None}
