"""Tables in database engines for tests: SQLite, DuckDB, and one PostgreSQL server for a test run."""

import atexit
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from pwd import getpwnam
from typing import Any

import pyarrow as pa
import pytest

PASSWORD = "ZZSECRETZZ"
"""The password of every user of the server; must never be seen."""
_SCHEMAS = count()


@dataclass(frozen=True)
class PostgresServer:
    """A running server: the folder of its socket, its port, and its data folder."""

    folder: Path
    programs: Path
    user: str
    port: str = "54329"

    def connect(self) -> Any:
        """Connect as the owner of all tables."""
        import adbc_driver_postgresql.dbapi as driver

        return driver.connect(
            f"postgresql://owner:{PASSWORD}@/postgres?host={self.folder}&port={self.port}", autocommit=True
        )

    def execute(self, *statements: str) -> None:
        """Run statements as the owner."""
        with self.connect() as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def control(self, *arguments: str) -> None:
        """Run pg_ctl, which starts and stops the server."""
        options = f"-k {self.folder} -p {self.port} -c listen_addresses='' -c fsync=off -c shared_buffers=16MB"
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-l", str(self.folder / "log"), "-o", options, *arguments)

    def run(self, program: str, *arguments: str) -> None:
        """Run a program of PostgreSQL as a user that is not root."""
        call = [str(self.programs / program), *arguments]
        entry = getpwnam(self.user) if self.user else None
        who: dict[str, Any] = {} if entry is None else {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        subprocess.run(call, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", **who)


def missing_postgres() -> str | None:
    """Return why no PostgreSQL server can be tested here, None if one can."""
    if find_spec("adbc_driver_postgresql") is None:
        return "the extra `postgres` is not installed"
    return None if _programs() else "PostgreSQL is not installed (apt-get install postgresql)"


def _programs() -> Path | None:
    found = [*sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))]
    return found[-1].parent if found else None


@cache
def postgres_server() -> PostgresServer:
    """Return the server of this test run, which ends with the process. Skips the test where there is none."""
    why, programs = missing_postgres(), _programs()
    if why is not None or programs is None:
        pytest.skip(str(why))
    folder = Path(tempfile.mkdtemp(prefix="cgpg"))
    user = "nobody" if os.getuid() == 0 else ""
    if user:
        shutil.chown(folder, user)
    server = PostgresServer(folder, programs, user)
    secret = folder / "secret"
    secret.write_text(PASSWORD, encoding="utf-8")
    secret.chmod(0o644)
    auth = ("-A", "scram-sha-256", f"--pwfile={secret}", "-U", "owner", "-E", "UTF8", "--no-locale", "-N")
    server.run("initdb", "-D", str(folder / "data"), *auth)
    server.control("-w", "start")
    atexit.register(_remove, server)
    os.environ["PGUSER"], os.environ["PGPASSWORD"] = "owner", PASSWORD
    return server


def _remove(server: PostgresServer) -> None:
    server.control("-m", "immediate", "stop")
    shutil.rmtree(server.folder, ignore_errors=True)


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
    place = f"host: {server.folder}, port: {server.port}, database: postgres, schema: {schema}"
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
