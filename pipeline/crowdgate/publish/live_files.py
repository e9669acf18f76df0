"""Files of the staging folder that belong to a running process: it holds a lock on each, which ends with the process.

A file that no process holds was left by a run that was killed. Files are held and judged under the destination's lock.
"""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

_HANDLES: dict[Path, int] = {}


def hold(path: Path) -> None:
    """Mark an existing file as used by this process, until `let_go` or the end of the process. Raises OSError."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    fcntl.flock(handle, fcntl.LOCK_SH)
    let_go(path)
    _HANDLES[path] = handle


def let_go(path: Path, close: Callable[[int], None] = os.close) -> None:
    """Give up this process's hold on a file, if it has one, by `close` of its handle."""
    handle = _HANDLES.pop(path, None)
    if handle is not None:
        close(handle)
