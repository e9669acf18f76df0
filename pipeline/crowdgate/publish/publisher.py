"""Publishing: stage privately, sync, rename. Nothing half-written is ever published, nothing there is replaced."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ConfigDict

from crowdgate import manifest, modes
from crowdgate.disk import sync
from crowdgate.errors import EnvironmentFault, LedgerRefused
from crowdgate.files import plain_file, read_plain
from crowdgate.limits import LARGEST_MANIFEST
from crowdgate.manifest import FileSaid
from crowdgate.manifest.values import Said
from crowdgate.publish.durable import faults, make_folder
from crowdgate.publish.names import SCRATCH, SIGNED, STAGING

if TYPE_CHECKING:
    from crowdgate.formats.written import Writer


@dataclass(frozen=True)
class Staged:
    """A complete release that nobody but its owner can see yet."""

    folder: Path
    manifest_digest: str
    lock: int | None = None


def check_free(destination: Path) -> None:
    """Raises EnvironmentFault when something lies at the destination."""
    if os.path.lexists(destination):
        raise EnvironmentFault(f"{destination} exists already and is not replaced; use another slot or destination")


def sweep(root: Path, owner: str, kept: Callable[[], Container[str]]) -> None:
    """Remove what killed runs of one ledger left: nobody holds its lock, and the ledger committed to nothing of it."""
    with faults(root):
        for folder in (root / STAGING).glob(f"{owner}~*"):
            lock = _lock(folder)
            if lock is not None:
                if folder.name not in kept():  # asked under the lock: its run may have committed until now
                    shutil.rmtree(folder)
                os.close(lock)


def stage(
    folder: Path,
    slot: str,
    writers: Mapping[str, Writer],
    seal: Callable[[Mapping[str, FileSaid]], Mapping[str, bytes]],
) -> Staged:
    """Write the files, then the manifest that `seal` makes of their digests, and what it makes of that; sync all."""
    with faults(folder.parent):
        if folder.exists():
            shutil.rmtree(folder)
        make_folder(folder)
        lock = _lock(folder)
        if lock is None:
            raise EnvironmentFault(f"{folder}: another run holds it")
        try:
            return Staged(folder, _fill(folder, slot, writers, seal), lock)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


def _fill(
    folder: Path,
    slot: str,
    writers: Mapping[str, Writer],
    seal: Callable[[Mapping[str, FileSaid]], Mapping[str, bytes]],
) -> str:
    for name, write in writers.items():
        with (folder / name).open("wb") as file:
            write(file)
    sealed = seal({name: described(folder / name) for name in writers})
    for name, data in sealed.items():
        (folder / name).write_bytes(data)
    for path in folder.iterdir():
        _settle(path, slot)
    sync(folder)
    return hashlib.sha256(sealed[manifest.NAME]).hexdigest()


def publish(staged: Staged, destination: Path) -> None:
    """Move a staged release to its place, at once. Refuses one whose key was not drawn from the operating system."""
    if not complete(staged.folder, staged.manifest_digest):
        raise EnvironmentFault(f"{destination}: its staged files are not what was committed; nothing is published")
    if _sealed_part(read_plain(staged.folder / manifest.NAME, LARGEST_MANIFEST)).key != "operating system":
        raise EnvironmentFault("this release was made with an injected key and is never published")
    with faults(destination):
        make_folder(destination.parent)
        if destination.is_symlink():
            raise FileExistsError
        os.rename(staged.folder, destination)  # fails on anything but nothing or an empty folder
    moved(destination, staged.folder.parent)
    if staged.lock is not None:
        os.close(staged.lock)


def moved(destination: Path, staging: Path) -> None:
    """Put on disk that the release lies at its destination, also of a run that was killed before it did."""
    with faults(destination):
        sync(destination.parent)
        sync(staging)


def recover(folder: Path, manifest_digest: str) -> Staged:
    """The staged bytes of a committed release. Raises LedgerRefused (lost) when they are gone or changed."""
    if not complete(folder, manifest_digest):
        raise LedgerRefused("the release was committed but its staged files are lost; use a new slot", "lost")
    return Staged(folder, manifest_digest)


def complete(folder: Path, manifest_digest: str) -> bool:
    """Whether a folder holds exactly the files of this manifest, and perhaps what closes it."""
    try:
        sealed = read_plain(folder / manifest.NAME, LARGEST_MANIFEST)
        if hashlib.sha256(sealed).hexdigest() != manifest_digest:
            return False
        files = _sealed_part(sealed).files
        names = {path.name for path in folder.iterdir()} - {SIGNED}
        return names == {*files, manifest.NAME} and all(
            file_digest(folder / name) == (stated if isinstance(stated, str) else stated.sha256)
            for name, stated in files.items()
        )
    except (OSError, ValueError):
        return False


def _sealed_part(sealed: bytes) -> _Sealed:
    return _Sealed.model_validate_json(sealed)


class _Sealed(Said):
    """What publishing asks a manifest of its own ledger."""

    model_config = ConfigDict(extra="ignore")
    files: dict[str, FileSaid | str]  # text: releases before manifests of format 1
    key: str


def staged_folder(root: Path, owner: str, release_id: str) -> Path:
    """Where a release of the ledger `owner` is staged: beside its destination, in a folder only its user can enter."""
    return root / STAGING / f"{owner}~{release_id.replace('/', '~')}"


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with plain_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def described(path: Path) -> FileSaid:
    """A file as the manifest says it."""
    return FileSaid(sha256=file_digest(path), bytes=path.stat().st_size)


def _lock(folder: Path) -> int | None:
    """A lock on the folder for as long as this process lives, or None while another one has it or it is gone."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    return handle


def _settle(path: Path, slot: str) -> None:
    """Readable by all, dated by the slot (file times tell when a run ended), and on disk."""
    path.chmod(modes.RELEASE.file)
    day = datetime.fromisoformat(slot[:10]).replace(tzinfo=UTC).timestamp()
    os.utime(path, (day, day))
    sync(path)


def replace(target: Path, data: bytes, dated: float, scratch: Path) -> None:
    """These bytes in place of the file that is there, at once, readable by all, dated so that no run is told by it.

    Raises OSError; then what was there stays, and nothing is left in `scratch`, a folder of the same disk.
    """
    handle, name = tempfile.mkstemp(dir=scratch, prefix=SCRATCH)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(handle, modes.PUBLIC.file)
            os.utime(name, (dated, dated))
            os.fsync(handle)
        os.replace(name, target)
        sync(target.parent)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
