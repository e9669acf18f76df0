"""Where a ledger lives: a database that puts changes in a row. SQLite is one kind of it; a server can be another."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

DAMAGED = "is damaged or not a ledger of this version"


class Database(Protocol):
    """One transaction on a database. Statements have `?` where their values go."""

    def rows(self, statement: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """What a statement reads."""

    def change(self, statement: str, *values: object) -> int:
        """Makes a change, and returns how many rows it wrote."""


class Store(Protocol):
    """An opened database. Errors of it become Crowdgate's, without statements and their values."""

    @property
    def path(self) -> Path:
        """What messages call it; private records lie in a folder beside it."""

    def integrity_fault(self, database: Database, tables: Sequence[str] = ()) -> str | None:
        """What is wrong with the database itself, or only with its schema and these tables, in words, or None."""

    def active_objects(self, database: Database) -> str | None:
        """What acts by itself in the database, in words, or None."""

    def now(self, database: Database) -> str:
        """The time (UTC, ISO 8601, whole seconds) by the database's clock, which all its runs share."""

    def transaction(self, writing: bool) -> AbstractContextManager[Database]:
        """One transaction, on disk when the block ends and undone when it raises. A writing one has the lock."""


@dataclass(frozen=True)
class StoreKind:
    """One kind of database, told by the scheme of its URLs, such as `example`.

    `placed` makes a URL whole that a file in a folder states, `made` begins a transaction on a new, empty database (a
    block that fails leaves none), `opened` opens an existing one, which waits so many seconds for others, and perhaps
    only to be read; `now` is the database's clock. All raise ValueError for a URL that names no such database.
    """

    example: str
    placed: Callable[[str, Path], str]
    made: Callable[[str], AbstractContextManager[Database]]
    opened: Callable[[str, float, bool], Store]
    now: Callable[[Database], str]
