"""A ledger that is a file: everything that is SQLite's own.

Write-ahead log, immediate transactions, every commit synced to the disk. A connection lives for one transaction. Errors
of the database become Crowdgate's, without the statement and its parameters.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Engine, NullPool, create_engine, event
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from crowdgate.errors import CrowdgateError, EnvironmentFault, LedgerRefused
from crowdgate.ledger.file_access import refuse_others
from crowdgate.ledger.integrity import active_objects, integrity_fault
from crowdgate.ledger.store import DAMAGED, StoreKind
from crowdgate.system import permissions
from crowdgate.system.fsync import fsync_path

PREFIX = "sqlite:///"
EXAMPLE = f"{PREFIX}PATH"

# SQLite's primary result codes that speak of the machine; every other one speaks of the file's content.
_MACHINE = {
    sqlite3.SQLITE_BUSY: "is locked by another run; try again",
    sqlite3.SQLITE_LOCKED: "is locked by another run; try again",
    sqlite3.SQLITE_READONLY: "is read-only; a run must be able to write it",
    sqlite3.SQLITE_PERM: "can't be opened with these permissions",
    sqlite3.SQLITE_CANTOPEN: "can't be opened; look at the permissions of the file and its folder",
    sqlite3.SQLITE_IOERR: "can't be read or written: the disk reports an error",
    sqlite3.SQLITE_FULL: "can't be written: the disk is full",
    sqlite3.SQLITE_NOMEM: "can't be read: out of memory",
}


def path_of(url: str) -> Path:
    """The ledger's file; private records lie beside it. Raises ValueError for anything else."""
    path = url.removeprefix(PREFIX)
    if path == url or not path or path.startswith((":memory:", "file:")) or "?" in path or "\0" in path:
        raise ValueError(f"{EXAMPLE}, with a file as PATH and no ?options")
    return Path(path)


def existing_file(path: Path, reading: bool = False) -> Path:
    """`path` if a file is there that can be written, or only be read. A mode without write bits counts as read-only
    whoever asks."""
    try:
        mode = path.stat().st_mode
        if not path.is_file():
            raise LedgerRefused(f"{path} {DAMAGED}")
    except (FileNotFoundError, NotADirectoryError):
        raise LedgerRefused(f"no ledger at {path}; `crowdgate ledger create NAME` makes one") from None
    except OSError as error:
        raise EnvironmentFault(f"the ledger {path} can't be opened: {error.strerror}") from None
    if not reading and (not mode & 0o222 or not os.access(path, os.W_OK)):
        raise EnvironmentFault(f"the ledger {path} is read-only; a run must be able to write it")
    if not reading:
        refuse_others(path)
    return path


@contextmanager
def new_file(path: Path) -> Iterator[Engine]:
    """An engine on a new, empty file that its owner, or a team, may use; a block that fails leaves no file."""
    if any(os.path.exists(f"{path}{end}") for end in ("-wal", "-journal")):
        raise EnvironmentFault(f"beside {path} lies the log of an earlier database; move it away")
    try:
        os.close(permissions.open_file(path, os.O_RDWR | os.O_EXCL, permissions.LEDGER))
    except FileExistsError:
        raise EnvironmentFault(f"{path} exists; a ledger is made once") from None
    except OSError as error:
        raise EnvironmentFault(f"{path} can't be made: {error.strerror}") from None
    try:
        refuse_others(path)
        with _translated(path):
            yield open_engine(path, 10, "PRAGMA journal_mode=WAL")
            fsync_path(path.parent)
    except BaseException:
        for end in ("", "-wal", "-shm"):
            Path(f"{path}{end}").unlink(missing_ok=True)
        raise


def open_engine(path: Path, busy_seconds: float, *pragmas: str, mode: str = "mode=rw") -> Engine:
    """An engine on the file at `path`, which it never makes."""

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(f"{path.as_uri()}?{mode}", busy_seconds, uri=True, isolation_level=None)
        try:
            for pragma in ("PRAGMA synchronous=FULL", "PRAGMA foreign_keys=ON", *pragmas):
                connection.execute(pragma)
        except BaseException:
            connection.close()
            raise
        return connection

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool, hide_parameters=True)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writing = connection.get_execution_options().get("writing", True)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine


@dataclass(frozen=True, eq=False)
class SqliteStore:
    """An opened file."""

    path: Path
    engine: Engine

    def now(self, connection: Connection) -> str:
        """The machine's clock: a file is used by runs of one machine."""
        return _now(connection)

    def integrity_fault(self, connection: Connection) -> str | None:
        """A damaged page, an index that differs from its table, another schema, or None."""
        return integrity_fault(connection)

    def active_objects(self, connection: Connection) -> str | None:
        """A trigger or a view, or None."""
        return active_objects(connection)

    @contextmanager
    def transaction(self, writing: bool) -> Iterator[Connection]:
        """One transaction: on the disk when the block ends, undone when it raises."""
        options = {"writing": writing}
        with (
            _translated(self.path),
            self.engine.connect().execution_options(**options) as connection,
            connection.begin(),
        ):
            yield connection


def _absolute_url(url: str, folder: Path) -> str:
    return PREFIX + str((folder / path_of(url)).resolve())


def _new_engine(url: str) -> AbstractContextManager[Engine]:
    return new_file(path_of(url).absolute())


def _open_store(url: str, busy_seconds: float, reading: bool) -> SqliteStore:
    path = existing_file(path_of(url).absolute(), reading)
    mode = _mode(path, reading)
    return SqliteStore(path, open_engine(path, busy_seconds, mode=mode))


def _mode(path: Path, reading: bool) -> str:
    """How SQLite opens the file: it wants to write beside it unless it may neither change nor be changed."""
    if not reading or (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        return "mode=rw"
    log = Path(f"{path}-wal")
    if not log.exists() or not log.stat().st_size:
        return "mode=ro&immutable=1"
    if Path(f"{path}-shm").exists():
        return "mode=ro"
    raise EnvironmentFault(f"the ledger {path} has changes in {log.name} that only who may write it can read")


def _now(connection: Connection) -> str:
    return str(connection.exec_driver_sql("SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now')").scalar_one())


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """Errors of the database, and of values that it should not hold, as errors of Crowdgate."""
    try:
        yield
    except CrowdgateError:
        raise
    except DBAPIError as error:
        raise _fault(path, error.orig) from None
    except (SQLAlchemyError, sqlite3.Error, ValueError, ZeroDivisionError):
        raise LedgerRefused(f"{path} {DAMAGED}") from None
    except OSError as error:
        raise EnvironmentFault(f"the ledger {path} can't be written: {error.strerror}") from None


def _fault(path: Path, error: BaseException | None) -> CrowdgateError:
    if not os.path.exists(path):
        return LedgerRefused(f"no ledger at {path} any more")
    said = _MACHINE.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
    return LedgerRefused(f"{path} {DAMAGED}") if said is None else EnvironmentFault(f"the ledger {path} {said}")


KIND = StoreKind(EXAMPLE, _absolute_url, _new_engine, _open_store, _now)
