"""Whether a file of SQLite is whole, and has the tables and indexes of a ledger and nothing that acts by itself."""

import re
from functools import cache
from typing import Any

from sqlalchemy import Connection, create_engine

from crowdgate.ledger.schema import metadata

_ADDED = re.compile(r",(holderVARCHAR\(300\)|sinceVARCHAR\(20\))")
"""Columns that stand elsewhere in the definition where a ledger of format 1 was upgraded."""
Shape = frozenset[tuple[Any, ...]]


def integrity_fault(connection: Connection) -> str | None:
    """What is wrong, in words, or None. Every page is looked at, and every index compared with its table."""
    found = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()
    if found != "ok":
        return "its file is damaged"
    return None if _shape(connection) == _expected() else "its tables, indexes or triggers are not those of a ledger"


def active_objects(connection: Connection) -> str | None:
    """What acts by itself in a file, in words, or None: asked under the lock, for it may be there for a moment."""
    found = connection.exec_driver_sql("SELECT 1 FROM sqlite_master WHERE type NOT IN ('table', 'index')").first()
    return None if found is None else "it holds triggers or views"


def _shape(connection: Connection) -> Shape:
    """Each column of each table, and the definition of whatever there is, without blanks."""
    held = "SELECT type, name, sql FROM sqlite_master WHERE NOT (type = 'index' AND sql IS NULL)"  # but automatic ones
    found: list[tuple[Any, ...]] = []
    for kind, name, sql in connection.exec_driver_sql(held).all():
        found.append((kind, name, _ADDED.sub("", "".join(str(sql).split()))))
        if kind == "table":
            columns = connection.exec_driver_sql("SELECT * FROM pragma_table_xinfo(?)", (name,))
            found += [(kind, name, *column[1:]) for column in columns]
    return frozenset(found)


@cache
def _expected() -> Shape:
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        metadata.create_all(connection)
        return _shape(connection)
