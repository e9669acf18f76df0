"""A lock on files that all runs of a destination write, held for a moment by one run at a time."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crowdgate.errors import EnvironmentFault
from crowdgate.publish.file_names import STAGING
from crowdgate.system import permissions

BUSY_SECONDS = 30
"""Seconds that a run waits for others that write the same file; each of them takes milliseconds."""


@contextmanager
def locked(root: Path, name: str) -> Iterator[Path]:
    """Yield the staging folder of `root`, locked against others who write `name` below `root`."""
    staging = root / STAGING
    try:
        permissions.make_folder(staging, permissions.STAGING)
        handle = os.open(staging, os.O_RDONLY | os.O_CLOEXEC)
        try:
            _wait(handle, root / name)
            yield staging
        finally:
            os.close(handle)
    except OSError as error:
        raise EnvironmentFault(f"{root / name}: cannot be written: {error.strerror}") from None


def _wait(handle: int, target: Path) -> None:
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise EnvironmentFault(f"{target}: another run is writing it; try again") from None
            time.sleep(0.02)
