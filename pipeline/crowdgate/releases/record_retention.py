"""Retention of private records: which lie beside a ledger and for how long, and their deletion.

A record is of a release, of an audit on a confidential table, or of its anonymity sets. A deletion shows nothing of the
record. The ledger records it first; the charge, and the record's salted digest in the journal, stay.
"""

import hashlib
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from crowdgate.errors import Code, ConfigurationError, EnvironmentFault, LedgerRefused, Problem
from crowdgate.ledger.access_log import RECORD_DELETED
from crowdgate.ledger.journal import JournalLine
from crowdgate.ledger.ledger import Ledger
from crowdgate.ledger.private import private_file, private_records, remove_private
from crowdgate.settings import FILE, private_record_days
from crowdgate.system.regular_files import plain_file


@dataclass(frozen=True)
class StoredRecord:
    """A private record beside a ledger: its name, the day on which it was last written, and the day from which on it is
    expired (None: unknown, or no retention is stated).
    """

    name: str
    written: str | None
    expires: str | None

    @property
    def words(self) -> str:
        """The days in words."""
        written = f"written {self.written}" if self.written else "never committed to by the ledger"
        return f"{written}, {f'expires {self.expires}' if self.expires else 'no retention is stated'}"

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        return {"record": self.name, "written": self.written, "expires": self.expires}


@dataclass(frozen=True)
class DeletedRecord:
    """A deleted private record; `day` is that of an earlier deletion, None if it was deleted now."""

    name: str
    day: str | None

    @property
    def words(self) -> str:
        """The deletion in words."""
        if self.day is not None:
            return f"The private record of {self.name} was deleted before, on {self.day}; nothing was left to do."
        return f"deleted the private record of {self.name}; its privacy cost stays charged"

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        return {"record": self.name, "deleted_before": self.day}


def stored_records(ledger: Ledger, days: int | None) -> list[StoredRecord]:
    """Return the private records beside a ledger; `days` is their retention, if one is stated. Raises EnvironmentFault,
    and as the ledger does.
    """
    found, journal = private_records(ledger.path, ledger.id), ledger.journal()
    return [_stored(name, _last_written(name, _digest(path), journal), days) for name, path in found.items()]


def _stored(name: str, written: str | None, days: int | None) -> StoredRecord:
    due = None if days is None or written is None else date.fromisoformat(written) + timedelta(days=days)
    return StoredRecord(name, written, None if due is None else due.isoformat())


def _last_written(name: str, digest: str, journal: list[JournalLine]) -> str | None:
    """Return the last day on which the journal says that this record was written; None if it never does."""
    own = [line for line in journal if line.commitment == digest or (line.subject == name and _ends_run(line.event))]
    return own[-1].day if own else None


def _ends_run(event: str) -> bool:
    return event in ("entry.reading", "entry.committed", "entry.withheld", "entry.private")


def expired_records(ledger: Ledger, home: Path, today: date | None = None) -> list[str]:
    """Return the names of the private records that are older than the retention of the working copy `home`.

    Raises ConfigurationError if it states none.
    """
    days = private_record_days(home)
    if days is None:
        expected = "private_record_days = 365, or an ID"
        raise ConfigurationError(
            Problem(str(home / FILE), None, "private_record_days", "missing", expected, code=Code.SETTING)
        )
    now = (today or datetime.now(UTC).date()).isoformat()
    return [each.name for each in stored_records(ledger, days) if each.expires is not None and each.expires <= now]


def delete_record(name: str, ledger: Ledger) -> DeletedRecord:
    """Delete a private record after the ledger has recorded that, or finish an interrupted deletion.

    Raises LedgerRefused for a record that is not there or that the ledger does not know, EnvironmentFault if it can't
    be removed.
    """
    path = private_file(ledger.path, ledger.id, name)
    if path not in private_records(ledger.path, ledger.id).values():
        line = _deletion(name, ledger)
        if line is None:
            raise LedgerRefused(f"{name} has no private record; `crowdgate record list` shows those that are there")
        return DeletedRecord(name, line.day)
    digest = _digest(path)
    _refuse_unknown(name, digest, ledger)
    if (name, digest) not in ledger.recorded(RECORD_DELETED):
        ledger.record(RECORD_DELETED, name, digest)
    try:
        remove_private(path)
    except OSError as error:
        raise EnvironmentFault(f"{path}: it can't be removed: {error.strerror}; then run this command again") from None
    return DeletedRecord(name, None)


def refuse_deleted(name: str, ledger: Ledger) -> None:
    """Raise LedgerRefused if the journal says that the private record of this name was deleted."""
    line = _deletion(name, ledger)
    if line is not None:
        raise LedgerRefused(f"the private record of {name} was deleted on {line.day} (line {line.number})")


def _deletion(name: str, ledger: Ledger) -> JournalLine | None:
    own = [line for line in ledger.journal() if line.event == RECORD_DELETED and line.subject == name]
    return own[-1] if own else None


def _refuse_unknown(name: str, digest: str, ledger: Ledger) -> None:
    """Refuse a record that the ledger neither committed to nor may have lost sight of: it may be of another copy."""
    entry = ledger.entry(name)
    if (entry is None or not entry.reading) and all(line.commitment != digest for line in ledger.journal()):
        raise LedgerRefused(f"the ledger {ledger.id} knows no record of {name}: it may be an older copy", "edited")


def _digest(path: Path) -> str:
    try:
        with plain_file(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EnvironmentFault(f"{path}: it can't be read: {error.strerror}") from None
