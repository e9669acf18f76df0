"""A ledger in a file, with everything specific to SQLite.

Write-ahead log, immediate transactions, every commit synced to the disk. Each transaction has its own connection.
Errors of the database become Crowdgate's, without the statement and its values.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdgate.errors import CrowdgateError, EnvironmentFault, LedgerRefused
from crowdgate.ledger import schema
from crowdgate.ledger.charge_image import ATTACHED
from crowdgate.ledger.file_access import refuse_others
from crowdgate.ledger.integrity import active_objects, integrity_fault
from crowdgate.ledger.store import DAMAGED, Database, StoreKind
from crowdgate.system import permissions
from crowdgate.system.fsync import fsync_path

PREFIX = "sqlite:///"
EXAMPLE = f"{PREFIX}PATH"
LONGEST_PATH = 4095
"""The most letters of a path: Linux opens none with more bytes, and messages quote it."""

_CACHE = 256
"""KiB of pages that a connection keeps. Most pages are read once, and memory for more of them takes longer to set aside
than reading one again."""

# SQLite's primary result codes about the machine; every other one is about the file's content.
_MACHINE = {
    sqlite3.SQLITE_BUSY: "is locked by another run; try again",
    sqlite3.SQLITE_LOCKED: "is locked by another run; try again",
    sqlite3.SQLITE_READONLY: "is read-only, and a run must write it. Allow yourself to write this file",
    sqlite3.SQLITE_PERM: "can't be opened with these permissions",
    sqlite3.SQLITE_CANTOPEN: "can't be opened; check the permissions of the file and its folder",
    sqlite3.SQLITE_IOERR: "can't be read or written: the disk reports an error",
    sqlite3.SQLITE_FULL: "can't be written: the disk is full",
    sqlite3.SQLITE_NOMEM: "can't be read: out of memory",
}


def path_of(url: str) -> Path:
    """Return the path of the ledger's file; private records are in a folder next to it. Raises ValueError for other
    URLs.
    """
    path = url.removeprefix(PREFIX)
    if path == url or not path or path.startswith((":memory:", "file:")) or "?" in path or "\0" in path:
        raise ValueError(f"{EXAMPLE}, with a file as PATH and no ?options")
    if len(path) > LONGEST_PATH:
        raise ValueError(f"{EXAMPLE}, with a PATH of at most {LONGEST_PATH:,} letters")
    return Path(path)


def existing_file(path: Path, reading: bool = False) -> Path:
    """Return `path` if it is an existing file that is writable, or with `reading` readable.

    A mode without write bits counts as read-only for any user.
    """
    try:
        mode = path.stat().st_mode
        if not path.is_file():
            raise LedgerRefused(f"{path} {DAMAGED}")
    except (FileNotFoundError, NotADirectoryError):
        raise LedgerRefused(f"no ledger at {path}; `crowdgate ledger create NAME` makes one") from None
    except OSError as error:
        raise EnvironmentFault(f"the ledger {path} can't be opened: {error.strerror}") from None
    if not reading and (not mode & 0o222 or not os.access(path, os.W_OK)):
        raise EnvironmentFault(
            f"the ledger {path} is read-only, and a run must write it. Allow yourself to write this file"
        )
    if not reading:
        refuse_others(path)
    return path


@contextmanager
def new_file(path: Path) -> Iterator[Database]:
    """Begin a transaction on a new SQLite file with empty tables, for its owner or a team; a block that fails leaves no
    file.
    """
    if any(os.path.exists(f"{path}{end}") for end in ("-wal", "-journal")):
        raise EnvironmentFault(f"next to {path} lies the log file of an earlier database. Move that log file away")
    try:
        os.close(permissions.open_file(path, os.O_RDWR | os.O_EXCL, permissions.LEDGER))
    except FileExistsError:
        raise EnvironmentFault(f"{path} exists already, and a ledger is never replaced. Name another file") from None
    except OSError as error:
        raise EnvironmentFault(f"{path} can't be made: {error.strerror}") from None
    try:
        refuse_others(path)
        with _translated(path):
            with closing(connect(path, 10)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
            with SqliteStore(path, 10).transaction(writing=True) as database:
                for statement in schema.statements(schema.FORMAT).values():
                    database.change(statement)
                yield database
            fsync_path(path.parent)
    except BaseException:
        for end in ("", "-wal", "-shm"):
            Path(f"{path}{end}").unlink(missing_ok=True)
        raise


def copy_file(source: Path, target: Path) -> None:
    """Copy a ledger's file with the changes in its log to a new file, on disk when this returns."""
    os.close(permissions.open_file(target, os.O_RDWR | os.O_EXCL, permissions.LEDGER))
    opened = closing(connect(source, 10, _mode(source, True))), closing(connect(target, 10))
    with _translated(source), opened[0] as there, opened[1] as here:
        there.backup(here)
        here.execute("PRAGMA journal_mode=WAL")
    fsync_path(target)


def connect(path: Path, busy_seconds: float, mode: str = "mode=rw") -> sqlite3.Connection:
    """Return a connection to the file at `path`, which is never created."""
    connection = sqlite3.connect(f"{path.as_uri()}?{mode}", busy_seconds, uri=True, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute(f"PRAGMA cache_size=-{_CACHE}")
    except BaseException:
        connection.close()
        raise
    return connection


@dataclass(frozen=True, eq=False)
class SqliteDatabase:
    """One transaction on a SQLite file."""

    connection: sqlite3.Connection

    def rows(self, statement: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a statement's result."""
        return self.connection.execute(statement, values)

    def change(self, statement: str, *values: object) -> int:
        """Execute a statement that changes the database, and return the number of rows that it wrote."""
        return self.connection.execute(statement, values).rowcount

    def attach(self, image: bytes | memoryview) -> bool:
        """Make the tables of an image readable until the transaction ends; return False if this SQLite can't. Then all
        indexes are checked, as no comparison with the image counts their entries. Raises sqlite3.Error if they are
        damaged.
        """
        try:
            self.connection.execute(f"ATTACH ':memory:' AS {ATTACHED}")
            self.connection.deserialize(image, name=ATTACHED)
            self.connection.execute(f"PRAGMA {ATTACHED}.cache_size=-64")  # it is in memory, and read once
        except (sqlite3.Error, AttributeError):
            if integrity_fault(self) is not None:
                raise sqlite3.DatabaseError from None
            return False
        return True

    def commit(self) -> None:
        """Commit the transaction to disk."""
        self.connection.execute("COMMIT")


@dataclass(frozen=True, eq=False)
class SqliteStore:
    """An opened SQLite file; its transactions wait up to `busy_seconds` for other runs."""

    path: Path
    busy_seconds: float
    mode: str = "mode=rw"

    @property
    def name(self) -> str:
        """The text that messages name the ledger by: its file."""
        return str(self.path)

    def now(self, database: Database) -> str:
        """Return the time of the machine's clock: all runs on a file share one machine."""
        return _now(database)

    def integrity_fault(self, database: Database, tables: Sequence[str] = ()) -> str | None:
        """Return a description of a damaged page (of `tables` only, if given), an index that differs from its table, or
        another schema; None if sound.
        """
        return integrity_fault(database, tables)

    def active_objects(self, database: Database) -> str | None:
        """Return a description of the triggers and views in the database, or None."""
        return active_objects(database)

    @contextmanager
    def transaction(self, writing: bool) -> Iterator[Database]:
        """Begin a transaction: on disk when the block ends, rolled back when the block raises."""
        with _translated(self.path), closing(connect(self.path, self.busy_seconds, self.mode)) as connection:
            connection.execute("BEGIN IMMEDIATE" if writing else "BEGIN")
            database = SqliteDatabase(connection)
            yield database
            database.commit()


def _absolute_url(url: str, folder: Path) -> str:
    return PREFIX + str((folder / path_of(url)).resolve())


def _new_database(url: str) -> AbstractContextManager[Database]:
    return new_file(path_of(url).absolute())


def _open_store(url: str, busy_seconds: float, reading: bool) -> SqliteStore:
    path = existing_file(path_of(url).absolute(), reading)
    return SqliteStore(path, busy_seconds, _mode(path, reading))


def _mode(path: Path, reading: bool) -> str:
    """Return the mode in which SQLite opens the file: read-write, as it needs files next to it, unless the file can't
    change.
    """
    if not reading or (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        return "mode=rw"
    log = Path(f"{path}-wal")
    if not log.exists() or not log.stat().st_size:
        return "mode=ro&immutable=1"
    if Path(f"{path}-shm").exists():
        return "mode=ro"
    raise EnvironmentFault(
        f"the ledger {path} has changes in {log.name} that only a user with write permission can read"
    )


def _now(database: Database) -> str:
    ((now,),) = database.rows("SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now')")
    return str(now)


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """Translate errors of SQLite, and of invalid values in the file, into errors of Crowdgate while the block runs."""
    try:
        yield
    except CrowdgateError:
        raise
    except sqlite3.Error as error:
        raise _fault(path, error) from None
    except (ValueError, ZeroDivisionError):
        raise LedgerRefused(f"{path} {DAMAGED}") from None
    except OSError as error:
        raise EnvironmentFault(f"the ledger {path} can't be written: {error.strerror}") from None


def _fault(path: Path, error: sqlite3.Error) -> CrowdgateError:
    if not os.path.exists(path):
        return LedgerRefused(f"the ledger at {path} was removed during the run")
    said = _MACHINE.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
    return LedgerRefused(f"{path} {DAMAGED}") if said is None else EnvironmentFault(f"the ledger {path} {said}")


KIND = StoreKind(EXAMPLE, _absolute_url, _new_database, _open_store, _now)
