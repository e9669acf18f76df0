"""Trial publication: before any charge, a small folder is published and removed at the destination."""

import errno
import os
import shutil
from pathlib import Path

from crowdgate.errors import EnvironmentFault
from crowdgate.publish.file_names import SCRATCH, STAGING
from crowdgate.publish.fsync_rename import faults, make_folder
from crowdgate.publish.locking import locked
from crowdgate.system import permissions
from crowdgate.system.fsync import fsync_path

PROBE = f"{SCRATCH}probe"
_BYTES = 4096


def probe(root: Path, destination: Path) -> None:
    """Write, sync and rename a folder from staging to the release's destination, and remove it again.

    Raises EnvironmentFault if the destination is read-only, full, or on another file system than its staging folder.
    """
    with faults(root):
        make_folder(root)
        make_folder(root / STAGING, permissions.STAGING)
        permissions.make_folder(root / STAGING, permissions.STAGING)
    ground = next(folder for folder in destination.parents if os.path.lexists(folder))
    with locked(root, PROBE) as staging:
        try:
            _try(staging / PROBE, ground / PROBE)
        except OSError as error:
            raise EnvironmentFault(f"{ground}: cannot publish there: {_why(error, staging)}") from None


def _try(source: Path, target: Path) -> None:
    _remove(source, target)  # left by a killed run: the lock is held here
    try:
        permissions.make_folder(source, permissions.STAGING)
        with os.fdopen(
            permissions.open_file(source / "file", os.O_WRONLY | os.O_EXCL, permissions.STAGING), "wb"
        ) as file:
            file.write(bytes(_BYTES))
        fsync_path(source / "file")
        fsync_path(source)
        os.rename(source, target)
    finally:
        _remove(source, target)
    fsync_path(target.parent)
    fsync_path(source.parent)


def _remove(*folders: Path) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _why(error: OSError, staging: Path) -> str:
    if error.errno == errno.EXDEV:
        return f"it is on another file system than {staging}; expected no mount and no link to another disk below it"
    return error.strerror or "the destination can't be written"
