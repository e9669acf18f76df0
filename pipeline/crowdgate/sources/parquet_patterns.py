"""Patterns of the structs that writers of Parquet usually make: one match takes a tenth of the time of a walk.

Each pattern matches only whole structs of Thrift's compact protocol, in any values, and gives the numbers that are
needed. `re` compiles it at the first use. A struct that does not match is walked by `thrift.ThriftCursor`, so nothing
depends on a match but time. The first byte of each alternative is another one, so a failed match takes no longer.
"""

import re
from functools import cache

LONGEST_TEXT = 40
"""The most bytes of a text, such as the name of a column, that a pattern matches."""
_NUMBER = rb"[\x80-\xff]{0,8}[\x00-\x7f]"
"""A number of up to 63 bits."""


def _heads(first: int, last: int) -> bytes:
    """Return the pattern of the first byte of a field of these types, one to four fields behind the one before."""
    return b"[" + b"".join(rb"\x%d%x-\x%d%x" % (steps, first, steps, last) for steps in range(1, 5)) + b"]"


def _sized(item: bytes, kind: int, most: int) -> bytes:
    """Return the pattern of a list of up to so many items, whose number is part of its first byte."""
    return b"|".join(rb"\x%02x(?:%b){%d}" % (size << 4 | kind, item, size) for size in range(most + 1))


def _texts(most: int) -> bytes:
    return b"(?:" + b"|".join(rb"\x%02x.{%d}" % (size, size) for size in range(most + 1)) + b")"


def _fields(*more: bytes) -> bytes:
    """Return the pattern of up to 15 fields of a struct and its end."""
    return b"(?:" + b"|".join((_heads(4, 6) + _NUMBER, _heads(1, 2), *more)) + rb"){0,15}\x00"


@cache
def column_chunk() -> re.Pattern[bytes]:
    """Return the pattern of a ColumnChunk: its codec, number of values, and the places of its pages."""
    # fields 10 and 11 are not of the rest: 11 is the place of the dictionary
    lists = _heads(9, 9) + b"(?:" + b"|".join((_sized(_fields(), 12, 3), _sized(_NUMBER, 6, 4))) + b")"
    inner = _heads(12, 12) + _fields(_heads(8, 8) + _texts(16), _heads(9, 9) + b"(?:" + _sized(_NUMBER, 6, 4) + b")")
    start = rb"\x26N\x1c\x15N\x19(?:E)\x19\x18T\x15(N)\x16(N)\x16N\x16N\x26(N)(?:\x26(N)|(?![\x10-\x2f]))"
    start = (
        start.replace(b"N", _NUMBER).replace(b"E", _sized(rb"[\x00-\x7f]", 5, 5)).replace(b"T", _texts(LONGEST_TEXT))
    )
    return re.compile(start + _fields(inner, lists) + _fields(), re.DOTALL)


@cache
def page_header() -> re.Pattern[bytes]:
    """Return the pattern of a PageHeader: its type, its two sizes, its checksum, the first byte of its own header, and
    the first four numbers of that.
    """
    statistics = _heads(12, 12) + _fields(_heads(8, 8) + _texts(16))
    start = rb"\x15(N)\x15(N)\x15(N)(\x15N)?([\x1c\x2c\x3c\x4c\x5c])\x15(N)\x15(N)(?:\x15(N)\x15(N))?"
    return re.compile(start.replace(b"N", _NUMBER) + _fields(statistics) + rb"\x00", re.DOTALL)
