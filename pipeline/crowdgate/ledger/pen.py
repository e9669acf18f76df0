"""One change of a ledger while it is made: rows are written, and lines say so."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, Update, insert

from crowdgate.ledger.attested import Attested
from crowdgate.ledger.journal import Line, Row, append


@dataclass
class Pen:
    """A transaction that holds the ledger's lock, what the journal said when it began, the store's time, and who
    writes; `last` is the last line that was written in it."""

    connection: Connection
    seen: Attested
    at: str
    by: str
    last: Line | None = None

    def line(
        self, event: str, subject: str, commitment: str | None = None, rows: Sequence[Row] = (), **said: object
    ) -> Line:
        """Adds a line to the journal, of rows that were written."""
        after = (self.seen.number, self.seen.digest) if self.last is None else (self.last.number, self.last.digest)
        self.last = append(self.connection, after, event, subject, commitment, rows, at=self.at, by=self.by, **said)
        return self.last

    def added(self, table: Table, values: dict[str, Any]) -> Row:
        """Inserts a row."""
        return table, dict(self.connection.execute(insert(table).values(values).returning(*table.c)).mappings().one())

    def changed(self, table: Table, change: Update) -> Row | None:
        """Changes a row; None where there is no such row."""
        row = self.connection.execute(change.returning(*table.c)).mappings().one_or_none()
        return None if row is None else (table, dict(row))
