"""Whether a file of SQLite is whole, and has the tables and indexes of a ledger and nothing that acts by itself."""

import re
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from functools import cache
from typing import Any

from crowdgate.ledger.schema import STATEMENTS
from crowdgate.ledger.store import Database

_ADDED = re.compile(r",(holderVARCHAR\(300\)|sinceVARCHAR\(20\))")
"""Columns that stand elsewhere in the definition where a ledger of format 1 was upgraded."""
Shape = frozenset[tuple[Any, ...]]


def integrity_fault(database: Database, tables: Sequence[str] = ()) -> str | None:
    """What is wrong, in words, or None. Every page (only those of these tables, if any are named) is looked at, and
    every index compared with its table."""
    if any(list(database.rows(f"PRAGMA integrity_check({each})")) != [("ok",)] for each in tables or ("1",)):
        return "its file is damaged"
    return None if _shape(database.rows) == _expected() else "its tables, indexes or triggers are not those of a ledger"


def active_objects(database: Database) -> str | None:
    """What acts by itself in a file, in words, or None: asked under the lock, for it may be there for a moment."""
    acting = any(database.rows("SELECT 1 FROM sqlite_master WHERE type NOT IN ('table', 'index')"))
    return "it holds triggers or views" if acting else None


def _shape(rows: Callable[..., Iterable[tuple[Any, ...]]]) -> Shape:
    """Each column of each table, and the definition of whatever there is, without blanks."""
    held = "SELECT type, name, sql FROM sqlite_master WHERE NOT (type = 'index' AND sql IS NULL)"  # but automatic ones
    found: list[tuple[Any, ...]] = []
    for kind, name, sql in list(rows(held)):
        found.append((kind, name, _ADDED.sub("", "".join(str(sql).split()))))
        if kind == "table":
            found += [(kind, name, *column[1:]) for column in rows("SELECT * FROM pragma_table_xinfo(?)", name)]
    return frozenset(found)


@cache
def _expected() -> Shape:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in STATEMENTS.values():
            connection.execute(statement)
        return _shape(lambda statement, *values: connection.execute(statement, values))
