"""The subset of Thrift's compact protocol in Parquet's headers and footers: numbers, structs and lists of structs.

Texts, other lists, sets and maps are skipped, unless texts are wanted. No allocation depends on a stated length.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

DEEPEST = 20
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_INTEGERS = (4, 5, 6)

Fields = Mapping[int, Any]
"""The fields of a struct by number: whole numbers, structs, and lists of structs."""


class ParsedStruct(NamedTuple):
    """A parsed Thrift struct, and its size in bytes."""

    fields: Fields
    size: int


class TruncatedStruct(ValueError):
    """An error: the bytes end before the struct does."""


def parse(data: bytes) -> ParsedStruct:
    """Return the Thrift struct at the start of `data`.

    Raises TruncatedStruct if it ends too early, ValueError if it is none.
    """
    cursor = ThriftCursor(data)
    return ParsedStruct(cursor.struct(), cursor.at)


class ThriftCursor:
    """A position in bytes of Thrift. Each method returns what begins there, and moves to its end. With `texts`, values
    of type text are returned as bytes.
    """

    def __init__(self, data: bytes, *, texts: bool = False) -> None:
        self.data = data
        self.texts = texts
        self.at = 0
        self.depth = 0

    def byte(self) -> int:
        """Return one byte."""
        if self.at >= len(self.data):
            raise TruncatedStruct("the bytes end within a struct")
        self.at += 1
        return self.data[self.at - 1]

    def varint(self) -> int:
        """Return a number without a sign."""
        value = 0
        for at, byte in enumerate(self.data[self.at : self.at + 10]):  # many bytes: no call for each
            value |= (byte & 0x7F) << 7 * at
            if byte < 0x80:
                self.at += at + 1
                return value
        if len(self.data) - self.at < 10:
            raise TruncatedStruct("the bytes end within a struct")
        raise ValueError("a number of more than ten bytes")

    def integer(self) -> int:
        """Return a number with a sign."""
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def heads(self) -> Iterator[tuple[int, int]]:
        """Yield the number and the type of each field of a struct. The caller moves over the field's value."""
        number = 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.integer()
            yield number, head & 0x0F

    def struct(self) -> Fields:
        """Return the fields of a struct."""
        fields: dict[int, Any] = {}
        for number, kind in self.heads():
            if number in fields:
                raise ValueError("a field that is there twice")
            value = self.value(kind)
            if value is not None:
                fields[number] = value
        return fields

    def items(self) -> Iterator[None]:
        """Yield once for each struct of a list. The caller moves over the struct."""
        size, kind = self._list_head()
        if kind != _STRUCT:
            raise ValueError("no list of structs where there must be one")
        for _ in range(size):
            yield

    def value(self, kind: int) -> Any:
        """Return a field's value; None if its type is skipped."""
        if kind in (_TRUE, _FALSE):
            return int(kind == _TRUE)
        if kind in _INTEGERS:
            return self.integer()
        self.depth += 1
        if self.depth > DEEPEST:
            raise ValueError(f"more than {DEEPEST} values in each other")
        found: Any = None
        if kind == _STRUCT:
            found = self.struct()
        elif kind == _LIST:
            found = self.list()
        elif kind == _BINARY and self.texts:
            found = self.text()
        else:
            self.skip(kind)
        self.depth -= 1
        return found

    def text(self) -> bytes:
        """Return a text."""
        size = self.varint()
        self.move(size)
        return self.data[self.at - size : self.at]

    def skip(self, kind: int) -> None:
        """Move over a value of a type that is skipped."""
        if kind == _SET:
            self.list()
        elif kind == _MAP:
            self.skip_map()
        elif kind in (_BYTE, _DOUBLE, _BINARY):
            self.move({_BYTE: 1, _DOUBLE: 8}.get(kind) or self.varint())
        else:
            raise ValueError("a type that Thrift does not know")

    def list(self) -> Any:
        """Return a list of structs; None for another list."""
        size, kind = self._list_head()
        if kind == _STRUCT:
            return [self.value(kind) for _ in range(size)]
        self.skip_items(size, [kind])
        return None

    def _list_head(self) -> tuple[int, int]:
        head = self.byte()
        return head >> 4 if head >> 4 < 15 else self.varint(), head & 0x0F

    def skip_map(self) -> None:
        """Move over a map."""
        size = self.varint()
        if size:
            head = self.byte()
            self.skip_items(size, [head >> 4, head & 0x0F])

    def skip_items(self, size: int, kinds: Sequence[int]) -> None:
        """Move over this number of items, each of values of these types."""
        for _ in range(size):
            for kind in kinds:
                if kind in (_TRUE, _FALSE):
                    self.byte()  # a boolean takes a byte in a list, none as a field
                else:
                    self.value(kind)

    def move(self, size: int) -> None:
        """Move over this number of bytes."""
        if size > len(self.data) - self.at:
            raise TruncatedStruct("the bytes end within a text")
        self.at += size
