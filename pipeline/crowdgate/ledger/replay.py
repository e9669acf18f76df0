"""A journal that is followed line by line as its chain holds, and whether the other tables hold just what it says.

Everything is looked at once, and then only what was written since: under the ledger's lock that is what others wrote in
the meantime. What is written here is followed as well before it is written, so that nothing is that would be refused.
"""

from collections.abc import Hashable

from crowdgate.ledger.journal import digest_of, line_at, parse_detail, rows_after
from crowdgate.ledger.journal_rules import AT, JournalState
from crowdgate.ledger.schema import ENTRIES, KEYS, select
from crowdgate.ledger.store import Database


class JournalMismatch(Exception):
    """What a ledger holds that its journal does not say, in words."""


class JournalReplay:
    """A ledger as far as its journal was followed: `number` and `digest` of the last line, and what it says.

    A replay is `whole` if it began at line 1. One that goes on from an attested position has read no older line.
    """

    def __init__(self, number: int = 0, digest: str = "", held: JournalState | None = None) -> None:
        self.number, self.digest, self.held = number, digest, held or JournalState()
        self.whole = number == 0

    def follow(self, database: Database) -> None:
        """Reads the lines after the last one that was seen. Raises JournalMismatch unless each follows."""
        if self.number:
            last = line_at(database, self.number)
            if last is None or last.digest != self.digest:
                raise JournalMismatch(f"line {self.number} of its journal is not there any more, or was changed")
        for line in rows_after(database, self.number):
            self.add(*line)

    def add(
        self, number: int, event: str, subject: str, commitment: str | None, detail: str | None, digest: str
    ) -> None:
        """Takes the next line in. Raises JournalMismatch; then this object is of no use any more."""
        at = self.number + 1
        try:
            if number != at or digest != digest_of(self.digest, number, event, subject, commitment, detail):
                raise JournalMismatch(f"line {at} of its journal was changed")
            self.held.add(event, subject, commitment, parse_detail(detail))
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, ZeroDivisionError, RecursionError):
            raise JournalMismatch(f"line {at} of its journal says what no ledger writes there") from None
        self.number, self.digest = number, digest

    def compare(self, database: Database) -> None:
        """Compares every row of every table with what the journal says. Raises JournalMismatch."""
        wrong = [table for table in KEYS if not self._agrees(database, table)]
        if wrong:
            raise JournalMismatch(f"{', '.join(sorted(wrong))} differ from its journal")

    def _agrees(self, database: Database, table: str) -> bool:
        at, rows = AT[table], self.held.rows[table]
        return {row[at]: row for row in database.rows(select(table))} == rows

    def row(self, database: Database, table: str, key: Hashable) -> None:
        """Compares one row, or that there is none, with what the journal says. Raises JournalMismatch."""
        found = list(database.rows(select(table, f"WHERE {KEYS[table]} = ?"), key))
        said = self.held.rows[table].get(key)
        if found != ([] if said is None else [said]):
            raise JournalMismatch(f"{table} differ from its journal")

    def charge(self, database: Database, release_id: str) -> None:
        """Compares the charge of a release, or that there is none, with the journal. Raises JournalMismatch."""
        live = f"SELECT number FROM {ENTRIES} WHERE release_id = ? AND state <> 'void'"
        found, said = list(database.rows(live, release_id)), self.held.charged.get(release_id)
        if found != ([] if said is None else [(said,)]):
            raise JournalMismatch(f"{ENTRIES} differ from its journal")
        if said is not None:
            self.row(database, ENTRIES, said)
