"""Restoration of a ledger from an older copy, or in place: what is known outside of it is booked as spent.

Known are heads, releases at destinations, charged entries of KL repositories, private files, claims and staged files of
runs, the attested position, and the rows of the ledger that the copy replaces. A restoration is written beside the
ledger first, and takes its place when everything is booked. The replaced ledger is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crowdgate import ledger as ledgers
from crowdgate.errors import ConfigurationError, LedgerRefused, Problem, VerificationFailed
from crowdgate.ledger.schema import FILTERS, SINCE
from crowdgate.ledger.sqlite import PREFIX, copy_file, path_of
from crowdgate.ledger.upgrade import upgrade
from crowdgate.planning.open_ledger import absolute_url, ledger_at
from crowdgate.planning.outside_findings import charges_of_rows, findings, remove_lost_position
from crowdgate.planning.outside_state import OutsideState
from crowdgate.settings import ledger_url, signing_key, trusted_keys
from crowdgate.system.fsync import fsync_path

if TYPE_CHECKING:
    from crowdgate.ledger.ledger import Ledger
    from crowdgate.ledger.restoration import FoundCharge

_LOGS = ("", "-wal", "-shm")


@dataclass(frozen=True)
class Restored:
    """A restored ledger: its id, a sentence for each booking, and the file of the replaced ledger, if any."""

    ledger: str
    booked: tuple[str, ...]
    replaced: Path | None = None


def restore(root: Path, option: str | None, copy: Path | None) -> Restored:
    """Restore the ledger of the working copy `root` from the file `copy`, or in place without one.

    Raises LedgerRefused for a copy that is another ledger, was edited, or lacks lines of a sound ledger in place that
    has all lines of the copy as well; EnvironmentFault if it can't be written.
    """
    url = ledger_url(root, option, absolute_url)
    if copy is None:
        return _restore_in_place(root, url)
    place = _file_of(url)
    if place.exists() and copy.resolve() == place.resolve():
        return _restore_in_place(root, url)
    _verified(root, copy)
    present = _present(root, place)
    if present is not None and present.missing_lines([_last_place(root, copy)]) == []:
        return _restore_in_place(root, url)  # it has every line of the copy
    return _replace(root, place, copy, present)


def _file_of(url: str) -> Path:
    """Return the file of a ledger. Raises ConfigurationError for one in a server's database."""
    try:
        return path_of(url)
    except ValueError:
        found = "a copy that is a file, for a ledger in a database of a server"
        expected = "no COPY: load the copy into the database first, by pg_restore or `crowdgate ledger copy`"
        raise ConfigurationError(Problem("command line", None, "COPY", found, expected)) from None


def _url(path: Path) -> str:
    return f"{PREFIX}{path.absolute()}"


def _open(root: Path, url: str, reading: bool = False) -> Ledger:
    signer = None if reading else signing_key(root)
    return ledgers.open_ledger(url, None, signer=signer, trusted=trusted_keys(root), reading=reading)


def _verified(root: Path, copy: Path) -> None:
    """Refuse a copy that differs from its journal, or that no trusted key signed."""
    try:
        _open(root, _url(copy), reading=True).verify()
    except VerificationFailed as wrong:
        raise LedgerRefused(f"{copy} is no copy to restore from: {wrong}", "edited") from None


def _last_place(root: Path, path: Path) -> tuple[int, str]:
    last = _open(root, _url(path), reading=True).head()
    return last.number, last.digest


def _present(root: Path, place: Path) -> Ledger | None:
    """Return the ledger in place if it is sound, otherwise None."""
    try:
        found = _open(root, _url(place), reading=True)
        found.ignore_position()
        found.verify()
    except (LedgerRefused, VerificationFailed):
        return None
    return found


def _restore_in_place(root: Path, url: str) -> Restored:
    booked = _book(root, url)
    return Restored(_keep_heads(root, url), booked)


def _replace(root: Path, place: Path, copy: Path, present: Ledger | None) -> Restored:
    """Write the restored ledger beside the one in place, then exchange them."""
    made = place.with_name(f".{place.name}.restored")
    _remove(made)
    try:
        copy_file(copy.absolute(), made.absolute())
        ledger_id = _open(root, _url(made), reading=True).id
        booked = _book(root, _url(made), *_lost_rows(root, place, present, ledger_id))
        replaced = _move_aside(place)
        made.replace(place)
        fsync_path(place.parent)
    except BaseException:
        _remove(made)
        raise
    return Restored(_keep_heads(root, _url(place)), booked, replaced)


def _lost_rows(root: Path, place: Path, present: Ledger | None, ledger_id: str) -> tuple[list[FoundCharge], bool]:
    """Return the charges of the ledger that is replaced, and of those that were replaced before, and whether all of
    them can be read. Where keys are trusted, one that none of them signed states nothing.

    A run that was killed after it moved the ledger in place aside left its rows in such a file only.
    """
    if present is not None and present.id != ledger_id:
        raise LedgerRefused(f"the ledger at {place} is {present.id}, and the copy is of {ledger_id}")
    if present is None and trusted_keys(root):
        return [], True
    files = [place, *(each for each in place.parent.glob(f"{place.name}.replaced-*") if each.suffix[-1].isdigit())]
    found = [
        charges_of_rows(_url(each), ledger_id, f"the replaced ledger {each.name}") for each in files if each.exists()
    ]
    return [charge for charges, _ in found for charge in charges], all(whole for _, whole in found)


def _book(root: Path, url: str, more: Sequence[FoundCharge] = (), whole: bool = True) -> tuple[str, ...]:
    """Book everything that is known outside of the ledger at `url`. If `more`, the charges of the ledger that it
    replaces, is not the `whole`, every population is frozen.
    """
    signer, trusted = signing_key(root), trusted_keys(root)
    ledger = _open(root, url)
    if ledger.state().form < SINCE[FILTERS]:
        upgrade(url, signer=signer, trusted=trusted)
    ledger.ignore_position()
    ledger.attest()
    booked = tuple(ledger.restore(findings(ledger, root, more, whole)))
    if problems := OutsideState(root).problems(ledger):
        raise LedgerRefused(f"this can't be reconciled by a restoration: {'; '.join(problems)}", "edited")
    return booked


def _keep_heads(root: Path, url: str) -> str:
    """Write the heads of the restored ledger, after removing a position that it contradicts. Return its id."""
    ledger = _open(root, url)
    remove_lost_position(ledger)
    guarded = ledger_at(root, url)
    guarded.admit()
    return guarded.id


def _move_aside(place: Path) -> Path | None:
    """Rename the ledger in place with its log, and return its new path; None if there is none."""
    if not place.exists():
        return None
    number = 1
    while place.with_name(f"{place.name}.replaced-{number}").exists():
        number += 1
    kept = place.with_name(f"{place.name}.replaced-{number}")
    for end in _LOGS:
        if Path(f"{place}{end}").exists():
            Path(f"{place}{end}").rename(f"{kept}{end}")
    return kept


def _remove(path: Path) -> None:
    for end in _LOGS:
        Path(f"{path}{end}").unlink(missing_ok=True)
