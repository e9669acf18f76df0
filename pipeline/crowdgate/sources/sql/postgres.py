"""PostgreSQL, by its ADBC driver: the answer arrives in Arrow batches.

User and password never stand in a contract: libpq takes them from PGUSER, PGPASSWORD, PGPASSFILE or PGSERVICEFILE, and
TLS from PGSSLMODE and PGSSLROOTCERT.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from crowdgate.errors import FileFault
from crowdgate.sources.sql.dialect import DatabaseColumn, Dialect, Relation, Trouble
from crowdgate.sources.table_header import CellType
from crowdgate.system.extras import POSTGRES_TABLES
from crowdgate.system.postgres_login import SAFE_LOGIN

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Contract

_PATIENCE = 20
"""Seconds to wait for a connection."""
_BATCH_BYTES = 4 << 20
_TYPES = {
    **dict.fromkeys(("int2", "int4", "int8"), CellType.WHOLE),
    **dict.fromkeys(("float4", "float8", "numeric"), CellType.NUMBER),
    **dict.fromkeys(("timestamp", "timestamptz"), CellType.MOMENT),
    **dict.fromkeys(("text", "varchar", "bpchar", "name", "bytea", "uuid"), CellType.TEXT),
    **dict.fromkeys(("time", "timetz"), CellType.TIME),
    "bool": CellType.FLAG,
    "date": CellType.DAY,
}
_SESSION = (
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "SET LOCAL row_security = off",  # a policy would leave rows out: then the query fails
    "SET LOCAL search_path = pg_catalog",
    "SET LOCAL datestyle = 'ISO, YMD'",
    "SET LOCAL timezone = 'UTC'",
    "SET LOCAL extra_float_digits = 1",
    "SET LOCAL bytea_output = 'hex'",
)
_NESTED = "nested"
_STATES = {
    "28": Trouble.LOGIN,
    "42501": Trouble.RIGHTS,
    "3D": Trouble.MISSING,
    "57014": Trouble.TIMEOUT,
    "08": Trouble.AWAY,
    "57": Trouble.AWAY,
    "53": Trouble.MEMORY,
}
"""Troubles by SQLSTATE, or by the two digits of its class."""
_WORDS = {
    "authentication failed": Trouble.LOGIN,
    "no password supplied": Trouble.LOGIN,
    "statement timeout": Trouble.TIMEOUT,
    "permission denied": Trouble.RIGHTS,
    "row-level security": Trouble.RIGHTS,
    "terminating connection": Trouble.AWAY,
    "does not exist": Trouble.MISSING,
    "timeout expired": Trouble.AWAY,
    "server closed the connection": Trouble.AWAY,
    "connection to server": Trouble.AWAY,
    "could not translate host name": Trouble.AWAY,
}
"""Troubles by the first words that are found: there is no SQLSTATE for a connection that was not made, nor for an error
between batches."""


class Postgres(Dialect):
    """PostgreSQL, from version 13."""

    name, title, extra = "postgres", "PostgreSQL", POSTGRES_TABLES
    merging = MappingProxyType({"float4": 2**24, "float8": 2**53})

    def cell_type(self, column: DatabaseColumn) -> CellType:
        """Return the type of cells that PostgreSQL's type holds."""
        return CellType.NESTED if column.type == _NESTED else _TYPES.get(column.type, CellType.UNKNOWN)

    def cell(self, expression: str, column: DatabaseColumn, longest: int) -> str:
        """Return numbers and flags unchanged, everything else as the bytes of its text."""
        if column.type in ("int2", "int4", "int8"):
            return f"{expression}::int8"
        if column.type in ("float4", "float8", "bool"):
            return f"{expression}::{column.type}"
        if column.type == "bytea":
            return f"substring({expression}::bytea FROM 1 FOR {longest + 1})"
        text = f"{expression}::text"
        if column.type == "numeric":
            text = f"nullif({expression}::numeric, 'NaN'::numeric)::text"
        if column.type == "timestamptz":
            text = f"({expression} AT TIME ZONE 'UTC')::text || 'Z'"
        return f"convert_to(left({text}, {longest + 1}), 'UTF8')"

    def identifier(self, expression: str, column: DatabaseColumn, longest: int) -> str:
        """Return the cell; a decimal without the zeros at its end."""
        if column.type == "numeric":
            expression = f"trim_scale({expression}::numeric)"
        return self.cell(expression, column, longest)

    def place(self, contract: Contract, path: Path | None) -> Mapping[str, str]:
        """Return the server's settings."""
        if path is not None:
            raise FileFault("a database of a server can't be replaced by this file; name a table in files, such as CSV")
        return contract.server.settings

    def state(self, settings: Mapping[str, str]) -> object:
        """Return None: each session is a snapshot."""
        del settings
        return None

    @contextmanager
    def session(self, settings: Mapping[str, str]) -> Iterator[PostgresSession]:
        """Open a connection and a transaction that reads one snapshot."""
        import adbc_driver_postgresql.dbapi as driver

        stated = {"host": settings["host"], "port": settings["port"], "dbname": settings["database"],
                  "connect_timeout": _PATIENCE, "application_name": "crowdgate", "client_encoding": "UTF8",
                  "require_auth": SAFE_LOGIN}  # fmt: skip
        with driver.connect(f"postgresql:///?{urlencode(stated)}", autocommit=True) as connection:
            with connection.cursor() as cursor:
                for statement in (*_SESSION, f"SET LOCAL statement_timeout = '{int(settings['timeout'])}s'"):
                    cursor.execute(statement)
                cursor.execute("SELECT current_setting('server_encoding')::text")
                if cursor.fetchone()[0] != "UTF8":
                    raise FileFault("the database stores texts in another encoding than UTF8")
            yield PostgresSession(connection, self, settings["schema"])

    def trouble(self, error: Exception) -> Trouble:
        """Return what an error of the driver means: by its SQLSTATE, or where it has none by libpq's own words."""
        code = getattr(error, "sqlstate", None) or ""
        found = _STATES.get(code) or _STATES.get(code[:2])
        if found is not None:
            return found
        text = str(error)
        return next((trouble for words, trouble in _WORDS.items() if words in text), Trouble.OTHER)


class PostgresSession:
    def __init__(self, connection: Any, dialect: Dialect, schema: str) -> None:
        self._connection, self._dialect, self._schema = connection, dialect, schema

    def relation(self, name: str) -> Relation | None:
        """Return the table or view of the schema. Tables of other servers count as views: no snapshot has them."""
        at = f"n.nspname = {self._dialect.literal(self._schema)} AND c.relname = {self._dialect.literal(name)}"
        with self._connection.cursor() as cursor:
            cursor.execute(_CATALOGUE.replace("{at}", at))
            found = cursor.fetchall()
        columns = tuple(DatabaseColumn(str(row[1]), str(row[2])) for row in found if row[1] is not None)
        return Relation(found[0][0] not in ("r", "p"), columns) if found else None

    def rows(self, query: str) -> Iterator[Any]:
        """Yield the answer in batches."""
        with self._connection.cursor(
            adbc_stmt_kwargs={"adbc.postgresql.batch_size_hint_bytes": _BATCH_BYTES}
        ) as cursor:
            cursor.execute(query)
            yield from cursor.fetch_record_batch()


_KIND = (
    "CASE WHEN t.typcategory IN ('A', 'C', 'R') OR coalesce(b.typtype, t.typtype) IN ('c', 'r', 'm')",
    f"THEN '{_NESTED}' ELSE coalesce(b.typname, t.typname)::text END",
)
_CATALOGUE = " ".join(
    (
        "SELECT c.relkind::text, a.attname::text,",
        *_KIND,
        "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace",
        "LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped",
        "LEFT JOIN pg_type t ON t.oid = a.atttypid",
        "LEFT JOIN pg_type b ON t.typtype = 'd' AND b.oid = t.typbasetype",
        "WHERE {at} AND c.relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY a.attnum",
    )
)
"""The query for the kind of a relation and for its columns, with the nested types as one."""
