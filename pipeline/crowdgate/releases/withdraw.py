"""Withdrawal of a published release: its files are removed, a tombstone stays, and the privacy cost stays charged.

The ledger records the withdrawal first. From then on the release counts as withdrawn, whatever is left of its files,
and the same call finishes a withdrawal that was interrupted.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from crowdgate.errors import EnvironmentFault, LedgerRefused
from crowdgate.ledger.journal import JournalLine
from crowdgate.ledger.ledger import Entry, Ledger, State
from crowdgate.number_text import exact_text
from crowdgate.planning.catalogue import write_signed_catalogue
from crowdgate.publish.fsync_rename import make_folder
from crowdgate.publish.locking import locked
from crowdgate.publish.tombstone import remaining_files, remove_files, write_tombstone
from crowdgate.releases.object_destination import put_catalogue_copy, withdraw_copy
from crowdgate.signing.statement import LedgerPlace, WithdrawalPredicate, WithdrawalStatement, withdrawal_statement


@dataclass(frozen=True)
class WithdrawnRelease:
    """A withdrawn release: its folder, its tombstone, and whether an earlier call had finished the withdrawal."""

    path: Path
    said: WithdrawalStatement
    repeated: bool

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        stated = self.said.predicate
        return {
            "outcome": "withdrawn",
            "release_id": self.said.release_id,
            "path": str(self.path),
            "day": stated.day,
            "reason": stated.reason,
            "manifest_digest": self.said.manifest_digest,
            "repeated": self.repeated,
        }


def withdraw(release_id: str, reason: str, home: Path, ledger: Ledger, *, lost: bool = False) -> WithdrawnRelease:
    """Withdraw a release that the ledger published from the working copy `home`, or finish its withdrawal.

    The first reason stays. `lost` states that the files are gone already. Raises LedgerRefused for a release that is
    not published, and EnvironmentFault where files can't be removed, or are not there without `lost`.
    """
    entry = _published_entry(release_id, ledger)
    folder = home / (entry.destination or "")
    root = folder.parents[release_id.count("/")]
    line = ledger.withdrawal(release_id) if entry.state is State.WITHDRAWN else None
    if line is None:
        _refuse_folders(folder, lost)
        line = ledger.withdraw(release_id, reason)
    said = _statement(replace(entry, spend=ledger.paying(entry).spend), line, ledger.id)
    changed = _replace_files(root, folder, said, ledger)
    withdraw_copy(home, root, release_id)
    write_signed_catalogue(root, home, ledger, "the release is withdrawn")
    put_catalogue_copy(home, root)
    return WithdrawnRelease(folder, said, repeated=entry.state is State.WITHDRAWN and not changed)


def _published_entry(release_id: str, ledger: Ledger) -> Entry:
    """Return the entry of a release that is published or withdrawn. Raises LedgerRefused for any other."""
    entry = ledger.entry(release_id)
    if entry is None:
        raise LedgerRefused(f"{release_id} is not in the ledger {ledger.id}; `crowdgate ledger show` lists what is")
    if entry.state is State.COMMITTED:
        raise LedgerRefused(f"{release_id} is not at its destination yet; run `crowdgate release` again first")
    if entry.state not in (State.PUBLISHED, State.WITHDRAWN):
        raise LedgerRefused(f"{release_id} is {entry.state}: only a published release can be withdrawn")
    if not f"/{entry.destination}".endswith(f"/{release_id}"):
        raise LedgerRefused(f"{release_id} is an entry of a KL repository: only a release can be withdrawn")
    return entry


def _refuse_folders(folder: Path, lost: bool) -> None:
    """Refuse a release whose folder is not there (unless it is `lost`), holds a folder or can't be changed. Raises
    EnvironmentFault.
    """
    try:
        found = [each.name for each in folder.iterdir() if each.is_dir() and not each.is_symlink()]
    except FileNotFoundError:
        if lost:
            return
        said = f"{folder} is not there, so nothing was withdrawn. Run this in the working copy that published the "
        raise EnvironmentFault(f"{said}release, or add --lost if its files are gone for good") from None
    except OSError as error:
        raise EnvironmentFault(f"{folder}: it can't be read: {error.strerror}; nothing was withdrawn") from None
    if found:
        raise EnvironmentFault(f"{folder} holds the folder {found[0]!a}, which no release has; remove it first")


def _statement(entry: Entry, line: JournalLine, ledger_id: str) -> WithdrawalStatement:
    stated = WithdrawalPredicate.model_validate(
        {
            "day": str(line.day), "reason": line.detail_values["reason"],
            "epsilon": exact_text(entry.spend.epsilon), "delta": exact_text(entry.spend.delta),
            "population": entry.population, "policyDigest": entry.policy_digest,
            "ledger": LedgerPlace(id=ledger_id, line=line.number, digest=line.digest),
        }
    )  # fmt: skip
    return withdrawal_statement(entry.release_id, str(entry.manifest_digest), stated)


def _replace_files(root: Path, folder: Path, said: WithdrawalStatement, ledger: Ledger) -> bool:
    """Write the tombstone and remove the other files; return whether anything had to be done. Raises
    EnvironmentFault.
    """
    try:
        make_folder(folder)
        with locked(root, said.release_id) as staging:
            written = write_tombstone(folder, said, ledger.signer, staging)
            found = remaining_files(folder)
            remove_files(folder, found)
        return written or bool(found)
    except OSError as error:
        done = f"{said.release_id} is withdrawn in the ledger, but its files are not all removed"
        raise EnvironmentFault(f"{folder}: {done}: {error.strerror}; then run this command again") from None
