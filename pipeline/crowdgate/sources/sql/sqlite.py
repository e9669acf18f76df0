"""SQLite files, by Python's own driver. A column holds cells of any type, so each cell comes with its own type."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pyarrow as pa

from crowdgate.errors import FileFault
from crowdgate.sources.encode import texts
from crowdgate.sources.sql.dialect import BATCH_ROWS, DatabaseColumn, Dialect, Relation, Trouble
from crowdgate.sources.sql.table import file_settings, file_state
from crowdgate.sources.table_header import CellType

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Contract

_BUSY = 20
"""Seconds to wait for another process that writes to the file."""


class Sqlite(Dialect):
    """SQLite. GROUP BY takes the type of a cell too, as 1 and 1.0 are equal in SQLite, and so are large whole numbers
    and floats."""

    name, title = "sqlite", "SQLite"

    def relation(self, settings: Mapping[str, str], name: str) -> str:
        """Return a table of the file's main database."""
        del settings
        return f"main.{self.quoted(name)}"

    def group(self, column: str) -> str:
        """Return the cell and its type."""
        return f"{column}, typeof({column})"

    def cell_type(self, column: DatabaseColumn) -> CellType:
        """Return UNKNOWN: the type that a column states is no promise about its cells."""
        del column
        return CellType.UNKNOWN

    def cell(self, expression: str, column: DatabaseColumn, longest: int) -> str:
        """Return texts as bytes, which no collation compares, and numbers unchanged."""
        del column
        as_bytes = f"substr(CAST({expression} AS BLOB), 1, {longest + 1})"
        return f"CASE WHEN typeof({expression}) IN ('text', 'blob') THEN {as_bytes} ELSE {expression} END"

    def identifier(self, expression: str, column: DatabaseColumn, longest: int) -> str:
        """Return the cell; NULL for a float so large that it can be of several whole numbers."""
        merged = f"typeof({expression}) = 'real' AND abs({expression}) >= {2**53}"
        return f"CASE WHEN {merged} THEN NULL ELSE {self.cell(expression, column, longest)} END"

    def place(self, contract: Contract, path: Path | None) -> Mapping[str, str]:
        """Return the server's settings with the absolute path of the file."""
        return file_settings(contract, path, "path")

    def state(self, settings: Mapping[str, str]) -> object:
        """Return the stamps of the file and its journals."""
        return file_state(settings["path"])

    @contextmanager
    def session(self, settings: Mapping[str, str]) -> Iterator[SqliteSession]:
        """Open the file for reading, in one transaction. Nothing is written, not even temporary files."""
        place = f"file:{quote(settings['path'])}?mode=ro"
        connection = sqlite3.connect(place, uri=True, timeout=_BUSY, isolation_level=None)
        try:
            connection.text_factory = bytes
            for setting in ("query_only = 1", "temp_store = 2", "trusted_schema = 0"):
                connection.execute(f"PRAGMA {setting}")
            if connection.execute("PRAGMA encoding").fetchone()[0] != b"UTF-8":
                raise FileFault("the database stores texts in another encoding than UTF-8")
            connection.execute("BEGIN")
            yield SqliteSession(connection)
        finally:
            connection.close()

    def trouble(self, error: Exception) -> Trouble:
        """Return what an error of SQLite means, by its code."""
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
            return Trouble.RIGHTS
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return Trouble.TIMEOUT
        if code == sqlite3.SQLITE_CANTOPEN:
            return Trouble.AWAY
        return Trouble.MEMORY if code == sqlite3.SQLITE_NOMEM or isinstance(error, MemoryError) else Trouble.OTHER


class SqliteSession:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def relation(self, name: str) -> Relation | None:
        """Return the table or view with exactly this name. Virtual tables count as views."""
        listed = "SELECT type FROM pragma_table_list WHERE schema = 'main' AND name = ?"
        found = self._connection.execute(listed, (name,)).fetchone()
        if found is None:
            return None
        rows = self._connection.execute("SELECT name, type FROM pragma_table_xinfo(?, 'main')", (name,))
        columns = tuple(DatabaseColumn(_text(column), _text(kind)) for column, kind in rows)
        return Relation(found[0] != b"table", columns)

    def rows(self, query: str) -> Iterator[Any]:
        """Yield the answer in batches, numbers by their texts. The last column is whole numbers."""
        answer = self._connection.execute(query)
        names = [each[0] for each in answer.description]
        while rows := answer.fetchmany(BATCH_ROWS):
            *cells, counts = zip(*rows, strict=True)
            arrays = [*map(_array, cells), pa.array(counts, pa.int64())]
            yield pa.record_batch(arrays, names=names)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _array(cells: Sequence[Any]) -> Any:
    """Return the cells as bytes; numbers by their shortest texts."""
    floats = [cell for cell in cells if isinstance(cell, float)]
    written = iter(texts(pa.array(floats, pa.float64())))
    return pa.array([_bytes(next(written) if isinstance(cell, float) else cell) for cell in cells], pa.binary())


def _bytes(cell: bytes | int | str | None) -> bytes | None:
    return cell if cell is None or isinstance(cell, bytes) else str(cell).encode()
