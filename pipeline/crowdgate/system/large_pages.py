"""Reading of a large file into large pages of memory. With small ones most of the time goes into setting them aside."""

import mmap
from contextlib import suppress
from pathlib import Path

from crowdgate.system.regular_files import check_size, plain_file

_PAGE = 1 << 21
"""Bytes of a large page on most machines. The memory is a multiple of it, so the file may end in a large page."""


def read_in_large_pages(path: Path, most: int) -> memoryview:
    """Return all bytes of the regular file at `path`. Raises OSError for another kind of file, or one of more than
    `most` bytes.
    """
    with plain_file(path) as file:
        size = check_size(file, most)
        memory = mmap.mmap(-1, max(1, -(-size // _PAGE)) * _PAGE, access=mmap.ACCESS_COPY)
        with suppress(AttributeError, OSError):  # a system without large pages
            memory.madvise(mmap.MADV_HUGEPAGE)
        read = file.readinto(memoryview(memory)[:size])
        return memoryview(memory)[:read].toreadonly()
