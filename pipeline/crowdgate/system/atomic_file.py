"""Files that are replaced atomically: after a power cut the old one is there or the new one, whole."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crowdgate.system import permissions
from crowdgate.system.fsync import fsync_path


@contextmanager
def locked_folder(folder: Path) -> Iterator[int]:
    """Hold a folder's lock, under which processes replace its files; yields a handle on the folder. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle
    finally:
        os.close(handle)


def replace_file(path: Path, part: str, data: bytes, access: permissions.Access) -> None:
    """Write a file in an existing folder, on disk when this returns. `part` is the name that it has there meanwhile.

    The caller holds the lock under which that name is used, so a file there is left by a killed run. Raises OSError.
    """
    made = path.with_name(part)
    made.unlink(missing_ok=True)
    try:
        handle = permissions.open_file(made, os.O_WRONLY | os.O_EXCL, access)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        os.replace(made, path)
        fsync_path(path.parent)
    except BaseException:
        made.unlink(missing_ok=True)
        raise
