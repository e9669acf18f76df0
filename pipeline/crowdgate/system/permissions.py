"""Permissions of files that Crowdgate makes, independent of the umask.

A folder with group write permission and the setgid bit is a team's: files in it belong to its group, and files that
would be private to their owner are private to the team. Private files are never readable by others.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Access:
    """Permission bits of new folders and files: outside a team's folder, and inside one."""

    folder: int
    file: int
    team_folder: int
    team_file: int

    def folder_in(self, parent: Path) -> int:
        """Return the mode of a folder that is made in `parent`. Raises OSError."""
        return self.team_folder if is_shared(parent) else self.folder

    def file_in(self, parent: Path) -> int:
        """Return the mode of a file that is made in `parent`. Raises OSError."""
        return self.team_file if is_shared(parent) else self.file


OWNERS = Access(0o700, 0o600, 0o700, 0o600)
PRIVATE = Access(0o700, 0o600, 0o2770, 0o660)
PUBLIC = Access(0o755, 0o644, 0o2775, 0o644)

LEDGER = PRIVATE
"""SQLite gives its -wal and -shm the mode of the ledger's file."""
PRIVATE_RECORD = PRIVATE
PRIVATE_PAGE = OWNERS
STORED_FIGURES = OWNERS
SIGNING_KEY = OWNERS
STAGING = PRIVATE
SPILLED = PRIVATE
RELEASE = PUBLIC
PUBLIC_KEY = PUBLIC
AUDIT_RECORD = PUBLIC
KL_ENTRY = PUBLIC
DECISION = PUBLIC
PAGE = PUBLIC
WORKING_COPY = PUBLIC
EVENT_LOG = PRIVATE
METRICS = PUBLIC


def is_shared(folder: Path) -> bool:
    """Return whether a folder is a team's: writable by its group, and setgid. Raises OSError."""
    mode = folder.stat().st_mode
    return bool(mode & stat.S_ISGID and mode & stat.S_IWGRP)


def make_folder(path: Path, access: Access) -> None:
    """Make a folder, or use an existing one, and set its mode. Raises OSError."""
    mode = access.folder_in(path.parent)
    path.mkdir(mode & 0o777, exist_ok=True)
    if stat.S_IMODE(path.stat().st_mode) != mode:
        path.chmod(mode)


def make_folders(path: Path, access: Access) -> list[Path]:
    """Make a folder with its parents, and return the new ones, outermost first. Existing ones stay unchanged.

    Raises OSError.
    """
    if path.is_dir():
        return []
    outer = make_folders(path.parent, access)
    make_folder(path, access)
    return [*outer, path]


def open_file(path: Path, flags: int, access: Access) -> int:
    """Return a handle on a file with its mode, made if it is missing. Raises OSError; then nothing is made."""
    mode = access.file_in(path.parent)
    handle = os.open(path, flags | os.O_CREAT | os.O_CLOEXEC, mode)
    try:
        if stat.S_IMODE(os.fstat(handle).st_mode) != mode:
            os.fchmod(handle, mode)
    except BaseException:
        os.close(handle)
        if flags & os.O_EXCL:
            path.unlink()
        raise
    return handle


def apply_modes(folder: Path, access: Access) -> None:
    """Set the modes of a folder and of everything below it to those of `access`. Raises OSError."""
    make_folder(folder, access)
    for path in folder.iterdir():
        if path.is_dir():
            apply_modes(path, access)
        else:
            path.chmod(access.file_in(folder))
