"""One change of a ledger while it is made: rows are written, and the journal lines that hold them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from crowdgate.ledger.journal import JournalLine, Row, next_line
from crowdgate.ledger.journal_rules import JournalState
from crowdgate.ledger.replay import JournalReplay
from crowdgate.ledger.schema import COLUMNS, JOURNAL, KEYS
from crowdgate.ledger.store import Database


@dataclass
class JournalWriter:
    """A transaction that holds the ledger's lock, with the replayed journal, the store's time and the author; `last` is
    the last line written in it.
    """

    database: Database
    seen: JournalReplay
    at: str
    by: str
    last: JournalLine | None = None

    @property
    def held(self) -> JournalState:
        """The state of the ledger after the last replayed line of its journal."""
        return self.seen.held

    def line(
        self, event: str, subject: str, commitment: str | None = None, rows: Sequence[Row] = (), **said: object
    ) -> JournalLine:
        """Append a line about the written `rows` to the journal, and return the line. Raises JournalMismatch for a line
        that breaks the replay rules.
        """
        written = {**said, "at": self.at, "by": self.by}
        self.last = next_line((self.seen.number, self.seen.digest), event, subject, commitment, rows, written)
        self.seen.add(*self.last)
        self._insert(JOURNAL, self.last._asdict())
        return self.last

    def put(self, table: str, **values: Any) -> Row:
        """Write a new row of a table, or update these columns of the row whose key is among the values; return the
        whole row.

        Raises JournalMismatch if the row differs from the journal.
        """
        key = values[KEYS[table]]
        self.seen.row(self.database, table, key)
        before = self.held.rows[table].get(key)
        row = dict.fromkeys(COLUMNS[table]) if before is None else dict(zip(COLUMNS[table], before, strict=True))
        row |= values
        if before is None:
            self._insert(table, row)
        else:
            named = ", ".join(f"{column} = ?" for column in values)
            self.database.change(f"UPDATE {table} SET {named} WHERE {KEYS[table]} = ?", *values.values(), key)
        return table, row

    def _insert(self, table: str, row: dict[str, Any]) -> None:
        places = ", ".join("?" * len(row))
        self.database.change(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})", *row.values())
