"""Bounded reading of regular files that a person can name: policies, contracts, keys, tables, releases.

Other kinds of files are refused before their first byte, and files above their bound before they are read. So no file
blocks the process or fills its memory.
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
"""The beginning of a URL, also as a path, which merges two slashes."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+._-]+:")
"""A path part that only a URL joined to a path leaves, such as `s3:` of `home / "s3://bucket/x"`."""
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
}


def is_url(text: str) -> bool:
    """Return whether a text that should name a file or folder is a URL, such as `s3://bucket/x`, which is unsupported.

    A colon alone makes no URL.
    """
    return re.match(URL, text) is not None


def holds_url(path: Path) -> bool:
    """Return whether a path is a URL, or was joined from a folder and a URL: `home/s3:/bucket/x`."""
    return is_url(str(path)) or any(_SCHEME.fullmatch(part) for part in path.parts[:-1])


def is_absent(path: Path) -> bool:
    """Return whether nothing exists at `path`, not even a broken link. Raises OSError if that can't be checked."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    return False


@contextmanager
def plain_file(path: Path | str) -> Iterator[BufferedReader]:
    """Open the regular file at `path`, following links, without waiting for a writer.

    Raises OSError, also for other kinds of files, with their description as `strerror`.
    """
    with os.fdopen(_opened(path), "rb") as file:
        yield file


@contextmanager
def plain_descriptor(path: Path | str) -> Iterator[int]:
    """Open a file as `plain_file` does, as a descriptor for `os.pread`."""
    handle = _opened(path)
    try:
        yield handle
    finally:
        os.close(handle)


def _opened(path: Path | str) -> int:
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        raise OSError(errno.EINVAL, f"{_KINDS.get(stat.S_IFMT(mode), 'something else')}, not a regular file")
    return handle


def read_bounded(file: BufferedReader, most: int) -> bytes:
    """Return all of a file of at most `most` bytes. Raises OSError for a larger one, which is not read."""
    size = check_size(file, most)
    data = file.read(size + 1)  # `most` may be so large that setting it aside takes long
    if len(data) > size:
        data += file.read(most + 1 - len(data))
    if len(data) > most:
        raise _too_large(most)
    check_size(file, most)
    return data


def check_size(file: BufferedReader, most: int) -> int:
    """Return the size of a file in bytes. Raises OSError if it is larger than `most`."""
    size = os.fstat(file.fileno()).st_size
    if size > most:
        raise _too_large(most)
    return size


def _too_large(most: int) -> OSError:
    return OSError(errno.EFBIG, f"larger than {_size(most)}")


def read_plain(path: Path | str, most: int) -> bytes:
    """Return all bytes of the regular file at `path`. Raises OSError for another kind of file, or one of more than
    `most` bytes.
    """
    with plain_file(path) as file:
        return read_bounded(file, most)


def _size(most: int) -> str:
    return f"{most >> 20} MiB" if most >> 20 else f"{most >> 10} KiB"
