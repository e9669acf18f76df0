"""The sizes that batches of an Arrow IPC file or stream have in memory, by their messages' metadata (FlatBuffers).

Arrow allocates what a compressed buffer states of its own size, so a small file can fill the memory. Only metadata and
these statements are read here: the first eight bytes of each compressed buffer.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from crowdgate.errors import FileFault
from crowdgate.limits import LARGEST_BATCH, LARGEST_FOOTER
from crowdgate.sources.arrow_schema import MAGIC
from crowdgate.sources.locations import Location, opened

_END = b"ARROW1"
_CONTINUED = -1
"""The number before the size of a message, in files since 2019."""
_HEADER_TYPE, _HEADER, _BODY_LENGTH = 1, 2, 3
_DICTIONARY, _BATCH = 2, 3
"""Types of messages with buffers."""
_ID, _DATA, _IS_DELTA = 0, 1, 2
_ROWS, _BUFFERS, _COMPRESSION = 0, 2, 3
_OLD_COMPRESSION = b"ARROW:experimental_compression"
"""The name under which files of 2020 state that buffers are compressed."""
_FOOTER_BLOCKS = (2, 3)
_BLOCK, _BUFFER = struct.Struct("<qi4xq"), struct.Struct("<qq")


def check_batches(path: Location) -> None:
    """Check that no batch of a file, with the dictionaries before it, is too large in memory. Raises FileFault; OSError
    without a file. What is truncated is left to the reader.
    """
    largest, is_damaged = 0, False
    with opened(path) as file:
        try:
            largest = _largest(_File(file, file.seek(0, os.SEEK_END)))
        except (struct.error, ValueError, OverflowError):
            is_damaged = True
    if is_damaged:
        raise FileFault(f"{path.name}: not a readable Arrow file: the metadata of a batch is damaged")
    if largest > LARGEST_BATCH:
        raise FileFault(
            f"{path.name}: a batch of rows has more than {LARGEST_BATCH >> 20} MiB decompressed: write smaller batches"
        )


class _File(NamedTuple):
    """An opened file and its size, for reading at any place that a message states."""

    content: Any
    size: int

    def read(self, at: int, length: int) -> bytes:
        """Return so many bytes from a place on, fewer at the end of the file."""
        if at < 0:
            raise ValueError("a place before the first byte")
        if at >= self.size:
            return b""
        self.content.seek(at)
        return bytes(self.content.read(min(length, self.size - at)))


class _Table(NamedTuple):
    """A table of FlatBuffers: the bytes, and where it begins among them."""

    data: bytes
    at: int

    def place(self, field: int) -> int | None:
        """Return where the value of a field is, None if it is not set."""
        vtable = self.at - self.read("<i", self.at)
        entry = 4 + 2 * field
        found = self.read("<H", vtable + entry) if entry < self.read("<H", vtable) else 0
        return self.at + found if found else None

    def number(self, field: int, form: str) -> int:
        """Return a field that is a number, 0 if it is not set."""
        place = self.place(field)
        return 0 if place is None else self.read(form, place)

    def table(self, field: int) -> _Table | None:
        """Return a field that is a table."""
        place = self.place(field)
        return None if place is None else _Table(self.data, place + self.read("<I", place))

    def structs(self, field: int, form: struct.Struct) -> Iterator[tuple[int, ...]]:
        """Yield the structs of a field that is a list of these."""
        place = self.place(field)
        if place is None:
            return
        start = place + self.read("<I", place)
        for at in range(self.read("<I", start)):
            yield form.unpack_from(self.data, start + 4 + form.size * at)

    def read(self, form: str, at: int) -> int:
        """Return the number at a place among the bytes."""
        if at < 0:
            raise ValueError("a place before the first byte")
        return int(struct.unpack_from(form, self.data, at)[0])


class _Message(NamedTuple):
    """A message: its metadata, and the place of its body in the file."""

    metadata: _Table
    body: int


def _largest(file: _File) -> int:
    """Return the most bytes that a batch and the dictionaries before it have together."""
    dictionaries: dict[int, int] = {}
    largest = 0
    for message in _messages(file):
        kind, header, size = message.metadata.number(_HEADER_TYPE, "<B"), message.metadata.table(_HEADER), 0
        if kind == _BATCH:
            size = _size(file, message, header)
        elif kind == _DICTIONARY and header is not None:
            name = header.number(_ID, "<q")
            before = dictionaries.get(name, 0) if header.number(_IS_DELTA, "<B") else 0
            dictionaries[name] = before + _size(file, message, header.table(_DATA))
        largest = max(largest, size + sum(dictionaries.values()))
    return largest


def _size(file: _File, message: _Message, batch: _Table | None) -> int:
    """Return the decompressed bytes of a batch's buffers, at least one for each row. Buffers that are not compressed
    are no larger than the file, and count as nothing.
    """
    if batch is None:
        return 0
    size = 0
    if batch.place(_COMPRESSION) is not None or _OLD_COMPRESSION in message.metadata.data:
        size = sum(_stated(file, message.body + at) for at, length in batch.structs(_BUFFERS, _BUFFER) if length)
    return max(size, batch.number(_ROWS, "<q"))


def _stated(file: _File, at: int) -> int:
    """Return the size that a compressed buffer states; 0 for one that is not compressed after all."""
    return max(0, int.from_bytes(file.read(at, 8), "little", signed=True))


def _messages(file: _File) -> Iterator[_Message]:
    """Yield the messages of a stream, or those that the footer of a file lists."""
    if file.read(0, len(MAGIC)) != MAGIC:
        yield from _stream(file)
        return
    for offset, metadata_length in _listed(file):
        found = _message(file, offset)
        if found is not None:
            yield found._replace(body=offset + metadata_length)


def _stream(file: _File) -> Iterator[_Message]:
    at = 0
    while (found := _message(file, at)) is not None:
        yield found
        at = found.body + max(0, found.metadata.number(_BODY_LENGTH, "<q"))


def _listed(file: _File) -> Iterator[tuple[int, int]]:
    """Yield where the dictionaries and batches of a file begin, and the sizes of their metadata, by its footer."""
    start = max(0, file.size - 4 - len(_END))
    tail = file.read(start, 4 + len(_END))
    length = int.from_bytes(tail[:4], "little", signed=True)
    if tail[4:] != _END or not 0 < length <= start:
        return  # truncated
    if length > LARGEST_FOOTER:
        raise ValueError("a footer that is too large")
    footer = _root(file.read(start - length, length))
    for field in _FOOTER_BLOCKS:
        yield from ((offset, length) for offset, length, _ in footer.structs(field, _BLOCK))


def _message(file: _File, at: int) -> _Message | None:
    """Return the message at a place; None at the end, and for a truncated one."""
    prefix = file.read(at, 8)
    if len(prefix) < 8:
        return None
    first, length = struct.unpack("<ii", prefix)
    start = at + 8
    if first != _CONTINUED:
        length, start = first, at + 4
    if length == 0:
        return None
    if not 0 < length <= LARGEST_FOOTER:
        raise ValueError("a message with more metadata than a footer may have")
    data = file.read(start, length)
    return _Message(_root(data), start + length) if len(data) == length else None


def _root(data: bytes) -> _Table:
    return _Table(data, struct.unpack_from("<I", data)[0])
