"""A copy of a ledger in another database: the same lines, rows and signatures, which is proved before it counts.

The copy is the same ledger, with the same id. Only one of both may be used afterwards: heads, releases and private
records refuse the one that lacks lines of the other.
"""

from collections.abc import Iterator
from typing import Any

from crowdgate.errors import LedgerRefused
from crowdgate.ledger.journal import JournalLine, last_line
from crowdgate.ledger.ledger import Ledger, open_ledger
from crowdgate.ledger.replay import JournalMismatch, JournalReplay
from crowdgate.ledger.schema import COLUMNS, CONTRACTS, ENTRIES, FORMAT, JOURNAL, LINE, POPULATIONS, SIGNATURES
from crowdgate.ledger.store import Database
from crowdgate.ledger.stores import kind_of

_SIGNATURE = ("number", "key", "signature")
_FIRST = (POPULATIONS, ENTRIES, CONTRACTS)
"""The tables that rows of other tables name."""


def copy_ledger(source: Ledger, target: str) -> JournalLine:
    """Copy a verified ledger into a new database at a URL, and return the last line of both.

    Raises VerificationFailed for a source that differs from its journal, LedgerRefused for one of an older format, and
    as `create` does if the target exists or can't be made; then no copy is left.
    """
    source.verify()
    with source.snapshot() as there:  # one for all: other runs may go on meanwhile
        if last_form(there) != FORMAT:
            raise LedgerRefused(f"the ledger {source.id} is of an older format; `crowdgate ledger upgrade` first")
        with kind_of(target).made(target) as here:
            for table, columns in tables():
                _copy_rows(there, here, table, columns)
            refuse_difference(there, here)
        with open_ledger(target, source.id, reading=True).snapshot() as here:
            refuse_difference(there, here)
            return last_line(here)


def tables() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each table of a ledger with its columns, those first that others name."""
    order = [*_FIRST, *(table for table in COLUMNS if table not in _FIRST)]
    yield from ((table, COLUMNS[table]) for table in order)
    yield from ((JOURNAL, LINE), (SIGNATURES, _SIGNATURE))


def last_form(database: Database) -> int:
    """Return the format that a ledger states."""
    ((form,),) = database.rows("SELECT format FROM ledger")
    return int(form)


def refuse_difference(there: Database, here: Database) -> None:
    """Raise LedgerRefused unless two databases hold the same lines, signatures and rows, and the journal of the copy
    gives its rows.
    """
    seen = JournalReplay()
    try:
        seen.follow(here)
        seen.compare(here)
    except JournalMismatch as changed:
        raise LedgerRefused(f"the copy is damaged: {changed}") from None
    if not all(_sorted(there, *each) == _sorted(here, *each) for each in tables()):
        raise LedgerRefused("the copy differs from the ledger")


def _copy_rows(there: Database, here: Database, table: str, columns: tuple[str, ...]) -> None:
    added = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    for row in there.rows(_select(table, columns)):
        here.change(added, *_typed(columns, row))


def _typed(columns: tuple[str, ...], row: tuple[Any, ...]) -> list[Any]:
    """Return the values of a row; SQLite keeps truth values as 0 and 1."""
    return [bool(value) if name in ("reading", "frozen") else value for name, value in zip(columns, row, strict=True)]


def _sorted(database: Database, table: str, columns: tuple[str, ...]) -> list[tuple[Any, ...]]:
    return sorted(database.rows(_select(table, columns)))


def _select(table: str, columns: tuple[str, ...]) -> str:
    return f"SELECT {', '.join(columns)} FROM {table}"
