"""A ledger in PostgreSQL: serializable transactions under one lock, each on its own connection.

A change locks the table `totals` before it reads, so that changes happen one after the other. Each is serializable as
well, against programs that do not take the lock. A read sees one snapshot, and writes nothing.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import psycopg

from crowdgate.errors import EnvironmentFault
from crowdgate.ledger.postgresql import catalog, migrations
from crowdgate.ledger.postgresql.address import FILE, Address, parse_address
from crowdgate.ledger.postgresql.faults import MAKING, MIGRATING, USING, translated
from crowdgate.ledger.store import Database
from crowdgate.system import permissions
from crowdgate.system.postgres_login import SAFE_LOGIN

CONNECT_SECONDS = 10
IDLE_SECONDS = 60
"""Seconds after which the server ends a change whose program is silent: a machine that is gone holds no lock."""
_SESSION = "SET LOCAL search_path = crowdgate, pg_temp; SET LOCAL lock_timeout = {busy}"
_READ = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {_SESSION}"
_WRITE = (
    f"BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE; {_SESSION}; SET LOCAL synchronous_commit = on; "
    f"SET LOCAL idle_in_transaction_session_timeout = {IDLE_SECONDS * 1000}"
)
_LOCK = "LOCK TABLE crowdgate.totals IN EXCLUSIVE MODE"
_NOW = """SELECT pg_catalog.to_char(pg_catalog.clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')"""
_FSYNC = "SELECT pg_catalog.current_setting('fsync'), pg_catalog.current_setting('full_page_writes')"


@dataclass(frozen=True, eq=False)
class PostgresqlDatabase:
    """One transaction on a PostgreSQL database."""

    connection: psycopg.Connection[tuple[Any, ...]]

    def rows(self, statement: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a statement's result."""
        return iter(self.connection.execute(_converted(statement), values).fetchall())

    def change(self, statement: str, *values: object) -> int:
        """Execute a statement that changes the database, and return the number of rows that it wrote. Several
        statements may be executed without values.
        """
        if not values:
            return self.connection.execute(statement.encode()).rowcount
        return self.connection.execute(_converted(statement), values).rowcount

    def attach(self, image: bytes | memoryview) -> bool:  # noqa: ARG002
        """Return False: a server compares no SQLite database."""
        return False

    def commit(self) -> None:
        """Commit the transaction to disk."""
        self.connection.execute(b"COMMIT")


@dataclass(frozen=True, eq=False)
class PostgresqlStore:
    """A ledger's database; its transactions wait up to `busy_seconds` for other runs."""

    address: Address
    busy_seconds: float

    @property
    def path(self) -> Path:
        """The path that stands for the ledger on this machine."""
        return self.address.folder / FILE

    @property
    def name(self) -> str:
        """The text that messages name the ledger by."""
        return self.address.name

    def now(self, database: Database) -> str:
        """Return the time of the server's clock."""
        return now(database)

    def integrity_fault(self, database: Database, tables: Sequence[str] = ()) -> str | None:  # noqa: ARG002
        """Return a description of a schema that differs from that of a new ledger, or None."""
        return catalog.integrity_fault(database)

    def active_objects(self, database: Database) -> str | None:
        """Return a description of triggers and rules that differ from those of a new ledger, or None."""
        return catalog.active_objects(database)

    @contextmanager
    def transaction(self, writing: bool) -> Iterator[Database]:
        """Begin a transaction: on disk when the block ends, rolled back when the block raises."""
        with _transaction(self.address, self.busy_seconds, writing) as database:
            if writing:
                database.change(_LOCK)
            yield database


@contextmanager
def new_database(url: str) -> Iterator[Database]:
    """Begin a transaction on an empty database with the tables of a new ledger; a block that fails leaves none."""
    address = parse_address(url, Path.cwd())
    _make_folder(address.folder)
    with _transaction(address, CONNECT_SECONDS, writing=True, rights=MAKING) as database:
        migrations.make_tables(database, address.name)
        _refuse_unsafe(database, address.name)
        yield database


def open_store(url: str, busy_seconds: float, reading: bool) -> PostgresqlStore:
    """Open the ledger in an existing database."""
    address = parse_address(url, Path.cwd())
    with _transaction(address, busy_seconds, writing=False) as database:
        migrations.refuse_other_version(database, address.name)
        if not reading:
            _refuse_unsafe(database, address.name)
            _make_folder(address.folder)
    return PostgresqlStore(address, busy_seconds)


def migrate(url: str, busy_seconds: float) -> int:
    """Apply the migrations that a database lacks, and return their number."""
    address = parse_address(url, Path.cwd())
    with _transaction(address, busy_seconds, writing=True, rights=MIGRATING) as database:
        left = migrations.pending(database, address.name)
        migrations.apply(database, left)
    return len(left)


def now(database: Database) -> str:
    """Return the time of the server's clock (UTC, ISO 8601, whole seconds)."""
    ((time,),) = database.rows(_NOW)
    return str(time)


@contextmanager
def _transaction(
    address: Address, busy_seconds: float, writing: bool, rights: str = USING
) -> Iterator[PostgresqlDatabase]:
    begin = (_WRITE if writing else _READ).format(busy=max(1, round(busy_seconds * 1000)))
    with translated(address.name, rights), _connected(address) as connection:
        connection.execute(begin.encode())
        database = PostgresqlDatabase(connection)
        yield database
        database.commit()


@contextmanager
def _connected(address: Address) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
    """Connect for one transaction. What is not committed when the connection closes is rolled back."""
    options: dict[str, Any] = {"application_name": "crowdgate", "require_auth": SAFE_LOGIN}
    if "connect_timeout=" not in address.connection:
        options["connect_timeout"] = CONNECT_SECONDS
    connection = psycopg.connect(address.connection, autocommit=True, prepare_threshold=None, **options)
    try:
        yield connection
    finally:
        connection.close()


def _refuse_unsafe(database: Database, name: str) -> None:
    """Refuse a server that would lose charges in a power cut."""
    ((fsync, pages),) = database.rows(_FSYNC)
    if (fsync, pages) != ("on", "on"):
        raise EnvironmentFault(f"the ledger: {name} may lose charges; set fsync and full_page_writes of its server on")


def _make_folder(folder: Path) -> None:
    try:
        permissions.make_folders(folder, permissions.LEDGER)
    except OSError as error:
        raise EnvironmentFault(f"{folder}: private records can't be stored there: {error.strerror}") from None


@lru_cache(maxsize=256)
def _converted(statement: str) -> bytes:
    """Return a statement with the placeholders of psycopg in place of `?`."""
    return statement.replace("%", "%%").replace("?", "%s").encode()
