"""A journal that is followed line by line as its chain holds, and whether the other tables hold just what it says.

Everything is looked at once, and then only what was written since: under the ledger's lock that is what others wrote in
the meantime. What is written here is followed as well before it is written, so that nothing is that would be refused.
"""

from collections.abc import Hashable

from sqlalchemy import Connection, Table, select

from crowdgate.ledger.journal import KEYS, digest_of, line_at, lines_after, parse_detail, raw_rows
from crowdgate.ledger.journal_rules import AT, COLUMNS, JournalState
from crowdgate.ledger.schema import entries


class JournalMismatch(Exception):
    """What a ledger holds that its journal does not say, in words."""


class JournalReplay:
    """A ledger as far as its journal was followed: `number` and `digest` of the last line, and what it says."""

    def __init__(self) -> None:
        self.number, self.digest, self.held = 0, "", JournalState()

    def follow(self, connection: Connection) -> None:
        """All lines since the last one that was seen, each of which must follow from those before. Raises Changed."""
        if self.number:
            last = line_at(connection, self.number)
            if last is None or last.digest != self.digest:
                raise JournalMismatch(f"line {self.number} of its journal is not there any more, or was changed")
        for line in raw_rows(connection, lines_after(self.number)):
            self.add(*line)

    def add(
        self, number: int, event: str, subject: str, commitment: str | None, detail: str | None, digest: str
    ) -> None:
        """The next line. Raises Changed; then this object is of no use any more."""
        at = self.number + 1
        try:
            if number != at or digest != digest_of(self.digest, number, event, subject, commitment, detail):
                raise JournalMismatch(f"line {at} of its journal was changed")
            self.held.add(event, subject, commitment, parse_detail(detail))
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, ZeroDivisionError, RecursionError):
            raise JournalMismatch(f"line {at} of its journal says what no ledger writes there") from None
        self.number, self.digest = number, digest

    def compare(self, connection: Connection) -> None:
        """Every row of every table with what the journal says. Raises Changed."""
        wrong = [table.name for table in KEYS if not self._agrees(connection, table)]
        if wrong:
            raise JournalMismatch(f"{', '.join(sorted(wrong))} differ from its journal")

    def _agrees(self, connection: Connection, table: Table) -> bool:
        at, rows = AT[table.name], self.held.rows[table.name]
        return {row[at]: row for row in raw_rows(connection, select(table))} == rows

    def row(self, connection: Connection, table: Table, key: Hashable) -> None:
        """One row, or that there is none. Raises Changed."""
        column = table.c[COLUMNS[table.name][AT[table.name]]]
        found = connection.execute(select(table).where(column == key)).all()
        said = self.held.rows[table.name].get(key)
        if [tuple(row) for row in found] != ([] if said is None else [said]):
            raise JournalMismatch(f"{table.name} differ from its journal")

    def charge(self, connection: Connection, release_id: str, live: int | None) -> None:
        """The charge of a release, as it was found there (None: none). Raises Changed."""
        if live != self.held.charged.get(release_id):
            raise JournalMismatch(f"{entries.name} differ from its journal")
        if live is not None:
            self.row(connection, entries, live)
