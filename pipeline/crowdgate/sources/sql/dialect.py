"""The interface of a database engine: what Crowdgate must know to write one query for it and to read the answer.

A new engine is one subclass of `Dialect` and one line in `crowdgate.sources`. Its subclass states

- how a name is quoted (`quoted`), and how the table is named in FROM (`relation`);
- which type a column has (`cell_type`), so that `check` finds columns that can't fit the contract;
- how a cell is selected (`cell`), so that GROUP BY merges only cells that are equal for every reader: texts as the
  bytes of UTF-8 whatever the collation, and decimals, days and other types as their text, moments of a time zone in
  UTC with a Z at the end. No cell may raise an error;
- how the engine is opened (`session`) with one snapshot for everything that it reads, without extensions, temporary
  files and access to anything else;
- which of its errors is which `Trouble`. The text of an error is never shown: it can hold cells and passwords.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from crowdgate.contracts.contract import Contract
from crowdgate.sources.table_header import CellType
from crowdgate.system.extras import Extra

BATCH_ROWS = 1 << 16
"""The number of groups in a batch."""


class Trouble(StrEnum):
    """A fault of a database, in words that are safe to show."""

    LOGIN = "the database refuses the user or the password"
    RIGHTS = "the user has no right to read the table; grant SELECT on it, without row security"
    MISSING = "the database does not exist"
    TIMEOUT = "the database took longer than the contract's timeout"
    AWAY = "the database can't be reached, or its connection was lost"
    MEMORY = "the query needs more memory than the database has"
    OTHER = "the database can't be read to the end of its answer"


@dataclass(frozen=True)
class DatabaseColumn:
    """A column as the catalogue of a database names it; `type` is the engine's name of its type."""

    name: str
    type: str


@dataclass(frozen=True)
class Relation:
    """A table or view as the catalogue of a database describes it, without cells and counts."""

    is_view: bool
    columns: tuple[DatabaseColumn, ...]


class Session(Protocol):
    """An opened database. Everything that one session reads is of one state of the database."""

    def relation(self, name: str) -> Relation | None:
        """Return what the catalogue says of the table or view `name`, None if there is none."""

    def rows(self, query: str) -> Iterator[Any]:
        """Yield the answer as record batches (Arrow)."""


class Dialect(ABC):
    """A database engine. See the module's description for what a subclass states."""

    name: str
    title: str
    extra: Extra | None = None
    merging: Mapping[str, int] = MappingProxyType({})
    """By type of floats: the least size at which two whole numbers are one value."""

    def quoted(self, name: str) -> str:
        """Return a name of a table or column as an identifier, with any character."""
        return '"' + name.replace('"', '""') + '"'

    def literal(self, text: str) -> str:
        """Return a text of a contract as a string of SQL."""
        return "'" + text.replace("'", "''") + "'"

    def function(self, name: str) -> str:
        """Return the name of a function of the engine, which nothing in a database may replace."""
        return name

    def relation(self, settings: Mapping[str, str], name: str) -> str:
        """Return a table as FROM names it."""
        return f"{self.quoted(settings['schema'])}.{self.quoted(name)}"

    def group(self, column: str) -> str:
        """Return the terms of GROUP BY for a selected cell."""
        return column

    @abstractmethod
    def cell_type(self, column: DatabaseColumn) -> CellType:
        """Return the type of a column's cells: UNKNOWN if the engine does not hold its cells to its type."""

    @abstractmethod
    def cell(self, expression: str, column: DatabaseColumn, longest: int) -> str:
        """Return an expression of a cell; texts are cut to one character more than `longest`, so that they stay too
        long."""

    def identifier(self, expression: str, column: DatabaseColumn, longest: int) -> str:
        """Return an expression of a cell that identifies a person: one person has one text, whatever zeros end it."""
        return self.cell(expression, column, longest)

    def key(self, expression: str, column: DatabaseColumn, longest: int) -> str:
        """Return an expression of a key that joins tables: NULL where its type merges whole numbers."""
        found, limit = self.identifier(expression, column, longest), self.merging.get(column.type)
        return found if limit is None else f"CASE WHEN {self.function('abs')}({expression}) < {limit} THEN {found} END"

    @abstractmethod
    def place(self, contract: Contract, path: Path | None) -> Mapping[str, str]:
        """Return the settings of the contract's server, with `path` in place of its file. Raises FileFault if the
        engine has no files."""

    @abstractmethod
    def state(self, settings: Mapping[str, str]) -> object:
        """Return a value that differs after a change of the database's files; None if its sessions are snapshots of a
        server. Raises OSError if there is no file."""

    @abstractmethod
    def session(self, settings: Mapping[str, str]) -> AbstractContextManager[Session]:
        """Open the database for reading only."""

    @abstractmethod
    def trouble(self, error: Exception) -> Trouble:
        """Return what an error of the engine or of its driver means."""
