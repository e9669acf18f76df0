"""A folder of public figures that can all be worked out again, each in a file named by a digest of its origin.

A file that is unreadable, damaged, another's, or writable by others counts as missing. Nothing here raises OSError:
where nothing can be stored, nothing is.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdgate.ledger.private import put_private
from crowdgate.limits import LARGEST_STORED_FIGURES, MOST_STORED_BYTES, MOST_STORED_FIGURES
from crowdgate.system import permissions
from crowdgate.system.regular_files import plain_file, read_bounded

SUFFIX = ".json"
OTHERS = stat.S_IWGRP | stat.S_IWOTH
"""Permission bits that let the group or all users write a file."""


@dataclass(frozen=True)
class FigureFolder:
    """A folder of at most MOST_STORED_FIGURES files, of at most MOST_STORED_BYTES bytes together; the oldest are
    deleted first."""

    path: Path

    def read(self, key: str) -> Any:
        """Return the value that was stored under a key (a SHA-256 digest, in hexadecimal); None if its file is missing,
        damaged, or not this user's alone."""
        try:
            if not _is_own(self.path.lstat()):
                return None
            with plain_file(self._file(key)) as file:
                if not _is_own(os.fstat(file.fileno())):
                    return None
                stored = json.loads(read_bounded(file, LARGEST_STORED_FIGURES))
            value = stored["value"]
            return value if stored["seal"] == _seal(key, value) else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def write(self, key: str, value: Any) -> None:
        """Store a value (in the types of JSON) under a key, completely or not at all. A value of more than
        LARGEST_STORED_FIGURES bytes is not stored."""
        data = json.dumps({"seal": _seal(key, value), "value": value}).encode()
        if len(data) > LARGEST_STORED_FIGURES:
            return
        with suppress(OSError):  # plan needs no folder
            if self._make():
                put_private(self._file(key), data)
                self._drop_oldest()

    def _file(self, key: str) -> Path:
        return self.path / f"{key}{SUFFIX}"

    def _make(self) -> bool:
        """Make the folder if it is missing, and return True if it is this user's alone. Where others may write the
        parent folder, it is not made."""
        if not _is_own(self.path.parent.lstat()):
            return False
        if not os.path.lexists(self.path):
            permissions.make_folder(self.path, permissions.STORED_FIGURES)
        return _is_own(self.path.lstat())

    def _drop_oldest(self) -> None:
        left = MOST_STORED_BYTES
        for number, (path, size) in enumerate(self._newest_first()):
            left -= size
            if number >= MOST_STORED_FIGURES or left < 0:
                path.unlink(missing_ok=True)

    def _newest_first(self) -> Iterator[tuple[Path, int]]:
        found = []
        for path in self.path.glob(f"*{SUFFIX}"):
            with suppress(FileNotFoundError):  # another process dropped it
                state = path.lstat()
                found.append((state.st_mtime_ns, path, state.st_size))
        for _, path, size in sorted(found, reverse=True):
            yield path, size


def _is_own(state: os.stat_result) -> bool:
    """Return True if a file or folder is no link, belongs to this user, and nobody else may write it."""
    return not stat.S_ISLNK(state.st_mode) and state.st_uid == os.geteuid() and not state.st_mode & OTHERS


def _seal(key: str, value: Any) -> str:
    """Return the SHA-256 of the key and the value, in hexadecimal: a damaged or renamed file does not match it."""
    return hashlib.sha256(f"{key}{json.dumps(value, sort_keys=True)}".encode()).hexdigest()
