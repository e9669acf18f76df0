"""Syncing files and folders to disk."""

import os
from pathlib import Path


def fsync_path(path: Path) -> None:
    """Sync a file or a folder to disk. A file is found after a crash only if its folder is synced as well. Raises
    OSError.
    """
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
