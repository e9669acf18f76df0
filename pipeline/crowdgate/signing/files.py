"""Small files that may come from anywhere: keys, envelopes. Nothing that is read here hangs or fills the memory."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path


@contextmanager
def plain_file(path: Path) -> Iterator[BufferedReader]:
    """The plain file at `path`, opened without waiting for a writer. Raises OSError, for anything else too."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "no plain file")
    with os.fdopen(handle, "rb") as file:
        yield file


def bounded(file: BufferedReader, most: int) -> bytes:
    """All of a file of at most `most` bytes. Raises OSError for a larger one."""
    data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"larger than {most >> 10} KiB")
    return data
