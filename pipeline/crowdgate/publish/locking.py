"""One run at a time, for the moment that it takes to write what all runs of a destination write."""

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
"""How long a run waits for others that write the same thing, which takes each of them milliseconds."""


@contextmanager
def locked(root: Path, name: str) -> Iterator[Path]:
    """The folder where what is published is staged, locked against others who write `name` below `root`."""
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
