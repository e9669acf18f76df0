"""The ledger that a working copy names, with the keys that it trusts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crowdgate import ledger as ledgers
from crowdgate.errors import CrowdgateError, VerificationFailed
from crowdgate.settings import ledger_url, signing_key, trusted_keys
from crowdgate.signing.keys import public_keys

if TYPE_CHECKING:
    from crowdgate.ledger.ledger import HeadFiles, JournalLine, Ledger


def absolute_url(url: str, folder: Path) -> str:
    """Return a ledger's URL with a relative path made absolute below the folder. Database kinds are imported on this
    call.
    """
    return ledgers.placed(url, folder)


def ledger_at(root: Path, option: str | None, ledger_id: str | None = None) -> Ledger:
    """Return the ledger `ledger_id` (None: whichever exists) that an option, CROWDGATE_LEDGER or the working copy
    names.

    Lines are signed with the working copy's key. The last line must be signed with a trusted key, if there are any.
    Before its first change the ledger is compared with the state that is kept outside of it (`outside_state`).
    Raises ConfigurationError, LedgerRefused, EnvironmentFault.
    """
    url = ledger_url(root, option, absolute_url)
    signer, trusted = signing_key(root), trusted_keys(root)
    return ledgers.open_ledger(url, ledger_id, signer=signer, trusted=trusted, guard=_LazyGuard(root))


@dataclass(frozen=True)
class _LazyGuard:
    """The state outside of the ledger of a working copy, imported when a command first needs it."""

    home: Path

    def admit(self, ledger: Ledger, roots: Sequence[Path], anchors: Sequence[str]) -> HeadFiles:
        """Return the files that keep the ledger's head, as `OutsideState.admit` does."""
        from crowdgate.planning.outside_state import OutsideState

        return OutsideState(self.home).admit(ledger, roots, anchors)


class OpenedLedger:
    """The ledger `ledger_id` of a working copy, opened at the first call of `ledger` and then reused.

    A command passes it to all its steps, so the journal is followed once.
    """

    def __init__(self, root: Path, ledger_id: str, option: str | None = None) -> None:
        self._place = (root, option, ledger_id)
        self._opened: Ledger | CrowdgateError | None = None

    def ledger(self) -> Ledger:
        """Return the opened ledger. Raises ConfigurationError, LedgerRefused, EnvironmentFault, the same error at every
        call.
        """
        if self._opened is None:
            try:
                self._opened = ledger_at(*self._place)
            except CrowdgateError as error:
                self._opened = error
        if isinstance(self._opened, CrowdgateError):
            raise self._opened
        return self._opened


def ledger_for_reading(root: Path, option: str | None) -> Ledger:
    """Return the ledger that an option or the working copy names, for reading only."""
    url = ledger_url(root, option, absolute_url)
    return ledgers.open_ledger(url, None, trusted=trusted_keys(root), reading=True)


def verify_ledger(
    root: Path, option: str | None, keys: Sequence[Path], anchors: Sequence[str]
) -> tuple[JournalLine, Ledger]:
    """Return the last line of a ledger and the ledger, after checking its journal, signature and anchors.

    The last line must be signed with one of `keys`; without any, with one that the working copy trusts, if any. Raises
    VerificationFailed, ConfigurationError, LedgerRefused, EnvironmentFault.
    """
    from crowdgate.planning.anchors import parse_anchor
    from crowdgate.planning.outside_state import OutsideState

    places = [parse_anchor(text) for text in anchors]
    trusted = tuple(key for path in keys for key in public_keys(path)) or trusted_keys(root)
    url = ledger_url(root, option, absolute_url)
    ledger = ledgers.open_ledger(url, None, trusted=trusted, reading=True)
    line = ledger.verify()
    for number, _ in ledger.missing_lines(places):
        raise VerificationFailed(
            f"the ledger {ledger.id}: line {number} of its journal differs from the anchor, or is missing"
        )
    if problems := OutsideState(root).problems(ledger):
        raise VerificationFailed("; ".join(problems))
    return line, ledger


def free_reservation(root: Path, option: str | None, release_id: str) -> str:
    """Give back a reservation whose reading never began, and return the id of the ledger.

    Raises LedgerRefused as `admit` does, and if a run of this id left anything.
    """
    from crowdgate.planning.outside_state import OutsideState
    from crowdgate.planning.published_places import refuse_leftovers

    ledger = ledger_at(root, option)
    ledger.admit()
    refuse_leftovers(ledger, release_id, OutsideState(root).destinations(ledger), released=True)
    ledger.void(release_id)
    return ledger.id
