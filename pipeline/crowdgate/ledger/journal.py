"""The ledger's journal: one line for each change, chained by SHA-256, with the rows as the change left them.

So the journal says what every other table must hold, and no line can be changed without all that follow. Each line says
when it was written, by the store's clock, and by whom.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from json.encoder import encode_basestring_ascii as quoted
from typing import Any, NamedTuple

from crowdgate.ledger.schema import JOURNAL, LINE
from crowdgate.ledger.store import Database

_encoded = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode
_decoded = json.JSONDecoder().raw_decode
Row = tuple[str, Mapping[str, Any]]
"""A row with the name of its table."""
_LINES = f"SELECT {', '.join(LINE)} FROM {JOURNAL}"


class JournalLine(NamedTuple):
    """One line. `detail` is JSON: when and by whom, and the rows that were written; `digest` covers this line and all
    before it."""

    number: int
    event: str
    subject: str
    commitment: str | None
    detail: str | None
    digest: str

    @property
    def detail_values(self) -> dict[str, Any]:
        """The detail."""
        return parse_detail(self.detail)

    @property
    def day(self) -> str | None:
        """The day on which it was written (YYYY-MM-DD) by the ledger's clock; None for lines of format 1, which do not
        say."""
        when = self.detail_values.get("at")
        return None if when is None else str(when)[:10]

    def rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The rows that it wrote, with the names of their tables."""
        return ((each["table"], each["row"]) for each in rows_of_detail(self.detail_values))

    def row(self, table: str) -> dict[str, Any]:
        """The row that it wrote into a table. Raises StopIteration without one."""
        return next(row for name, row in self.rows() if name == table)


def parse_detail(detail: str | None) -> dict[str, Any]:
    """A detail, of which no character is left over. Raises ValueError."""
    if detail is None:
        return {}
    said, end = _decoded(detail)
    if end != len(detail) or not isinstance(said, dict):
        raise ValueError("no object of JSON, or something after it")
    return said


def rows_of_detail(said: Mapping[str, Any]) -> Sequence[Any]:
    """The rows of a detail, each with its table: a list, or, in lines of a ledger of format 1, one."""
    found: Sequence[Any] = said.get("rows", [said] if "table" in said else ())
    return found


def next_line(
    after: tuple[int, str],
    event: str,
    subject: str,
    commitment: str | None,
    rows: Sequence[Row],
    said: Mapping[str, object],
) -> JournalLine:
    """The line after the one of this number and digest."""
    number, digest = after
    held = {"rows": [{"table": table, "row": dict(row)} for table, row in rows]} if rows else {}
    return chain_line(digest, number + 1, event, subject, commitment, _encoded({**said, **held}))


def rows_after(database: Database, number: int) -> Iterator[tuple[Any, ...]]:
    """All lines after one, in their order, as the database has them."""
    return database.rows(f"{_LINES} WHERE number > ? ORDER BY number", number)


def lines(database: Database) -> Iterator[JournalLine]:
    """All lines in their order."""
    return (JournalLine(*row) for row in rows_after(database, 0))


def line_at(database: Database, number: int) -> JournalLine | None:
    """The line of a number, or None."""
    return next((JournalLine(*row) for row in database.rows(f"{_LINES} WHERE number = ?", number)), None)


def last_line(database: Database) -> JournalLine:
    """The last line; there always is one, of the ledger's creation."""
    return next(JournalLine(*row) for row in database.rows(f"{_LINES} ORDER BY number DESC LIMIT 1"))


def last_of(database: Database, event: str, subject: str) -> JournalLine | None:
    """The last line of an event with this subject, or None."""
    own = f"{_LINES} WHERE event = ? AND subject = ? ORDER BY number DESC LIMIT 1"
    return next((JournalLine(*row) for row in database.rows(own, event, subject)), None)


def chain_line(
    digest: str, number: int, event: str, subject: str, commitment: str | None, detail: str | None
) -> JournalLine:
    """The line that follows one with this digest."""
    return JournalLine(
        number, event, subject, commitment, detail, digest_of(digest, number, event, subject, commitment, detail)
    )


def digest_of(before: str, number: int, event: str, subject: str, commitment: str | None, detail: str | None) -> str:
    """The digest of a line: the SHA-256 of a JSON list of the digest before it and what it says."""
    noted = "null" if commitment is None else quoted(commitment)
    said = "null" if detail is None else quoted(detail)
    text = f'["{before}",{number},{quoted(event)},{quoted(subject)},{noted},{said}]'
    return hashlib.sha256(text.encode()).hexdigest()
