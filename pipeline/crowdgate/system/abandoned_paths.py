"""Files and folders of killed runs: a running process holds a lock on each of its own, which ends with the process."""

import fcntl
import os
from pathlib import Path


def is_abandoned(path: Path, flags: int = 0) -> bool:
    """Return whether no process holds a file or folder; False for one that can't be opened with these flags of `os`."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | flags)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True
