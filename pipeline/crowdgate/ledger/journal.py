"""The ledger's journal: one line for each change, chained by SHA-256, with the row as the change left it.

So the journal says what every other table must hold, and no line can be changed without all that follow.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, insert, select

from crowdgate.ledger.schema import contracts, entries, journal, ledgers, populations

# Every row of these tables is in the journal; the column names the row.
_KEYS = {ledgers: "id", populations: "population", contracts: "contract", entries: "number"}
_TABLES = {table.name: key for table, key in _KEYS.items()}
Rows = dict[tuple[str, Any], dict[str, Any]]


@dataclass(frozen=True)
class Line:
    """One line. `detail` is JSON, of the row that was written; `digest` covers this line and all before it."""

    number: int
    event: str
    subject: str
    commitment: str | None
    detail: str | None
    digest: str


def append(connection: Connection, step: str, subject: str, commitment: str | None = None, **detail: object) -> None:
    """Adds a line; the caller holds the ledger's lock."""
    last = select(journal.c.number, journal.c.digest).order_by(journal.c.number.desc()).limit(1)
    number, digest = connection.execute(last).tuples().one_or_none() or (0, "")
    text = _canonical(detail) if detail else None
    connection.execute(insert(journal).values(vars(_chained(digest, number + 1, step, subject, commitment, text))))


def add(connection: Connection, table: Table, step: str, subject: str, values: dict[str, Any]) -> None:
    """Inserts a row and says so."""
    row = connection.execute(insert(table).values(values).returning(*table.c)).mappings().one()
    append(connection, step, subject, table=table.name, row=dict(row))


def lines(connection: Connection) -> list[Line]:
    """All lines in their order."""
    return [Line(**row) for row in connection.execute(select(journal).order_by(journal.c.number)).mappings()]


def last_line(connection: Connection) -> Line:
    """The last line; there always is one, of the ledger's creation."""
    found = connection.execute(select(journal).order_by(journal.c.number.desc()).limit(1)).mappings().one()
    return Line(**found)


def rows(connection: Connection) -> Rows:
    """What the other tables hold."""
    held = ((table, key, row) for table, key in _KEYS.items() for row in connection.execute(select(table)).mappings())
    return {(table.name, row[key]): dict(row) for table, key, row in held}


def broken_line(written: Sequence[Line]) -> int | None:
    """The number of the first line that does not follow from the lines before it, or None."""
    digest = ""
    for number, line in enumerate(written, start=1):
        if line != _chained(digest, number, line.event, line.subject, line.commitment, line.detail):
            return number
        digest = line.digest
    return None


def differing(written: Sequence[Line], held: Rows) -> list[str]:
    """The tables that hold something else than the journal says."""
    said: Rows = {}
    for line in written:
        detail = {} if line.detail is None else json.loads(line.detail)
        if detail:
            said[detail["table"], detail["row"][_TABLES[detail["table"]]]] = detail["row"]
    return sorted(
        {table for table, key in said.keys() | held.keys() if said.get((table, key)) != held.get((table, key))}
    )


def _canonical(value: object) -> str:
    """JSON with sorted keys and no blanks: equal values have equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _chained(digest: str, number: int, step: str, subject: str, commitment: str | None, detail: str | None) -> Line:
    said = _canonical([digest, number, step, subject, commitment, detail])
    return Line(number, step, subject, commitment, detail, hashlib.sha256(said.encode()).hexdigest())
