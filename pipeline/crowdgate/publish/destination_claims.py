"""Claims: the ledger that publishes a release at a destination, settled before any charge.

Ledgers do not know each other, and two of them may be about to publish under one id at one destination. The loser would
be charged and stay committed for ever. So a run takes a claim, a file of the staging folder that names its ledger,
before the charge, and only that ledger goes on. The claim is given back when nothing will be published and removed when
the release is. That of a crashed run stays with its ledger, whose later runs may continue with it.
"""

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from crowdgate.errors import CrowdgateError, EnvironmentFault
from crowdgate.publish.file_names import SCRATCH, STAGING
from crowdgate.publish.locking import locked
from crowdgate.system import permissions
from crowdgate.system.fsync import fsync_path
from crowdgate.system.regular_files import plain_file, read_bounded

_PART = f"{SCRATCH}claim"
_LEDGER = re.compile(r"([a-z0-9-]{1,40}-[0-9a-f]{8})\n")
_LONGEST = 64


def claim_file(root: Path, release_id: str) -> Path:
    """Return the path of the claim file for a release of the destination `root`."""
    return root / STAGING / f"{release_id.replace('/', '~')}.claim"


def claim(root: Path, release_id: str, owner: str) -> None:
    """Claim a release for the ledger `owner`, on disk when this returns; an existing claim of this ledger is reused.

    Raises EnvironmentFault if another ledger has it, or it can't be written.
    """
    path = claim_file(root, release_id)
    with locked(root, release_id) as staging:
        part = staging / _PART
        if part.is_dir():
            raise EnvironmentFault(
                f"{part} is a folder where a run needs a file. No budget was charged. Remove this folder"
            )
        part.unlink(missing_ok=True)  # left by a killed run: the lock is held here
        try:
            _write_new(part, f"{owner}\n".encode())
            os.link(part, path)  # atomic, and never over another
        except FileExistsError:
            if _holder(path) != owner:
                raise EnvironmentFault(_conflict_text(root / release_id, path)) from None
        finally:
            part.unlink(missing_ok=True)
        fsync_path(staging)


def give_back(root: Path, release_id: str, owner: str, needed: Callable[[], bool] = lambda: False) -> None:
    """Remove the claim of the ledger `owner` on a release, unless `needed()`, called under the lock, returns True.

    Never raises a CrowdgateError: a remaining claim hinders no run of its own ledger.
    """
    path = claim_file(root, release_id)
    if not os.path.lexists(path):
        return
    with suppress(CrowdgateError), locked(root, release_id) as staging:
        if _holder(path) == owner and not needed():
            path.unlink()
            fsync_path(staging)


def _write_new(path: Path, data: bytes) -> None:
    handle = permissions.open_file(path, os.O_WRONLY | os.O_EXCL, permissions.STAGING)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(handle)


def _holder(path: Path) -> str | None:
    """Return the id of the ledger that a claim file names; None for a file that names none."""
    try:
        with plain_file(path) as file:
            named = _LEDGER.fullmatch(read_bounded(file, _LONGEST).decode(errors="replace"))
    except OSError:
        return None
    return None if named is None else named[1]


def _conflict_text(destination: Path, path: Path) -> str:
    holder = _holder(path)
    whose = "a file that names no ledger" if holder is None else f"another ledger, {holder}"
    return (
        f"the destination {destination} is reserved by {whose}. No budget was charged. Use another slot or "
        "destination. "
        f"If that ledger's run is dead (see its `crowdgate ledger show`), remove {path}"
    )
