"""Files that a person can name: policies, contracts, keys, tables, releases. None hangs us or fills the memory.

What is no regular file is refused before its first byte, and what is larger than its bound before it is read.
"""

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

URL = r"\s*(?:[A-Za-z][A-Za-z0-9+._-]+:/|[A-Za-z]?://)"
"""How a URL begins, also as a path, which has no two slashes in a row."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+._-]+:")
"""A folder that only a URL after another path leaves behind, such as `s3:` of `home / "s3://bucket/x"`."""
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
}


def is_url(text: str) -> bool:
    """Whether a text that should name a file or folder is a URL, such as `s3://bucket/x`, which nothing here reads or
    writes. A colon alone makes none."""
    return re.match(URL, text) is not None


def holds_url(path: Path) -> bool:
    """Whether a path is a URL, or was joined from a folder and a URL: `home/s3:/bucket/x`."""
    return is_url(str(path)) or any(_SCHEME.fullmatch(part) for part in path.parts[:-1])


def is_absent(path: Path) -> bool:
    """Whether nothing lies at `path`, not even a link to nothing. Raises OSError where that can't be seen."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    return False


@contextmanager
def plain_file(path: Path) -> Iterator[BufferedReader]:
    """Open the regular file at `path`, or at the end of its links, without waiting for a writer.

    Raises OSError, also for what is no regular file, with words for it as `strerror`.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        raise OSError(errno.EINVAL, f"{_KINDS.get(stat.S_IFMT(mode), 'something else')}, not a regular file")
    with os.fdopen(handle, "rb") as file:
        yield file


def read_bounded(file: BufferedReader, most: int) -> bytes:
    """Return all of a file of at most `most` bytes. Raises OSError for a larger one, which is not read."""
    data = b"" if os.fstat(file.fileno()).st_size > most else file.read(most + 1)
    if len(data) > most or os.fstat(file.fileno()).st_size > most:
        raise OSError(errno.EFBIG, f"larger than {_size(most)}")
    return data


def read_plain(path: Path, most: int) -> bytes:
    """Return all of the regular file at `path`, of at most `most` bytes. Raises OSError as the two above."""
    with plain_file(path) as file:
        return read_bounded(file, most)


def _size(most: int) -> str:
    return f"{most >> 20} MiB" if most >> 20 else f"{most >> 10} KiB"
