"""The catalogue of a destination: a signed list of the releases that the ledger published there.

A signed release proves itself, but not that none is missing. The catalogue names all of them, withdrawn ones too, so it
reveals a release that was removed, replaced or added. It can't reveal an older catalogue restored together with the
removal of newer releases. It names the ledger's line when it was written: a reader who must detect that stores this
number, or asks the curator for it.
"""

import hashlib
import os
from collections.abc import Container, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from crowdgate import manifest
from crowdgate.errors import CrowdgateError, EnvironmentFault, LedgerRefused, VerificationFailed
from crowdgate.ledger.ledger import Entry, Ledger, State
from crowdgate.limits import LARGEST_ENVELOPE
from crowdgate.publish import publisher
from crowdgate.publish.file_names import STAGING
from crowdgate.publish.locking import locked
from crowdgate.publish.tombstone import read_tombstone, remaining_files
from crowdgate.signing.keys import PublicKey, SigningKey
from crowdgate.signing.statement import (
    CatalogueStatement,
    LedgerPlace,
    catalogue_statement,
    sign_statement,
    verify_statement,
)
from crowdgate.system.regular_files import plain_file, read_bounded

NAME = "catalogue.dsse.json"


def write_catalogue(root: Path, home: Path, ledger: Ledger, key: SigningKey) -> CatalogueStatement:
    """Sign a new catalogue of the releases that the ledger published at `root`, for the working copy `home`.

    The ledger is read under the catalogue's lock, so the last one written is of the latest ledger. Raises LedgerRefused
    if there is nothing to list, or less than in a catalogue there that the same key signed; EnvironmentFault if it
    can't be written.
    """
    with locked(root, NAME) as staging:
        place = place_of(ledger)  # before the entries: what was published up to this line is listed
        entries = _published_entries(root, home, ledger)
        releases = {entry.release_id: str(entry.manifest_digest) for entry in entries}
        if not releases:
            raise LedgerRefused(f"the ledger {ledger.id} knows no release published at {root} from {home}")
        _refuse_less(root, ledger, releases, key.public)
        withdrawn = [entry.release_id for entry in entries if entry.state is State.WITHDRAWN]
        statement = catalogue_statement(place, releases, withdrawn)
        _replace(root, staging, sign_statement(statement, [key]), releases)
    return statement


def write_signed_catalogue(root: Path, home: Path, ledger: Ledger, done: str = "the release is published") -> None:
    """Write the catalogue after a release or a withdrawal, if a key was configured when the ledger was opened.

    Raises EnvironmentFault with the note that this is `done` all the same.
    """
    key = ledger.signer
    try:
        if key is not None:
            write_catalogue(root, home, ledger, key)
    except CrowdgateError as error:
        said = f"{done}; the catalogue is not written: {error}; then run `crowdgate catalogue write {root}`"
        raise EnvironmentFault(said) from None


def verify_catalogue(root: Path, trusted: Sequence[PublicKey]) -> CatalogueStatement:
    """Return the catalogue of a destination that holds exactly what it lists.

    Raises VerificationFailed that lists every difference: a missing, changed or unlisted release, and any other file.
    `verify` checks the files of a release other than its manifest.
    """
    statement = _current_catalogue(root, trusted)
    releases, withdrawn = statement.releases(), statement.withdrawn()
    problems = [*_changed_releases(root, releases, withdrawn, trusted), *_unknown(root, releases)]
    if problems:
        raise VerificationFailed("\n".join(problems))
    return statement


def is_later(envelope: bytes, than: bytes, trusted: Sequence[PublicKey]) -> bool:
    """Return whether a catalogue that a trusted key signed was written at a later line of the same ledger."""
    try:
        here, there = (verify_statement(each, trusted, CatalogueStatement)[0].predicate for each in (than, envelope))
    except VerificationFailed:
        return False
    return there.ledger.id == here.ledger.id and there.ledger.line > here.ledger.line


def place_of(ledger: Ledger) -> LedgerPlace:
    """Return the current position of a ledger: its id, and the number and digest of its last journal line."""
    last = ledger.head()
    return LedgerPlace(id=ledger.id, line=last.number, digest=last.digest)


def _published_entries(root: Path, home: Path, ledger: Ledger) -> list[Entry]:
    """Return the entries of all releases that the ledger published at `root`, withdrawn ones too."""
    ended = (State.PUBLISHED, State.WITHDRAWN)
    found = (entry for entry in ledger.entries() if entry.state in ended and entry.manifest_digest is not None)
    placed = ((entry, _folder_of(entry)) for entry in found)
    resolved, place = cache(lambda folder: (home / folder).resolve()), root.resolve()
    return [entry for entry, folder in placed if folder is not None and resolved(folder) == place]


def _folder_of(entry: Entry) -> str | None:
    """Return the destination that holds the folder of an entry's release, as the ledger states it; None if the release
    lies in no folder of its id."""
    stated = f"/{entry.destination or ''}"
    inside = stated.endswith(f"/{entry.release_id}")
    return stated.removesuffix(entry.release_id)[1:] if inside else None


def _refuse_less(root: Path, ledger: Ledger, releases: Mapping[str, str], key: PublicKey) -> None:
    """Refuse a ledger that lacks a release of the catalogue: it is another one, an older copy, or has another working
    copy.
    """
    try:
        there = _current_catalogue(root, [key])
    except VerificationFailed:
        return
    gone = sorted(there.releases().items() - releases.items())
    if gone:
        raise LedgerRefused(
            f"{root / NAME} lists {gone[0][0]}, which the ledger {ledger.id} does not know as published there; "
            "expected the ledger and the working copy that it was written from; to list less, remove it first"
        )


def _current_catalogue(root: Path, trusted: Sequence[PublicKey]) -> CatalogueStatement:
    path = root / NAME
    try:
        with plain_file(path) as file:
            envelope = read_bounded(file, LARGEST_ENVELOPE)
        return verify_statement(envelope, trusted, CatalogueStatement)[0]
    except OSError as error:
        raise VerificationFailed(f"{path}: {error.strerror or 'unreadable'}") from None
    except VerificationFailed as error:
        raise VerificationFailed(f"{path}: {error}") from None


def _changed_releases(
    root: Path, releases: Mapping[str, str], withdrawn: Container[str], trusted: Sequence[PublicKey]
) -> Iterator[str]:
    for name, digest in releases.items():
        if name in withdrawn:
            yield from _changed_tombstone(root / name, name, digest, trusted)
            continue
        path = root / name / manifest.NAME
        try:
            with plain_file(path) as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            yield f"{path}: {error.strerror or 'unreadable'}; the catalogue lists {name}"
            continue
        if found != digest:
            yield (
                f"{path}: this manifest was changed: its digest is {found}; expected {digest}, as the "
                "catalogue lists it"
            )


def _changed_tombstone(folder: Path, name: str, digest: str, trusted: Sequence[PublicKey]) -> Iterator[str]:
    try:
        said, more = read_tombstone(folder, trusted), remaining_files(folder)
    except (VerificationFailed, OSError) as error:
        yield f"{folder}: {error}; {name} is listed as withdrawn"
        return
    if (said.release_id, said.manifest_digest) != (name, digest):
        yield f"{folder}: its tombstone is of another release; expected {name} with the manifest {digest}"
    if more:
        yield f"{folder}: {name} is listed as withdrawn, and {more[0]!a} is left; run `crowdgate withdraw` again"


def _unknown(root: Path, releases: Mapping[str, str]) -> Iterator[str]:
    """Yield the path of everything at a destination that belongs to none of these releases. Links are not followed and
    do not belong.
    """
    held = {root / name for name in releases}
    above = {parent for place in held for parent in place.parents}
    folders = [root]
    while folders:
        folder = folders.pop()
        try:
            entries = _entries(folder)
        except OSError as error:
            yield f"{_printable_path(folder)}: {error.strerror or 'unreadable'}"
            continue
        for entry in entries:
            path = Path(entry.path)
            if entry.is_dir(follow_symlinks=False) and (path in held or path in above):
                folders.append(path)
            elif not _expected(entry, folder in held, path in (root / NAME, root / STAGING)):
                found = f"{_printable_path(path)}: not listed, or not a regular file"
                yield f"{found}; expected only the releases that are listed, made of regular files"


def _expected(entry: os.DirEntry[str], in_release: bool, ours: bool) -> bool:
    plain = entry.is_file(follow_symlinks=False)
    return (in_release and plain) or (ours and not entry.is_symlink())


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as found:
        return sorted(found, key=lambda entry: entry.name)


def _printable_path(path: Path) -> str:
    """Return a path of untrusted origin as printable text."""
    return str(path) if str(path).isprintable() else ascii(str(path))


def _replace(root: Path, staging: Path, envelope: bytes, releases: Mapping[str, str]) -> None:
    """Replace the catalogue file of a destination, dated by the last slot in it: no file time may reveal when a run
    ended.
    """
    day = max(name.rpartition("/")[2][:10] for name in releases)
    publisher.replace(root / NAME, envelope, datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp(), staging)
