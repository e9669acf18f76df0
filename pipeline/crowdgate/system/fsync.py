"""What is on the disk when a call returns."""

import os
from pathlib import Path


def fsync_path(path: Path) -> None:
    """Put a file or a folder on disk. A file is found again when its folder is on disk as well. Raises OSError."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
