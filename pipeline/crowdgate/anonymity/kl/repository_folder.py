"""Write a repository's folder: an entry is complete and listed by the signed index, or absent."""

import os
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from crowdgate.anonymity.kl import index, web
from crowdgate.anonymity.kl.entry import digest_of
from crowdgate.anonymity.kl.reading import STAGING, read_repository
from crowdgate.errors import EnvironmentFault, FileFault, VerificationFailed
from crowdgate.limits import LARGEST_ENTRY, LARGEST_ENVELOPE
from crowdgate.publish.file_names import SCRATCH
from crowdgate.publish.locking import locked
from crowdgate.publish.publisher import replace
from crowdgate.signing.keys import PublicKey, SigningKey
from crowdgate.system import permissions
from crowdgate.system.regular_files import plain_file, read_bounded


def make_repository_folder(place: str) -> Path:
    """Return the folder of a repository, and create it if it is missing. Raises EnvironmentFault for a URL, and where
    it can't be created."""
    if web.is_url(place):
        raise EnvironmentFault(f"{place}: a URL is only read; publish to a folder, and copy it to its server")
    folder = Path(place).resolve()
    try:
        permissions.make_folders(folder, permissions.KL_ENTRY)
        permissions.make_folder(folder / STAGING, permissions.STAGING)
    except OSError as error:
        raise EnvironmentFault(f"{folder}: no repository can be written there: {error.strerror}") from None
    return folder


def check_folder(folder: Path, trusted: Sequence[PublicKey], today: date, pending: str | None = None) -> None:
    """Check that the folder is empty or a valid repository, except for an unlisted entry that a stopped run may have
    left.

    Raises EnvironmentFault for any other folder, VerificationFailed as `read_repository` does.
    """
    left = {STAGING, *([] if pending is None else [index.file_name(pending)])}
    if {path.name for path in folder.iterdir()} <= left:
        return
    try:
        read_repository(str(folder), trusted, today, pending)
    except FileFault as error:
        raise EnvironmentFault(f"{error}, or an empty folder") from None


def staged_entry(folder: Path, owner: str, release_id: str) -> Path:
    """Return the path of a charged run's entry before it is published; `owner` is the run's ledger."""
    return folder / STAGING / f"{owner}~{release_id.replace('/', '~')}.json"


def stage(path: Path, envelope: bytes, day: date, commit: Callable[[], None]) -> None:
    """Write the bytes to disk, not yet published, and commit to them. Both happen under the lock of
    `remove_uncommitted`, so that it never removes what a run is about to commit to. Raises EnvironmentFault."""
    with locked(path.parents[1], index.NAME):
        replace(path, envelope, _timestamp(day), path.parent)
        commit()


def remove_uncommitted(folder: Path, owner: str, committed: Callable[[], Collection[str]]) -> None:
    """Remove the entries that killed runs of the ledger `owner` drew and did not commit to. `committed` returns the ids
    of the runs whose entries are yet to be published. Raises EnvironmentFault."""
    with locked(folder, index.NAME) as staging:
        kept = {staged_entry(folder, owner, each) for each in committed()}
        for path in sorted(set(staging.glob(f"{owner}~*.json")) - kept):
            path.unlink()


def add_entry(
    folder: Path, envelope: bytes, day: date, key: SigningKey, trusted: Sequence[PublicKey], today: date
) -> str:
    """Add an entry to the repository and list it; existing entries do not change. Returns its digest.

    Raises as `check_folder` does.
    """
    digest = digest_of(envelope)
    check_folder(folder, trusted, today, digest)
    with locked(folder, index.NAME) as staging:
        for left in staging.glob(f"{SCRATCH}*"):
            left.unlink()  # left by a killed run: a running writer holds the lock
        known = _indexed_digests(folder, trusted, today)
        _write(folder / index.file_name(digest), envelope, day, staging)
        if digest not in known:
            latest = max([day, *known.values()])
            _write(folder / index.NAME, index.signed_index([*known, digest], latest, key), day, staging)
    return digest


def is_stored(folder: Path, digest: str) -> bool:
    """Return True if the folder has the file of the entry with this digest, and the file's bytes have this digest."""
    return intact_bytes(folder / index.file_name(digest), digest) is not None


def intact_bytes(path: Path, digest: str) -> bytes | None:
    """Return the bytes of an entry's file; None if it is missing, or its bytes do not have this digest."""
    try:
        with plain_file(path) as file:
            envelope = read_bounded(file, LARGEST_ENTRY)
    except OSError:
        return None
    return envelope if digest_of(envelope) == digest else None


def _indexed_digests(folder: Path, trusted: Sequence[PublicKey], today: date) -> dict[str, date]:
    """Return the digests of all entries that the index lists, each with the date of the index; empty without an
    index."""
    path = folder / index.NAME
    if not os.path.lexists(path):
        return {}
    try:
        with plain_file(path) as file:
            listed = index.read_index(read_bounded(file, LARGEST_ENVELOPE), trusted, today)
    except OSError as error:
        raise EnvironmentFault(f"{path}: {error.strerror or 'unreadable'}") from None
    except VerificationFailed as error:
        raise VerificationFailed(f"{path}: {error}") from None
    return dict.fromkeys(listed.entries, date.fromisoformat(listed.date))


def _write(path: Path, data: bytes, day: date, staging: Path) -> None:
    replace(path, data, _timestamp(day), staging)


def _timestamp(day: date) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
