"""The subset of Thrift's compact protocol in Parquet's headers and footers: numbers, texts, structs, lists of structs.

A caller states which fields it keeps; all others are passed over without an object for any of them. No allocation
depends on a stated length.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

DEEPEST = 20
MOST_ITEMS = 1 << 22
"""The most items of all lists together, other than numbers: Arrow makes an object of each."""
MOST_FIELDS = 1 << 23
"""The most fields of all structs together, with the numbers in lists: each takes a step of the walk."""
MOST_FIELDS_OF_STRUCT = 1 << 10
LONGEST_NUMBER = 10
_LAST_FIELD = (1 << 15) - 1
"""The greatest number of a field: others are cut to 16 bits by Arrow, and so name another field."""
_BITS = {4: 15, 5: 31, 6: 63}
"""The bits of numbers by type, beside their sign: Arrow cuts a number to them."""
I32, I64, BINARY, STRUCT = 5, 6, 8, 12
_FALSE, _BYTE, _DOUBLE, _LIST, _SET, _MAP = 2, 3, 7, 9, 10, 11
"""Types of fields; 4, 5 and 6 are numbers of 16, 32 and 64 bits."""

Kept = Mapping[int, Any]
"""The fields that are kept, by number: of a struct its own kept fields, of a number or a text its type."""
Fields = Mapping[int, Any]
"""The kept fields of a struct by number: whole numbers, texts as bytes, structs."""


class ParsedStruct(NamedTuple):
    """A parsed Thrift struct, and its size in bytes."""

    fields: Fields
    size: int


class TruncatedStruct(ValueError):
    """An error: the bytes end before the struct does."""


def parse(data: bytes, kept: Kept) -> ParsedStruct:
    """Return the kept fields of the Thrift struct at the start of `data`.

    Raises TruncatedStruct if it ends too early, ValueError if it is none.
    """
    cursor = ThriftCursor(data)
    return ParsedStruct(cursor.struct(kept), cursor.at)


@lru_cache(maxsize=1 << 12)
def number_of(varint: bytes) -> int:
    """Return the number with a sign that these bytes encode."""
    value = 0
    for byte in reversed(varint):
        value = value << 7 | byte & 0x7F
    return (value >> 1) ^ -(value & 1)


class ThriftCursor:
    """A position in bytes of Thrift. Each method returns what begins there, and moves to its end.

    Raises TruncatedStruct if the bytes end before, ValueError if they are no Thrift.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self._items = self._fields = 0

    def heads(self) -> Iterator[tuple[int, int]]:
        """Yield the number and the type of each field of a struct. The caller moves over the field's value."""
        number, found = 0, set[int]()
        while head := self._byte():
            number = _field(number + (head >> 4) if head >> 4 else self._integer())
            if number in found:
                raise ValueError("a field that is there twice")
            found.add(number)
            self._count_fields(1, len(found))
            yield number, head & 0x0F

    def items(self, kind: int) -> Iterator[None]:
        """Yield once for each struct of a list, whose field has the type `kind`. The caller moves over the struct."""
        size, item = self._list_head() if kind == _LIST else (0, 0)
        if item != STRUCT:
            raise ValueError("no list of structs where there must be one")
        self._count(size)
        for _ in range(size):
            yield

    def struct(self, kept: Kept) -> Fields:
        """Return the kept fields of a struct."""
        try:
            fields, self.at = self._struct(kept, self.at, 0)
        except IndexError:
            raise TruncatedStruct("the bytes end within a struct") from None
        return fields

    def skip(self, kind: int) -> None:
        """Move over a field's value of this type."""
        try:
            self.at = self._after(kind, self.at, 0)
        except IndexError:
            raise TruncatedStruct("the bytes end within a struct") from None

    def _struct(self, kept: Kept, at: int, depth: int) -> tuple[Fields, int]:
        data, fields, number, count = self.data, dict[int, Any](), 0, 0
        while head := data[at]:
            at, count = at + 1, count + 1
            self._count_fields(1, count)
            if head > 0x0F:
                number = _field(number + (head >> 4))
            else:
                value, at = _number(data, at)
                number = _field(_signed(value))
            if number not in kept:
                at = self._after(head & 0x0F, at, depth)
                continue
            if number in fields:
                raise ValueError("a field that is there twice")
            fields[number], at = self._value(head & 0x0F, at, kept[number], depth)
        return fields, at + 1

    def _value(self, kind: int, at: int, kept: Kept | int, depth: int) -> tuple[Any, int]:
        """Return a kept field's value, and the place after it. Arrow passes over a field of another type."""
        if kind != (kept if isinstance(kept, int) else STRUCT):
            raise ValueError("a field of another type than its own")
        if not isinstance(kept, int):
            _check_depth(depth)
            return self._struct(kept, at, depth + 1)
        value, start = _number(self.data, at)
        if kind == BINARY:
            self._check_end(start + value)
            return self.data[start : start + value], start + value
        if value >> _BITS[kind] + 1:
            raise ValueError("a number beyond its type")
        return _signed(value), start

    def _after(self, kind: int, at: int, depth: int) -> int:
        """Return the place after a value, or one that is beyond all bytes."""
        if 4 <= kind <= 6:
            return at + 1 if self.data[at] < 0x80 else _number(self.data, at)[1]
        if kind == BINARY:
            size, at = _number(self.data, at)
            return at + size
        if 1 <= kind <= _FALSE:
            return at
        _check_depth(depth)
        if kind == STRUCT:
            return self._after_struct(at, depth + 1)
        if kind in (_LIST, _SET):
            return self._after_list(at, depth + 1)
        if kind == _MAP:
            return self._after_map(at, depth + 1)
        if kind in (_BYTE, _DOUBLE):
            return at + (1 if kind == _BYTE else 8)
        raise ValueError("a type that Thrift does not know")

    def _after_struct(self, at: int, depth: int) -> int:
        data, count = self.data, 0
        while head := data[at]:
            kind, count = head & 0x0F, count + 1
            if count > MOST_FIELDS_OF_STRUCT:
                break
            at = at + 1 if head > 0x0F else _number(data, at + 1)[1]
            if 4 <= kind <= 6 and data[at] < 0x80:  # most fields: no call for each
                at += 1
            else:
                at = self._after(kind, at, depth)
        self._count_fields(count, count)
        return at + 1

    def _after_list(self, at: int, depth: int) -> int:
        size, kind, at = _list_head(self.data, at)
        if not 4 <= kind <= 6:
            self._count(size)
            return self._after_items(size, (kind,), at, depth)
        self._count_fields(size, 1)
        for _ in range(size):
            at = at + 1 if self.data[at] < 0x80 else _number(self.data, at)[1]
        return at

    def _after_map(self, at: int, depth: int) -> int:
        size, at = _number(self.data, at)
        if not size:
            return at
        self._count(size)
        return self._after_items(size, (self.data[at] >> 4, self.data[at] & 0x0F), at + 1, depth)

    def _after_items(self, size: int, kinds: tuple[int, ...], at: int, depth: int) -> int:
        for _ in range(size):
            for kind in kinds:
                # a boolean takes a byte in a list, none as a field
                at = at + 1 if 1 <= kind <= _FALSE else self._after(kind, at, depth)
            self._check_end(at)
        return at

    def _check_end(self, at: int) -> None:
        if at > len(self.data):
            raise TruncatedStruct("the bytes end within a value")

    def _count(self, size: int) -> None:
        """Count the items of a list, before any of them is read."""
        self._items += size
        if self._items > MOST_ITEMS:
            raise ValueError(f"more than {MOST_ITEMS} items in lists")

    def _count_fields(self, more: int, of_struct: int) -> None:
        """Count fields, the last ones of a struct that has so many so far."""
        self._fields += more
        if self._fields > MOST_FIELDS or of_struct > MOST_FIELDS_OF_STRUCT:
            raise ValueError("more fields than any footer has")

    def _list_head(self) -> tuple[int, int]:
        try:
            size, kind, self.at = _list_head(self.data, self.at)
        except IndexError:
            raise TruncatedStruct("the bytes end within a list") from None
        return size, kind

    def _byte(self) -> int:
        self._check_end(self.at + 1)
        self.at += 1
        return self.data[self.at - 1]

    def _integer(self) -> int:
        """Return a number with a sign."""
        try:
            value, self.at = _number(self.data, self.at)
        except IndexError:
            raise TruncatedStruct("the bytes end within a number") from None
        return _signed(value)


def _field(number: int) -> int:
    """Return the number of a field. Raises ValueError for one that no field can have."""
    if not 0 < number <= _LAST_FIELD:
        raise ValueError("a field with a number that none has")
    return number


def _check_depth(depth: int) -> None:
    if depth >= DEEPEST:
        raise ValueError(f"more than {DEEPEST} values in each other")


def _list_head(data: bytes, at: int) -> tuple[int, int, int]:
    """Return the number of items of a list, their type, and the place of the first."""
    head = data[at]
    if head >> 4 < 15:
        return head >> 4, head & 0x0F, at + 1
    size, at = _number(data, at + 1)
    return size, head & 0x0F, at


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return the number without a sign at a place, and the place after it."""
    byte = data[at]
    if byte < 0x80:
        return byte, at + 1
    value = byte & 0x7F
    for shift in range(7, 7 * LONGEST_NUMBER, 7):
        at += 1
        byte = data[at]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at + 1
    raise ValueError("a number of more than ten bytes")


def _signed(value: int) -> int:
    return (value >> 1) ^ -(value & 1)
