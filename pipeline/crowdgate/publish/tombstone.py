"""Tombstone of a withdrawn release: which release it was, when and why it was withdrawn, and the ledger's line.

The tombstone is a statement in canonical JSON. Where a key is configured, a second file holds it in a signed envelope.
Nothing else stays in the folder of the release.
"""

import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from crowdgate import manifest
from crowdgate.errors import VerificationFailed
from crowdgate.limits import LARGEST_ENVELOPE
from crowdgate.publish.file_names import SIGNED_WITHDRAWAL, WITHDRAWN
from crowdgate.publish.publisher import replace
from crowdgate.signing.canonical import canonical, parse_canonical
from crowdgate.signing.keys import PublicKey, SigningKey
from crowdgate.signing.statement import WithdrawalStatement, sign_statement, verify_statement
from crowdgate.system.fsync import fsync_path
from crowdgate.system.regular_files import plain_file, read_bounded

NAMES = (WITHDRAWN, SIGNED_WITHDRAWAL)


def has_tombstone(folder: Path) -> bool:
    """Return whether anything has the name of a tombstone in the folder of a release."""
    return any(os.path.lexists(folder / name) for name in NAMES)


def read_tombstone(folder: Path, trusted: Sequence[PublicKey] = ()) -> WithdrawalStatement:
    """Return the tombstone of a withdrawn release; with `trusted` keys, one of them must have signed it.

    Raises VerificationFailed, also for an unreadable file.
    """
    try:
        return _read(folder, trusted)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise VerificationFailed(f"{folder}: its tombstone is not valid: {why}") from None


def _read(folder: Path, trusted: Sequence[PublicKey]) -> WithdrawalStatement:
    if not trusted:
        return parse_canonical(_bytes(folder / WITHDRAWN), WithdrawalStatement)
    signed, _ = verify_statement(_bytes(folder / SIGNED_WITHDRAWAL), trusted, WithdrawalStatement)
    if canonical(signed) != _bytes(folder / WITHDRAWN):
        raise ValueError(f"{WITHDRAWN} is not what was signed")
    return signed


def remaining_files(folder: Path) -> list[str]:
    """Return the names of everything in the folder of a withdrawn release that is no part of its tombstone, in order.
    Raises OSError.
    """
    return sorted({each.name for each in folder.iterdir()} - {*NAMES})


def write_tombstone(folder: Path, said: WithdrawalStatement, signer: SigningKey | None, scratch: Path) -> bool:
    """Write the tombstone into the folder of a release, and return whether anything had to be written. Raises OSError.

    File times are those of the slot. An existing envelope stays if no key is configured.
    """
    files = {WITHDRAWN: canonical(said)}
    if signer is not None:
        files[SIGNED_WITHDRAWAL] = sign_statement(said, [signer])
    slot = said.release_id.rpartition("/")[2]
    day = datetime.fromisoformat(slot[:10]).replace(tzinfo=UTC).timestamp()
    changed = [name for name, data in files.items() if _content(folder / name) != data]
    for name in changed:
        replace(folder / name, files[name], day, scratch)
    return bool(changed)


def remove_files(folder: Path, names: Iterable[str]) -> None:
    """Remove these files of a release, its manifest last, and sync the folder. Raises OSError."""
    for name in sorted(names, key=lambda each: each == manifest.NAME):
        (folder / name).unlink()
    fsync_path(folder)


def _content(path: Path) -> bytes | None:
    try:
        return _bytes(path)
    except (OSError, ValueError):
        return None


def _bytes(path: Path) -> bytes:
    with plain_file(path) as file:
        return read_bounded(file, LARGEST_ENVELOPE)
