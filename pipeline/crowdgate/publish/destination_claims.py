"""Claims: the ledger that publishes a release at a destination, settled before any charge.

Ledgers do not know each other, and two of them may be about to publish under one id at one destination. The loser would
be charged and stay committed for ever. So a run takes a claim, a file of the staging folder that names its ledger,
before the charge, and only that ledger goes on. The claim is given back when nothing will be published and removed when
the release is. A run holds its claim until it ends; a later run of the same ledger removes that of a run that was
killed, unless its release is still to be moved into place.
"""

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from crowdgate.errors import CrowdgateError, EnvironmentFault
from crowdgate.publish.file_names import SCRATCH, STAGING
from crowdgate.publish.live_files import hold, let_go
from crowdgate.publish.locking import locked
from crowdgate.system import permissions
from crowdgate.system.abandoned_paths import is_abandoned
from crowdgate.system.fsync import fsync_path
from crowdgate.system.regular_files import plain_file, read_bounded

_END = ".claim"
_PART = f"{SCRATCH}claim"
_LEDGER = re.compile(r"([a-z0-9-]{1,40}-[0-9a-f]{8})\n")
_LONGEST = 64


def claim_file(root: Path, release_id: str) -> Path:
    """Return the path of the claim file for a release of the destination `root`."""
    return root / STAGING / f"{release_id.replace('/', '~')}{_END}"


def claim(root: Path, release_id: str, owner: str) -> None:
    """Claim a release for the ledger `owner`, on disk when this returns; an existing claim of this ledger is reused.

    Raises EnvironmentFault if another ledger has it, or it can't be written.
    """
    path = claim_file(root, release_id)
    with locked(root, release_id) as staging:
        if _holder(path) != owner:  # nothing is written twice: the disk may be full by now
            _link_claim(staging / _PART, path, root / release_id, owner)
        hold(path)
        fsync_path(staging)


def _link_claim(part: Path, path: Path, destination: Path, owner: str) -> None:
    if part.is_dir():
        raise EnvironmentFault(
            f"{part} is a folder where a run needs a file. No budget was charged. Remove this folder"
        )
    part.unlink(missing_ok=True)  # left by a killed run: the lock is held here
    try:
        _write_new(part, f"{owner}\n".encode())
        os.link(part, path)  # atomic, and never over another
    except FileExistsError:
        raise EnvironmentFault(_conflict_text(destination, path)) from None
    finally:
        part.unlink(missing_ok=True)


def give_back(root: Path, release_id: str, owner: str, needed: Callable[[], bool] = lambda: False) -> None:
    """Remove the claim of the ledger `owner` on a release, unless `needed()`, called under the lock, returns True.

    Never raises a CrowdgateError: a remaining claim hinders no run of its own ledger.
    """
    path = claim_file(root, release_id)
    if not os.path.lexists(path):
        return
    with suppress(CrowdgateError), locked(root, release_id) as staging:
        if _holder(path) == owner and not needed():
            let_go(path)
            path.unlink()
            fsync_path(staging)


def sweep_claims(staging: Path, owner: str, needed: Callable[[str], bool]) -> None:
    """Remove the claims of runs of the ledger `owner` that were killed, except of release ids that are `needed`. Raises
    OSError.
    """
    for path in staging.glob(f"*{_END}"):
        release_id = path.name.removesuffix(_END).replace("~", "/")
        if _holder(path) == owner and is_abandoned(path) and not needed(release_id):
            path.unlink()


def claimed_releases(root: Path, owner: str) -> list[str]:
    """Return the ids of the releases that the ledger `owner` has claimed at a destination, or of which it has staged
    files there.
    """
    claims = (path for path in (root / STAGING).glob(f"*{_END}") if _holder(path) == owner)
    staged = (path.name.removeprefix(f"{owner}~") for path in (root / STAGING).glob(f"{owner}~*"))
    names = [*(path.name.removesuffix(_END) for path in claims), *(name.removesuffix(".json") for name in staged)]
    return sorted({name.replace("~", "/") for name in names})


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
