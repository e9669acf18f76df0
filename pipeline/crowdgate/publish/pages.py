"""Pages for people, written as new files and never over existing ones."""

import os
from pathlib import Path

from crowdgate.errors import EnvironmentFault
from crowdgate.system import permissions


def write_page(path: Path, text: str, access: permissions.Access = permissions.PAGE) -> None:
    """Write a new file. Raises EnvironmentFault if it exists or can't be written: then no part of it is left."""
    try:
        handle = permissions.open_file(path, os.O_WRONLY | os.O_EXCL, access)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
        except BaseException:
            path.unlink()
            raise
    except OSError as error:
        raise EnvironmentFault(f"{path}: the page can't be written: {error.strerror}") from None
