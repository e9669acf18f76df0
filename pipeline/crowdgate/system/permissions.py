"""Who may use what Crowdgate makes: permissions that no umask widens or narrows.

A folder that its group may write, with the setgid bit, is a team's: what is made there belongs to its group, and what
would be its maker's alone is the team's. Nothing private is ever for others.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Access:
    """Permission bits of folders and files, by themselves and in the folder of a team."""

    folder: int
    file: int
    team_folder: int
    team_file: int

    def folder_in(self, parent: Path) -> int:
        """The mode of a folder that is made in `parent`. Raises OSError."""
        return self.team_folder if is_shared(parent) else self.folder

    def file_in(self, parent: Path) -> int:
        """The mode of a file that is made in `parent`. Raises OSError."""
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
RELEASE = PUBLIC
PUBLIC_KEY = PUBLIC
AUDIT_RECORD = PUBLIC
KL_ENTRY = PUBLIC
DECISION = PUBLIC
PAGE = PUBLIC
WORKING_COPY = PUBLIC


def is_shared(folder: Path) -> bool:
    """Whether a folder is a team's: writable by its group, and setgid. Raises OSError."""
    mode = folder.stat().st_mode
    return bool(mode & stat.S_ISGID and mode & stat.S_IWGRP)


def make_folder(path: Path, access: Access) -> None:
    """A folder with its mode, whether it is new or there. Raises OSError."""
    mode = access.folder_in(path.parent)
    path.mkdir(mode & 0o777, exist_ok=True)
    if stat.S_IMODE(path.stat().st_mode) != mode:
        path.chmod(mode)


def make_folders(path: Path, access: Access) -> list[Path]:
    """A folder with all that lead to it: those that were missing, the outermost first. Others stay as they are.

    Raises OSError.
    """
    if path.is_dir():
        return []
    outer = make_folders(path.parent, access)
    make_folder(path, access)
    return [*outer, path]


def open_file(path: Path, flags: int, access: Access) -> int:
    """A handle on a file with its mode, made if it is missing. Raises OSError; then nothing is made."""
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
    """Gives a folder, and everything below it, its mode. Raises OSError."""
    make_folder(folder, access)
    for path in folder.iterdir():
        if path.is_dir():
            apply_modes(path, access)
        else:
            path.chmod(access.file_in(folder))
