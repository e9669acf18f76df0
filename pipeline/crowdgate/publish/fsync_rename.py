"""Folders and files that survive a power failure."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crowdgate.errors import EnvironmentFault
from crowdgate.system import permissions
from crowdgate.system.fsync import fsync_path


def make_folder(path: Path, access: permissions.Access = permissions.RELEASE) -> None:
    """Make a folder on disk, with all parents: each is synced into its parent before anything is made in it.

    An existing folder is synced as well, since a killed run may have made it. Raises OSError.
    """
    if not path.is_dir():
        make_folder(path.parent)
        permissions.make_folder(path, access)
    if os.access(path.parent, os.R_OK | os.W_OK):  # without write access no run has made anything
        fsync_path(path.parent)


@contextmanager
def faults(place: Path) -> Iterator[None]:
    """Translate errors of the operating system that the block raises into EnvironmentFault."""
    try:
        yield
    except OSError as error:
        raise EnvironmentFault(f"{place}: cannot publish there: {error.strerror or 'the destination exists'}") from None
