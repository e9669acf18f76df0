"""One change of a ledger while it is made: rows are written, and lines say so."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, Update, insert

from crowdgate.ledger.journal import JournalLine, Row, next_line
from crowdgate.ledger.replay import JournalReplay
from crowdgate.ledger.schema import journal


@dataclass
class JournalWriter:
    """A transaction that holds the ledger's lock, what the journal says so far, the store's time, and who writes;
    `last` is the last line that was written in it."""

    connection: Connection
    seen: JournalReplay
    at: str
    by: str
    last: JournalLine | None = None

    def line(
        self, event: str, subject: str, commitment: str | None = None, rows: Sequence[Row] = (), **said: object
    ) -> JournalLine:
        """Adds a line to the journal, of rows that were written. Raises Changed for one that nobody could follow."""
        written = {**said, "at": self.at, "by": self.by}
        self.last = next_line((self.seen.number, self.seen.digest), event, subject, commitment, rows, written)
        self.seen.add(*self.last)
        self.connection.execute(insert(journal).values(self.last._asdict()))
        return self.last

    def added(self, table: Table, values: dict[str, Any]) -> Row:
        """Inserts a row."""
        return table, dict(self.connection.execute(insert(table).values(values).returning(*table.c)).mappings().one())

    def update_row(self, table: Table, change: Update) -> Row | None:
        """Changes a row; None where there is no such row."""
        row = self.connection.execute(change.returning(*table.c)).mappings().one_or_none()
        return None if row is None else (table, dict(row))
