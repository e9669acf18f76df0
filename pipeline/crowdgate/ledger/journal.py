"""The ledger's journal: one line for each change, chained by SHA-256, with the rows as the change left them.

The journal determines the content of every other table, and no line can be changed without all that follow. Each line
states its time, by the store's clock, and its author.
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
    """One line of the journal. `detail` is JSON: time, author, and the rows that were written; `digest` covers this
    line and all before it.
    """

    number: int
    event: str
    subject: str
    commitment: str | None
    detail: str | None
    digest: str

    @property
    def detail_values(self) -> dict[str, Any]:
        """The JSON of `detail` as a dictionary: time, author, and the rows that were written."""
        return parse_detail(self.detail)

    @property
    def day(self) -> str | None:
        """The day on which the line was written (YYYY-MM-DD) by the ledger's clock; None for lines of format 1, which
        lack it.
        """
        when = self.detail_values.get("at")
        return None if when is None else str(when)[:10]

    def rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the rows that the line wrote, with the names of their tables."""
        return ((each["table"], each["row"]) for each in rows_of_detail(self.detail_values))

    def row(self, table: str) -> dict[str, Any]:
        """Return the one row that this line wrote into a table. Raises StopIteration if it wrote none."""
        return next(row for name, row in self.rows() if name == table)


def parse_detail(detail: str | None) -> dict[str, Any]:
    """Return the `detail` of a journal line as a dictionary. Raises ValueError for other JSON or trailing
    characters.
    """
    if detail is None:
        return {}
    said, end = _decoded(detail)
    if end != len(detail) or not isinstance(said, dict):
        raise ValueError("no object of JSON, or something after it")
    return said


def rows_of_detail(said: Mapping[str, Any]) -> Sequence[Any]:
    """Return the rows in the detail of a journal line, each with its table's name (lines of a format 1 ledger hold one
    row).
    """
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
    """Return the journal line that follows the line `after` (its number and digest), with the current event, rows and
    detail.
    """
    number, digest = after
    held = {"rows": [{"table": table, "row": dict(row)} for table, row in rows]} if rows else {}
    return chain_line(digest, number + 1, event, subject, commitment, _encoded({**said, **held}))


def rows_after(database: Database, number: int) -> Iterator[tuple[Any, ...]]:
    """Yield all journal lines after the line with this number, in order, as raw tuples of the database."""
    return database.rows(f"{_LINES} WHERE number > ? ORDER BY number", number)


def lines(database: Database) -> Iterator[JournalLine]:
    """Yield all lines of the journal, in order."""
    return (JournalLine(*row) for row in rows_after(database, 0))


def line_at(database: Database, number: int) -> JournalLine | None:
    """Return the journal line with this number; None if there is none."""
    return next((JournalLine(*row) for row in database.rows(f"{_LINES} WHERE number = ?", number)), None)


def last_line(database: Database) -> JournalLine:
    """Return the last line of the journal. There always is one: the line of the ledger's creation."""
    return next(JournalLine(*row) for row in database.rows(f"{_LINES} ORDER BY number DESC LIMIT 1"))


def last_of(database: Database, event: str, subject: str) -> JournalLine | None:
    """Return the last journal line of this event and subject; None if there is none."""
    own = f"{_LINES} WHERE event = ? AND subject = ? ORDER BY number DESC LIMIT 1"
    return next((JournalLine(*row) for row in database.rows(own, event, subject)), None)


def chain_line(
    digest: str, number: int, event: str, subject: str, commitment: str | None, detail: str | None
) -> JournalLine:
    """Return a journal line with this number and content, chained to the previous line, which has this digest."""
    return JournalLine(
        number, event, subject, commitment, detail, digest_of(digest, number, event, subject, commitment, detail)
    )


def digest_of(before: str, number: int, event: str, subject: str, commitment: str | None, detail: str | None) -> str:
    """Return the digest of a journal line: the SHA-256 of a JSON list of the previous line's digest and this line's
    content.
    """
    noted = "null" if commitment is None else quoted(commitment)
    said = "null" if detail is None else quoted(detail)
    text = f'["{before}",{number},{quoted(event)},{quoted(subject)},{noted},{said}]'
    return hashlib.sha256(text.encode()).hexdigest()
