"""Publishing: stage privately, sync, rename. Nothing half-written is ever published, nothing there is replaced."""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pipeline import manifest
from pipeline.errors import EnvironmentFault, LedgerRefused

STAGING = ".crowdgate-staging"


@dataclass(frozen=True)
class Staged:
    """A complete release that nobody but its owner can see yet."""

    folder: Path
    manifest_digest: str


def check_destination(root: Path, destination: Path) -> None:
    """Before anything is read: the destination is free and its folder can be written. Raises EnvironmentFault."""
    with _faults(root):
        if destination.exists() or destination.is_symlink():
            raise EnvironmentFault(f"{destination} exists already and is not replaced; use another slot or destination")
        _staging(root)


def stage(
    root: Path,
    release_id: str,
    slot: str,
    writers: Mapping[str, Callable[[Path], None]],
    seal: Callable[[Mapping[str, str]], bytes],
) -> Staged:
    """Write the files, then the manifest that `seal` makes from their digests, and sync everything."""
    with _faults(root):
        folder = staged_folder(root, release_id)
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir()
        try:
            return _fill(folder, slot, writers, seal)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


def _fill(
    folder: Path,
    slot: str,
    writers: Mapping[str, Callable[[Path], None]],
    seal: Callable[[Mapping[str, str]], bytes],
) -> Staged:
    for name, write in writers.items():
        write(folder / name)
    sealed = seal({name: file_digest(folder / name) for name in writers})
    (folder / manifest.NAME).write_bytes(sealed)
    for path in folder.iterdir():
        _settle(path, slot)
    _sync(folder)
    return Staged(folder, hashlib.sha256(sealed).hexdigest())


def publish(staged: Staged, destination: Path) -> None:
    """Move a staged release to its place, at once. Refuses one whose key was not drawn from the operating system."""
    statement = manifest.parse((staged.folder / manifest.NAME).read_bytes())
    if statement["key"] != "operating system":
        raise EnvironmentFault("this release was made with an injected key and is never published")
    with _faults(destination):
        destination.parent.mkdir(parents=True, exist_ok=True)
        if destination.is_symlink():
            raise FileExistsError
        os.rename(staged.folder, destination)  # fails on anything but nothing or an empty folder
        _sync(destination.parent)
        _sync(staged.folder.parent)


def recover(root: Path, release_id: str, manifest_digest: str) -> Staged:
    """The staged bytes of a committed release. Raises LedgerRefused (lost) when they are gone or changed."""
    staged = Staged(staged_folder(root, release_id), manifest_digest)
    if not complete(staged.folder, manifest_digest):
        raise LedgerRefused(f"{release_id} was committed but its staged files are lost; use a new slot", "lost")
    return staged


def complete(folder: Path, manifest_digest: str) -> bool:
    """Whether a folder holds exactly the files of this manifest."""
    try:
        sealed = (folder / manifest.NAME).read_bytes()
        if hashlib.sha256(sealed).hexdigest() != manifest_digest:
            return False
        files = manifest.parse(sealed)["files"]
        names = {path.name for path in folder.iterdir()}
        return names == {*files, manifest.NAME} and all(
            file_digest(folder / name) == digest for name, digest in files.items()
        )
    except OSError:
        return False


def staged_folder(root: Path, release_id: str) -> Path:
    """Where a release is staged: on the destination's file system, in a folder only its owner can enter."""
    return _staging(root) / release_id.replace("/", "~")


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _staging(root: Path) -> Path:
    folder = root / STAGING
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    return folder


def _settle(path: Path, slot: str) -> None:
    """Readable by all, dated by the slot (file times tell when a run ended), and on disk."""
    path.chmod(0o644)
    day = datetime.fromisoformat(slot[:10]).replace(tzinfo=UTC).timestamp()
    os.utime(path, (day, day))
    _sync(path)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _faults(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise EnvironmentFault(f"{place}: cannot publish there: {error.strerror or 'the destination exists'}") from None
