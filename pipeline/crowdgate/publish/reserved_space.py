"""Disk space at a destination that is reserved for a release before it is charged, and given up while it is written.

The space is a file of the staging folder with allocated blocks. If the disk is full while the release is written, the
file is shortened by as much as is needed.
"""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from crowdgate.errors import EnvironmentFault
from crowdgate.publish.file_names import SCRATCH, STAGING
from crowdgate.publish.live_files import hold, let_go
from crowdgate.publish.locking import locked
from crowdgate.system import permissions
from crowdgate.system.abandoned_paths import is_abandoned

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

SPACE = f"{SCRATCH}space~"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Error numbers of an operating system for a file that can't grow."""
_CHUNK = 1 << 16
_AT_ONCE = 1 << 28
"""Bytes that are given up at once: more than a ledger and a private record need."""
Shrink = Callable[[int], bool]
"""A function that gives up at least so many bytes of reserved space, and returns whether there were any."""


def space_file(root: Path, release_id: str, owner: str) -> Path:
    """Return the path of the space that the ledger `owner` reserves for a release of the destination `root`."""
    return root / STAGING / f"{SPACE}{owner}~{release_id.replace('/', '~')}"


def reserve_space(root: Path, release_id: str, owner: str, size: int) -> None:
    """Reserve `size` bytes for a release. Raises EnvironmentFault if the disk has less."""
    path = space_file(root, release_id, owner)
    with locked(root, release_id):
        try:
            handle = permissions.open_file(path, os.O_WRONLY, permissions.STAGING)
            try:
                _allocate(handle, size)
                os.fsync(handle)
            finally:
                os.close(handle)
            hold(path)
        except OSError as error:
            path.unlink(missing_ok=True)
            if error.errno not in FULL:
                raise
            raise EnvironmentFault(_full_text(root, size)) from None


def _full_text(root: Path, size: int) -> str:
    needed = f"the release may take up to {size:,} bytes, by public bounds alone, and there is less"
    return f"{root}: {needed}; nothing was charged; free some space, or state the contract's rowsAtMost if it is lower"


def _allocate(handle: int, size: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(handle, 0, size)
        return
    for _ in range(-(-size // _CHUNK)):
        os.write(handle, bytes(_CHUNK))


def shrinking(root: Path, release_id: str, owner: str) -> Shrink:
    """Return the function that gives up space reserved for a release."""
    path = space_file(root, release_id, owner)

    def shrink(size: int) -> bool:
        try:
            left = path.stat().st_size
            os.truncate(path, max(0, left - max(size, _CHUNK)))
        except OSError:
            return False
        return left > 0

    return shrink


def free_space(root: Path, release_id: str, owner: str) -> None:
    """Give up all space that is reserved for a release: some at once, for the ledger and the private record, and the
    rest meanwhile, as a disk can take a second for 50 GB. Never raises.
    """
    path = space_file(root, release_id, owner)
    shrinking(root, release_id, owner)(_AT_ONCE)
    with suppress(OSError):
        path.unlink()  # its blocks are free once its last handle is closed
    with suppress(OSError):
        let_go(path, _close_meanwhile)


def _close_meanwhile(handle: int) -> None:
    try:
        Thread(target=os.close, args=(handle,)).start()
    except RuntimeError:  # the system has no thread left
        os.close(handle)


def sweep_space(staging: Path, owner: str) -> None:
    """Remove the space of runs of the ledger `owner` that were killed. Raises OSError."""
    for path in staging.glob(f"{SPACE}{owner}~*"):
        if is_abandoned(path):
            path.unlink()


class SpacedFile(io.FileIO):
    """A new file that, if the disk is full, grows at the expense of reserved space."""

    def __init__(self, path: Path, shrink: Shrink) -> None:
        super().__init__(path, "wb")
        self._shrink = shrink

    def write(self, data: ReadableBuffer) -> int:
        """Write bytes, and return how many were written. Raises OSError if no reserved space is left."""
        while True:
            try:
                return super().write(data)
            except OSError as error:
                if error.errno not in FULL or not self._shrink(memoryview(data).nbytes):
                    raise
