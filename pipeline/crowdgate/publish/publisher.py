"""Publishing: stage privately, sync, rename. A release is published whole, and never replaces anything."""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
import shutil
import tempfile
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ConfigDict

from crowdgate import manifest
from crowdgate.errors import EnvironmentFault, LedgerRefused
from crowdgate.limits import LARGEST_MANIFEST
from crowdgate.manifest import FileFields
from crowdgate.manifest.values import ManifestFields
from crowdgate.publish.file_names import SCRATCH, SIGNED, STAGING
from crowdgate.publish.fsync_rename import faults, make_folder
from crowdgate.publish.reserved_space import Shrink, SpacedFile
from crowdgate.system import permissions
from crowdgate.system.fsync import fsync_path
from crowdgate.system.regular_files import plain_file, read_plain

if TYPE_CHECKING:
    from crowdgate.formats.byte_compare import Writer


FOLDER_BYTES = 1 << 16
"""Bytes that folders of a release may take."""


@dataclass(frozen=True)
class StagedRelease:
    """A complete release that only its owner can see yet."""

    folder: Path
    manifest_digest: str
    lock: int | None = None


def check_free(destination: Path) -> None:
    """Raise EnvironmentFault if something exists at the destination."""
    if os.path.lexists(destination):
        raise EnvironmentFault(f"{destination} exists already and is not replaced. Use another slot or destination")


def sweep(root: Path, owner: str, kept: Callable[[], Container[str]]) -> None:
    """Remove staged folders of killed runs of one ledger: unlocked, and not committed to by the ledger."""
    with faults(root):
        for folder in (root / STAGING).glob(f"{owner}~*"):
            lock = _lock(folder)
            if lock is not None:
                if folder.name not in kept():  # checked under the lock: its run may have committed meanwhile
                    shutil.rmtree(folder)
                os.close(lock)


def stage(
    folder: Path,
    slot: str,
    writers: Mapping[str, Writer],
    seal: Callable[[Mapping[str, FileFields]], Mapping[str, bytes]],
    shrink: Shrink = lambda _: False,
) -> StagedRelease:
    """Write the published files, then the manifest that `seal` makes from their digests, and the files made from it;
    sync all. Return the staged release. On a full disk, `shrink` gives up reserved space.
    """
    with faults(folder.parent):
        if folder.exists():
            shutil.rmtree(folder)
        shrink(FOLDER_BYTES)
        make_folder(folder)
        lock = _lock(folder)
        if lock is None:
            raise EnvironmentFault(f"{folder}: another run is using this folder. Try again when it has ended")
        try:
            return StagedRelease(folder, _fill(folder, slot, writers, seal, shrink), lock)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


def _fill(
    folder: Path,
    slot: str,
    writers: Mapping[str, Writer],
    seal: Callable[[Mapping[str, FileFields]], Mapping[str, bytes]],
    shrink: Shrink,
) -> str:
    for name, write in writers.items():
        with io.BufferedWriter(SpacedFile(folder / name, shrink)) as file:
            write(file)
    sealed = seal({name: file_fields(folder / name) for name in writers})
    for name, data in sealed.items():
        with io.BufferedWriter(SpacedFile(folder / name, shrink)) as file:
            file.write(data)
    for path in folder.iterdir():
        _settle(path, slot)
    fsync_path(folder)
    return hashlib.sha256(sealed[manifest.NAME]).hexdigest()


def copy_to_staging(folder: Path, staged: Path, slot: str) -> Path:
    """Copy a complete release to its staging folder, as `stage` would have written it, and return this folder."""
    with faults(staged.parent):
        shutil.rmtree(staged, ignore_errors=True)
        make_folder(staged)
        for path in folder.iterdir():
            shutil.copyfile(path, staged / path.name)
            _settle(staged / path.name, slot)
        fsync_path(staged)
    return staged


def publish(staged: StagedRelease, destination: Path) -> None:
    """Move a staged release to its destination, atomically. Refuses one whose key was not drawn from the operating
    system.
    """
    if not is_complete(staged.folder, staged.manifest_digest):
        raise EnvironmentFault(
            f"{destination}: the files to be published differ from what the ledger recorded, so nothing is "
            "published. Use a new slot"
        )
    if _sealed_part(read_plain(staged.folder / manifest.NAME, LARGEST_MANIFEST)).key != "operating system":
        raise EnvironmentFault("this release was made with an injected key, as in tests, so it is never published")
    with faults(destination):
        make_folder(destination.parent)
        if destination.is_symlink():
            raise FileExistsError
        os.rename(staged.folder, destination)  # fails unless the destination is absent or an empty folder
    sync_destination(destination, staged.folder.parent)
    if staged.lock is not None:
        os.close(staged.lock)


def sync_destination(destination: Path, staging: Path) -> None:
    """Sync a release at its destination to disk, also one of a run that was killed before it did."""
    with faults(destination):
        fsync_path(destination.parent)
        fsync_path(staging)


def recover(folder: Path, manifest_digest: str) -> StagedRelease:
    """Return the staged release that was committed. Raises LedgerRefused (lost) if it is missing or changed."""
    if not is_complete(folder, manifest_digest):
        raise LedgerRefused(
            "the ledger recorded this release, but its files were lost before publication. Use a new slot", "lost"
        )
    return StagedRelease(folder, manifest_digest)


def is_complete(folder: Path, manifest_digest: str) -> bool:
    """Return whether a folder holds exactly the files that the manifest with this SHA-256 names, with or without its
    signature.
    """
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


def _sealed_part(sealed: bytes) -> _SealedManifest:
    return _SealedManifest.model_validate_json(sealed)


class _SealedManifest(ManifestFields):
    """The part of a manifest that publishing reads."""

    model_config = ConfigDict(extra="ignore")
    files: dict[str, FileFields | str]  # text: releases before manifests of format 1
    key: str


def staged_folder(root: Path, owner: str, release_id: str) -> Path:
    """Return the staging folder of a release that the ledger `owner` charged: below the destination, private to its
    user.
    """
    return root / STAGING / f"{owner}~{release_id.replace('/', '~')}"


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with plain_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_fields(path: Path) -> FileFields:
    """Return a file's entry in the manifest."""
    return FileFields(sha256=file_digest(path), bytes=path.stat().st_size)


def _lock(folder: Path) -> int | None:
    """Return a lock on the folder for the life of this process, or None if another process has it or the folder is
    gone.
    """
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
    """Make a file readable by all, dated by the slot (file times would reveal when a run ended), and sync it."""
    path.chmod(permissions.RELEASE.file)
    day = datetime.fromisoformat(slot[:10]).replace(tzinfo=UTC).timestamp()
    os.utime(path, (day, day))
    fsync_path(path)


def replace(target: Path, data: bytes, dated: float, scratch: Path) -> None:
    """Replace a file with these bytes, atomically, readable by all, dated so that its time reveals no run.

    Raises OSError; then the old file stays, and nothing is left in `scratch`, a folder of the same disk.
    """
    handle, name = tempfile.mkstemp(dir=scratch, prefix=SCRATCH)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(handle, permissions.PUBLIC.file)
            os.utime(name, (dated, dated))
            os.fsync(handle)
        os.replace(name, target)
        fsync_path(target.parent)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
