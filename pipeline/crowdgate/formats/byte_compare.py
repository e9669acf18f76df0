"""Comparison of a file with the output of a writer, while it is written, so memory does not grow with the file."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, cast

from crowdgate.system.regular_files import plain_file

Writer = Callable[[BinaryIO], None]
"""A function that writes a whole file; the same release gives the same bytes."""


class _Difference(Exception):
    pass


class _ComparingFile(io.RawIOBase):
    """A writable file that stores nothing: it compares what is written with another file, and raises at the first
    difference.
    """

    def __init__(self, other: BinaryIO) -> None:
        self.other = other
        self.place = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.place

    def write(self, data: object) -> int:
        written = bytes(data)  # type: ignore[call-overload]
        if self.other.read(len(written)) != written:
            raise _Difference
        self.place += len(written)
        return len(written)


def same(path: Path, write: Writer) -> bool:
    """Return whether the bytes that `write` writes are exactly those of the file at `path`."""
    with plain_file(path) as file:
        compared = _ComparingFile(file)
        try:
            write(cast(BinaryIO, compared))
        except _Difference:
            return False
        return not file.read(1)
