"""File permissions of a ledger: its owner or a team, by the mode of its folder (see `permissions`).

Write access to the folder allows replacing the ledger, so the folder counts as much as the file.
"""

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crowdgate.errors import EnvironmentFault
from crowdgate.system import permissions

_OTHERS = stat.S_IRWXO


@contextmanager
def team_folder(folder: Path) -> Iterator[None]:
    """Give a folder to its group, for a ledger that the block creates in it; restore the folder if the block fails.

    The folder must be empty or already a team's, since other files in it were made for others. Raises EnvironmentFault.
    """
    try:
        before, empty = stat.S_IMODE(folder.stat().st_mode), not any(folder.iterdir())
        if before != permissions.LEDGER.team_folder:
            _take(folder, empty)
    except OSError as error:
        raise EnvironmentFault(f"{folder}: this folder can't be shared with its group: {error.strerror}") from None
    try:
        yield
    except BaseException:
        folder.chmod(before)
        raise


def _take(folder: Path, empty: bool) -> None:
    wanted = permissions.LEDGER.team_folder
    if not empty:
        raise EnvironmentFault(
            f"{folder}: this folder holds other files and is not shared with its group; expected an empty "
            f"folder, or `chmod {wanted:o}`"
        )
    folder.chmod(wanted)
    if not permissions.is_shared(folder):  # the system drops the setgid bit if the user is not in the group
        raise EnvironmentFault(f"{folder}: it belongs to a group that you are not in; `chgrp` it to your team's")


def refuse_others(file: Path) -> None:
    """Raise EnvironmentFault if others than the owner and a group may use or replace a ledger."""
    folder = file.parent
    try:
        inside, around = (stat.S_IMODE(path.stat().st_mode) for path in (file, folder))
    except OSError as error:
        raise EnvironmentFault(f"the ledger {file} can't be opened: {error.strerror}") from None
    if inside & _OTHERS:
        raise EnvironmentFault(
            f"the ledger {file} is open to every user of this machine (mode {inside:04o}). Run `chmod o-rwx {file}`"
        )
    if around & (_OTHERS if permissions.is_shared(folder) else stat.S_IWOTH):
        expected = (
            f"{permissions.LEDGER.folder:o}, or {permissions.LEDGER.team_folder:o} for a team: `chmod o-rwx {folder}`"
        )
        raise EnvironmentFault(
            f"the ledger's folder {folder} is open to every user of this machine (mode {around:04o}); expected "
            f"mode {expected}"
        )
