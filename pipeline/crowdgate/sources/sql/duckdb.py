"""DuckDB files, and Parquet files read by DuckDB. Extensions and all other access are switched off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from crowdgate.sources.sql.dialect import BATCH_ROWS, DatabaseColumn, Dialect, Relation, Trouble
from crowdgate.sources.sql.table import file_settings, file_state
from crowdgate.sources.table_header import CellType
from crowdgate.system.extras import DUCKDB

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Contract

_OFF: dict[str, Any] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_unsigned_extensions": "false",
    "temp_directory": "",
}
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_FLOAT = ("FLOAT", "DOUBLE")
_TYPES = {
    **dict.fromkeys((*_WHOLE, "UBIGINT", "HUGEINT", "UHUGEINT", "BIGNUM", "VARINT"), CellType.WHOLE),
    **dict.fromkeys(_FLOAT, CellType.NUMBER),
    "VARCHAR": CellType.TEXT,
    "BLOB": CellType.TEXT,
    "UUID": CellType.TEXT,
    "BOOLEAN": CellType.FLAG,
    "DATE": CellType.DAY,
    "TIME": CellType.TIME,
}


class DuckDB(Dialect):
    """DuckDB, in this process."""

    name, title, extra = "duckdb", "DuckDB", DUCKDB
    merging = MappingProxyType({"FLOAT": 2**24, "DOUBLE": 2**53})

    def function(self, name: str) -> str:
        """Return the whole name of a function, which no macro of a file can take."""
        return f"system.main.{name}"

    def relation(self, settings: Mapping[str, str], name: str) -> str:
        """Return the table of the schema, or the rows of the Parquet file."""
        if _is_parquet(settings):
            return f"read_parquet({self.literal(settings['database'])})"
        return super().relation(settings, name)

    def cell_type(self, column: DatabaseColumn) -> CellType:
        """Return the type of cells that DuckDB's type holds."""
        kind = column.type
        if kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION", "VARIANT")):
            return CellType.NESTED
        if kind.startswith("DECIMAL"):
            return CellType.NUMBER
        if kind.startswith("TIMESTAMP"):
            return CellType.MOMENT
        return _TYPES.get(kind, CellType.UNKNOWN)

    def cell(self, expression: str, column: DatabaseColumn, longest: int) -> str:
        """Return numbers and flags unchanged, everything else as the bytes of its text."""
        if column.type in _WHOLE:
            return f"CAST({expression} AS BIGINT)"
        if column.type in (*_FLOAT, "BOOLEAN", "BLOB"):
            return expression
        text = f"CAST({expression} AS VARCHAR)"
        if column.type == "TIMESTAMP WITH TIME ZONE":
            text = f"{self.function('regexp_replace')}({text}, '[+]00$', 'Z')"
        return f"{self.function('encode')}({self.function('left')}({text}, {longest + 1}))"

    def identifier(self, expression: str, column: DatabaseColumn, longest: int) -> str:
        """Return the cell; a decimal without the zeros at its end."""
        if not column.type.startswith("DECIMAL") or column.type.endswith(",0)"):
            return self.cell(expression, column, longest)
        text = f"{self.function('regexp_replace')}(CAST({expression} AS VARCHAR), '\\.?0+$', '')"
        return f"{self.function('encode')}({text})"

    def place(self, contract: Contract, path: Path | None) -> Mapping[str, str]:
        """Return the server's settings with the absolute path of the file."""
        return file_settings(contract, path, "database")

    def state(self, settings: Mapping[str, str]) -> object:
        """Return the stamps of the file and its journal."""
        return file_state(settings["database"])

    @contextmanager
    def session(self, settings: Mapping[str, str]) -> Iterator[DuckDBSession]:
        """Open the file for reading only; no other file can be read, and no extension loaded."""
        import duckdb

        path = settings["database"]
        place, more = (":memory:", {}) if _is_parquet(settings) else (path, {"read_only": True})
        connection = duckdb.connect(place, config=_OFF, **more)
        try:
            if _is_parquet(settings):
                connection.execute(f"SET allowed_paths = [{self.literal(path)}]")
            for setting in ("TimeZone = 'UTC'", "enable_external_access = false", "lock_configuration = true"):
                connection.execute(f"SET {setting}")
            connection.execute("BEGIN TRANSACTION")
            yield DuckDBSession(connection, self, settings)
        finally:
            connection.close()

    def trouble(self, error: Exception) -> Trouble:
        """Return what an error of DuckDB means, by its class."""
        kinds = {"IOException": Trouble.AWAY, "PermissionException": Trouble.RIGHTS,
                 "OutOfMemoryException": Trouble.MEMORY}  # fmt: skip
        return kinds.get(type(error).__name__, Trouble.OTHER)


class DuckDBSession:
    def __init__(self, connection: Any, dialect: DuckDB, settings: Mapping[str, str]) -> None:
        self._connection, self._dialect, self._settings = connection, dialect, settings

    def relation(self, name: str) -> Relation | None:
        """Return the table or view of the schema, or the columns of the Parquet file."""
        if _is_parquet(self._settings):
            rows = f"DESCRIBE SELECT * FROM {self._dialect.relation(self._settings, name)}"
            return Relation(False, _columns(self._connection.execute(rows).fetchall()))
        at = [self._settings["schema"], name]
        which = "WHERE table_catalog = current_database() AND table_schema = ? AND table_name = ?"
        found = self._connection.execute(f"SELECT table_type FROM information_schema.tables {which}", at).fetchall()
        if not found:
            return None
        columns = f"SELECT column_name, data_type FROM information_schema.columns {which} ORDER BY ordinal_position"
        return Relation(found[0][0] != "BASE TABLE", _columns(self._connection.execute(columns, at).fetchall()))

    def rows(self, query: str) -> Iterator[Any]:
        """Yield the answer in batches."""
        yield from self._connection.sql(query).to_arrow_reader(BATCH_ROWS)


def _is_parquet(settings: Mapping[str, str]) -> bool:
    return settings["database"].lower().endswith(".parquet")


def _columns(rows: list[tuple[Any, ...]]) -> tuple[DatabaseColumn, ...]:
    return tuple(DatabaseColumn(str(row[0]), str(row[1])) for row in rows)
