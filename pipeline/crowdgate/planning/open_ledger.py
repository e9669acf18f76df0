"""The ledger that a working copy names, with the keys that it trusts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from crowdgate import ledger as ledgers
from crowdgate.errors import LedgerRefused, VerificationFailed
from crowdgate.ledger.private import private_file
from crowdgate.publish.publisher import staged_folder
from crowdgate.settings import ledger_url, signing_key, trusted_keys
from crowdgate.signing.keys import public_keys

if TYPE_CHECKING:
    from crowdgate.ledger.ledger import JournalLine, Ledger


def absolute_url(url: str, folder: Path) -> str:
    """A ledger's URL, of which a relative place is below the folder. The kinds of databases are imported now."""
    return ledgers.placed(url, folder)


def ledger_at(root: Path, option: str | None, ledger_id: str | None = None) -> Ledger:
    """The ledger `ledger_id` (None: whichever is there) that an option, CROWDGATE_LEDGER or the working copy names.

    What is written is signed with the working copy's key, and its last line must be signed with a trusted one, where
    there are any. Raises ConfigurationError, LedgerRefused, EnvironmentFault.
    """
    url = ledger_url(root, option, absolute_url)
    return ledgers.open_ledger(url, ledger_id, signer=signing_key(root), trusted=trusted_keys(root))


def ledger_for_reading(root: Path, option: str | None) -> Ledger:
    """The same, whichever it is, for who may only read it."""
    url = ledger_url(root, option, absolute_url)
    return ledgers.open_ledger(url, None, trusted=trusted_keys(root), reading=True)


def verify_ledger(
    root: Path, option: str | None, keys: Sequence[Path], anchors: Sequence[str]
) -> tuple[JournalLine, Ledger]:
    """The last line of a ledger that agrees with its journal, is signed with one of these keys (without any, one that
    the working copy trusts, if it trusts any), and holds these anchors; and the ledger.

    Raises VerificationFailed, ConfigurationError, LedgerRefused, EnvironmentFault.
    """
    from crowdgate.planning.anchors import destinations_of, parse_anchor, unknown_releases

    places = [parse_anchor(text) for text in anchors]
    trusted = tuple(key for path in keys for key in public_keys(path)) or trusted_keys(root)
    url = ledger_url(root, option, absolute_url)
    ledger = ledgers.open_ledger(url, None, trusted=trusted, reading=True)
    line = ledger.verify()
    for number, digest in places:
        if not ledger.holds(number, digest):
            raise VerificationFailed(f"the ledger {ledger.id}: it has no such line {number} as the anchor says")
    if problems := list(unknown_releases(ledger, destinations_of(ledger, _homes(ledger, root)))):
        raise VerificationFailed("; ".join(problems))
    return line, ledger


def free_reservation(root: Path, option: str | None, release_id: str) -> str:
    """Give a reservation back whose run never began to read, and return the id of the ledger.

    Raises LedgerRefused where a run of this id left anything, or where the ledger lacks a release at a destination.
    """
    from crowdgate.planning.anchors import destinations_of, refuse_unanchored

    ledger = ledger_at(root, option)
    found = destinations_of(ledger, _homes(ledger, root))
    refuse_unanchored(ledger, found)
    left = [place / release_id for place in found] + [staged_folder(place, ledger.id, release_id) for place in found]
    for path in (*left, private_file(ledger.path, ledger.id, release_id)):
        if os.path.lexists(path):
            said = f"{release_id} can't be given back: a run of it left {path}, so its table was read"
            raise LedgerRefused(f"{said}; expected a reservation that never began to read", "edited")
    ledger.void(release_id)
    return ledger.id


def _homes(ledger: Ledger, root: Path) -> list[Path]:
    """Where a ledger's working copy may be: this folder, and the one that holds the ledger's folder."""
    return list(dict.fromkeys([root.resolve(), ledger.path.resolve().parent.parent]))
