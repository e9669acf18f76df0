"""A destination is tried out before anything is charged: a small folder goes the way of the release."""

import errno
import os
import shutil
from pathlib import Path

from crowdgate import modes
from crowdgate.disk import sync
from crowdgate.errors import EnvironmentFault
from crowdgate.publish.durable import faults, make_folder
from crowdgate.publish.locking import locked
from crowdgate.publish.names import SCRATCH, STAGING

PROBE = f"{SCRATCH}probe"
_BYTES = 4096


def probe(root: Path, destination: Path) -> None:
    """Write, sync and rename a folder from staging to where the release will lie, and remove it again.

    Raises EnvironmentFault where the destination is read-only, full, or on another file system than its staging folder.
    """
    with faults(root):
        make_folder(root)
        make_folder(root / STAGING, modes.STAGING)
        modes.make_folder(root / STAGING, modes.STAGING)
    ground = next(folder for folder in destination.parents if os.path.lexists(folder))
    with locked(root, PROBE) as staging:
        try:
            _try(staging / PROBE, ground / PROBE)
        except OSError as error:
            raise EnvironmentFault(f"{ground}: cannot publish there: {_why(error, staging)}") from None


def _try(source: Path, target: Path) -> None:
    _remove(source, target)  # of a run that was killed: who probes holds the lock
    try:
        modes.make_folder(source, modes.STAGING)
        with os.fdopen(modes.open_file(source / "file", os.O_WRONLY | os.O_EXCL, modes.STAGING), "wb") as file:
            file.write(bytes(_BYTES))
        sync(source / "file")
        sync(source)
        os.rename(source, target)
    finally:
        _remove(source, target)
    sync(target.parent)
    sync(source.parent)


def _remove(*folders: Path) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _why(error: OSError, staging: Path) -> str:
    if error.errno == errno.EXDEV:
        return f"it is on another file system than {staging}; expected no mount and no link to another disk below it"
    return error.strerror or "the destination can't be written"
