"""Folders for the temporary files of a run, beside its private records.

A run holds a lock on its folder, and removes the folder at its end. The lock ends with the process, so a folder that no
process holds was left by a run that was killed, and the next run removes it.
"""

import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from crowdgate.system import permissions
from crowdgate.system.abandoned_paths import is_abandoned
from crowdgate.system.atomic_file import locked_folder

_ENDED = "~ended"
_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW
"""A folder itself, and no link to one."""


@contextmanager
def temporary_folder(parent: Path, prefix: str, access: permissions.Access) -> Iterator[Path]:
    """Yield a new folder in `parent`, whose name begins with `prefix`, and remove it afterwards. Raises OSError."""
    folder = parent / f"{prefix}{secrets.token_hex(8)}"
    with locked_folder(parent):  # a sweep finds the folder locked, or not at all
        permissions.make_folder(folder, access)
        handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield folder
    finally:
        _remove(folder)
        os.close(handle)


def sweep_temporary_folders(parent: Path, prefix: str) -> None:
    """Remove the folders of killed runs. Never raises: a folder that can't be removed now is left to a later run."""
    with suppress(OSError), locked_folder(parent):
        for folder in parent.glob(f"{prefix}*"):
            if is_abandoned(folder, _FOLDER):
                _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a folder, in which other processes may still make files. What can't be removed is left to a later run."""
    away = folder.with_name(f"{folder.name}{_ENDED}")
    with suppress(OSError):
        folder.rename(away)  # from now on, nothing can be made in it
    for each in (away, folder):
        shutil.rmtree(each, ignore_errors=True)
