"""The storage of a ledger: a database with serialized transactions. SQLite is one kind; a server can be another."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from crowdgate.errors import EnvironmentFault

DAMAGED = "is damaged or not a ledger of this version"


class SerializationConflict(EnvironmentFault):
    """A change was rolled back because of another one at the same moment; the ledger repeats it."""


class Database(Protocol):
    """One transaction on a database. Its SQL statements have `?` in place of their values."""

    def rows(self, statement: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a statement's result."""

    def change(self, statement: str, *values: object) -> int:
        """Execute a statement that changes the database, and return the number of rows that it wrote."""

    def attach(self, image: bytes | memoryview) -> bool:
        """Make the tables of a SQLite database with these bytes readable under the name ATTACHED (`charge_image`) until
        the transaction ends; return False where that is not possible.
        """


class Store(Protocol):
    """An opened database. Its errors become Crowdgate's, without statements and their values."""

    @property
    def path(self) -> Path:
        """The path that stands for the ledger on this machine; private records are in a folder next to it."""

    @property
    def name(self) -> str:
        """The text that messages name the ledger by: never a password."""

    def integrity_fault(self, database: Database, tables: Sequence[str] = ()) -> str | None:
        """Return a description of damage to the database, or only to its schema and `tables`, or None."""

    def active_objects(self, database: Database) -> str | None:
        """Return a description of the triggers and views in the database, or None."""

    def now(self, database: Database) -> str:
        """Return the time (UTC, ISO 8601, whole seconds) by the database's clock, which all its runs share."""

    def transaction(self, writing: bool) -> AbstractContextManager[Database]:
        """Begin a transaction: on disk when the block ends, rolled back when the block raises. With `writing` it holds
        the ledger's lock.
        """


@dataclass(frozen=True)
class StoreKind:
    """One kind of database, selected by the scheme of its URLs, such as `example`.

    `placed` makes a URL from a file in a folder absolute, `made` begins a transaction on a new database with the empty
    tables of a ledger (a failed block leaves none), `opened` opens an existing one with a waiting time for other runs,
    perhaps only for reading; `now` is the database's clock. `migrate`, if there is one, brings the tables to this
    version and returns the number of its steps. All raise ValueError for a URL that names no such database.
    """

    example: str
    placed: Callable[[str, Path], str]
    made: Callable[[str], AbstractContextManager[Database]]
    opened: Callable[[str, float, bool], Store]
    now: Callable[[Database], str]
    migrate: Callable[[str, float], int] | None = None
