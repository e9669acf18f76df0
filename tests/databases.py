"""Tables in database engines for tests: SQLite, DuckDB, and PostgreSQL."""

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.servers import NO_POSTGRESQL, PASSWORD, PostgresqlServer, postgresql_programs

_SCHEMAS = count()


class PostgresTables:
    """An own database of this process at the server of the test run, whose user `owner` logs in with a password."""

    def __init__(self) -> None:
        self.server = PostgresqlServer()
        self.database = self.server.new_database()
        self.server.execute(self.database, f"GRANT ALL ON DATABASE {self.database} TO owner")
        self.server.execute(self.database, f"REVOKE CONNECT ON DATABASE {self.database} FROM PUBLIC")

    def connect(self) -> Any:
        """Connect as the owner of all tables."""
        import adbc_driver_postgresql.dbapi as driver

        place = f"{self.database}?host={self.server.folder}"
        return driver.connect(f"postgresql://owner:{PASSWORD}@/{place}", autocommit=True)

    def execute(self, *statements: str) -> None:
        """Run statements as the owner."""
        with self.connect() as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def end_sessions(self) -> None:
        """End all sessions of Crowdgate in this database."""
        of = f"datname = '{self.database}' AND application_name = 'crowdgate'"
        self.server.execute("postgres", f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {of}")


def missing_postgres() -> str | None:
    """Return why no PostgreSQL server can be tested here, None if one can."""
    if find_spec("adbc_driver_postgresql") is None or find_spec("psycopg") is None:
        return "the extra `postgres` is not installed"
    return None if postgresql_programs() else NO_POSTGRESQL


@cache
def postgres_server() -> PostgresTables:
    """Return the database of this process. Skips the test where there is no server."""
    why = missing_postgres()
    if why is not None:
        pytest.skip(why)
    tables = PostgresTables()
    os.environ["PGUSER"], os.environ["PGPASSWORD"] = "owner", PASSWORD
    return tables


Tables = dict[str, pa.Table]


def sqlite_tables(folder: Path, tables: Tables) -> str:
    """Write a SQLite file, whose columns have no type, and return the contract's line of its server."""
    with closing(sqlite3.connect(folder / "patients.sqlite")) as connection:
        for name, table in tables.items():
            columns = ", ".join(f'"{column}"' for column in table.column_names)
            connection.execute(f'CREATE TABLE "{name}" ({columns})')
            marks = ", ".join("?" * table.num_columns)
            rows = zip(*(map(_plain, column.to_pylist()) for column in table.columns), strict=True)
            connection.executemany(f'INSERT INTO "{name}" VALUES ({marks})', rows)
        connection.commit()
    return "{server: local, type: local, path: patients.sqlite, format: sqlite}"


def _plain(cell: Any) -> Any:
    return cell if cell is None or isinstance(cell, int | float | str | bytes) else str(cell)


def duckdb_tables(folder: Path, tables: Tables) -> str:
    """Write a DuckDB file and return the contract's line of its server."""
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(folder / "patients.duckdb")) as connection:
        for name, table in tables.items():
            connection.register("given", table)
            connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM given')
            connection.unregister("given")
    return "{server: local, type: duckdb, database: patients.duckdb, schema: main}"


def postgres_tables(folder: Path, tables: Tables) -> str:
    """Write tables to a new schema of the server and return the contract's line of the server."""
    del folder
    server, schema = postgres_server(), f"s{next(_SCHEMAS)}"
    server.execute(f"CREATE SCHEMA {schema}")
    with server.connect() as connection, connection.cursor() as cursor:
        for name, table in tables.items():
            cursor.adbc_ingest(name, table, mode="create", db_schema_name=schema)
    place = f"host: {server.server.folder}, port: 5432, database: {server.database}, schema: {schema}"
    return f"{{server: x, type: postgres, {place}}}"


DATABASES: dict[str, Callable[[Path, Tables], str]] = {
    "sqlite": sqlite_tables,
    "duckdb": duckdb_tables,
    "postgres": postgres_tables,
}


def patients(rows: Sequence[dict[str, object]]) -> Tables:
    """Return the clinic's table as text, except whole numbers."""
    columns: dict[str, Any] = {}
    for name in ("patient", "age", "ward", "note"):
        cells = [row[name] for row in rows]
        whole = all(isinstance(cell, int) for cell in cells)
        texts = [None if cell is None else str(cell) for cell in cells]
        columns[name] = pa.array(cells, pa.int64()) if whole else pa.array(texts, pa.string())
    return {"patients": pa.table(columns)}
