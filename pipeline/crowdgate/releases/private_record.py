"""The private record of a release, for its curator: each access is a line of the ledger before anything is shown."""

from dataclasses import dataclass
from typing import Any

from crowdgate.errors import LedgerRefused
from crowdgate.ledger.access_log import RECORD_OPENED
from crowdgate.ledger.ledger import Ledger
from crowdgate.ledger.private import has_private_record, private_file, read_private
from crowdgate.releases.record_retention import refuse_deleted


@dataclass(frozen=True)
class PrivateRecord:
    """A private record that was opened. `committed`: the ledger holds its digest.

    Without it the run was killed between writing the record and committing the ledger to it.
    """

    release_id: str
    population: str
    ledger: str
    committed: bool
    sections: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        stated = {"outcome": "shown", "release_id": self.release_id, "ledger": self.ledger}
        return {**stated, "committed": self.committed, "record": self.sections}


def open_record(release_id: str, ledger: Ledger) -> PrivateRecord:
    """Record the access to a release's private record, then return it.

    Raises LedgerRefused for a ledger that lacks state which is kept outside, for a release that it does not know or
    that read nothing, and if there is no record; EnvironmentFault if that can't be checked; VerificationFailed for a
    record other than the committed one. After an error of the ledger nothing is shown.
    """
    ledger.admit()
    entry = ledger.entry(release_id)
    if entry is None or not entry.reading:
        raise LedgerRefused(f"{release_id} has no private record: no run of it in the ledger {ledger.id} read data")
    path = private_file(ledger.path, ledger.id, release_id)
    if not has_private_record(ledger.path, ledger.id, release_id):
        refuse_deleted(release_id, ledger)
        raise LedgerRefused(f"{release_id} has no private record: it still runs, was stopped, or could not write it")
    ledger.record(RECORD_OPENED, release_id, entry.private_commitment)
    known = {line.commitment for line in ledger.journal() if line.subject == release_id}
    sections, committed = read_private(path, {each for each in (*known, entry.private_commitment) if each})
    return PrivateRecord(release_id, entry.population, ledger.id, committed, sections)


def record_line(release_id: str) -> str:
    """Return the line that every run prints before it reads data, so that the line can't depend on them."""
    told = "every access is recorded, and marks policies that change later"
    return f"for the custodian only: crowdgate record show {release_id} ({told})"
