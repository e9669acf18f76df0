"""Integrity of a SQLite file: undamaged, with the tables and indexes of a ledger, without triggers and views."""

import re
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from functools import cache
from typing import Any

from crowdgate.ledger.charge_image import DAMAGED_INDEXES, IMAGED
from crowdgate.ledger.schema import LEDGERS, select, statements
from crowdgate.ledger.store import Database

_ADDED = re.compile(r",(holderVARCHAR\(300\)|sinceVARCHAR\(20\))")
"""Columns whose position in the definition differs in a ledger that was upgraded from format 1."""
Shape = frozenset[tuple[Any, ...]]


def integrity_fault(database: Database, tables: Sequence[str] = ()) -> str | None:
    """Return a description of damage to the SQLite file, or None. Checks every page, every index against its table, and
    the schema.

    If `tables` are given, checks only these, unless there are free pages, which could be pages of others; and no index
    of the charges, whose entries are compared with the journal when they are used.
    """
    checks = [*map(_check_of, tables)] if tables and _is_full(database) else ["PRAGMA integrity_check(1)"]
    if not all(_passes(database, each) for each in checks):
        return DAMAGED_INDEXES if _passes(database, "PRAGMA quick_check(1)") else "its file is damaged"
    forms = [form for _, form in database.rows(select(LEDGERS))]
    if len(forms) == 1 and _shape(database.rows) == _expected(int(forms[0])):
        return None
    return "its tables, indexes or triggers differ from those that Crowdgate makes"


def _is_full(database: Database) -> bool:
    return list(database.rows("PRAGMA freelist_count")) == [(0,)]


def _passes(database: Database, check: str) -> bool:
    return list(database.rows(check)) == [("ok",)]


def _check_of(table: str) -> str:
    return f"PRAGMA {'quick_check' if table in IMAGED else 'integrity_check'}({table})"


def active_objects(database: Database) -> str | None:
    """Return a description of the triggers and views in the database, or None. Called under the lock, as they may exist
    only briefly.
    """
    acting = any(database.rows("SELECT 1 FROM sqlite_master WHERE type NOT IN ('table', 'index')"))
    return "it holds triggers or views" if acting else None


def _shape(rows: Callable[..., Iterable[tuple[Any, ...]]]) -> Shape:
    """Return the columns of each table, and the SQL definition of every object without blanks."""
    held = (
        "SELECT type, name, sql FROM sqlite_master WHERE NOT (type = 'index' AND sql IS NULL)"  # except automatic ones
    )
    found: list[tuple[Any, ...]] = []
    for kind, name, sql in list(rows(held)):
        found.append((kind, name, _ADDED.sub("", "".join(str(sql).split()))))
        if kind == "table":
            found += [(kind, name, *column[1:]) for column in rows("SELECT * FROM pragma_table_xinfo(?)", name)]
    return frozenset(found)


@cache
def _expected(form: int) -> Shape:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in statements(form).values():
            connection.execute(statement)
        return _shape(lambda statement, *values: connection.execute(statement, values))
