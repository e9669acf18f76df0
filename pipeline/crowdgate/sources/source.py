"""The interface of a source: a table that is read in parts. Files are one; a database or an object store can be
another.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from crowdgate.arrays import Integers
from crowdgate.contracts.contract import Contract
from crowdgate.contracts.server_rules import ServerRule
from crowdgate.errors import FileFault
from crowdgate.sources.table_header import TableHeader

Cells = Any
"""An Arrow array."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a part: an Arrow array of cells per column, the number of lines that were no rows, and the bytes of
    the part read so far.

    A source that groups equal rows states in `counts` how many rows each of `rows` stands for (None: one).
    """

    rows: int
    ragged: int
    cells: Mapping[str, Cells] = field(repr=False)
    done: int
    counts: Integers | None = field(default=None, repr=False)


class Piece(Protocol):
    """Piece of work that is counted separately. Picklable, so that another process may count it."""

    @property
    def size(self) -> int:
        """The size of the piece in bytes, for showing progress."""


class TablePart(Piece, Protocol):
    """Part of a table that is read separately."""

    def read(self, columns: Sequence[str], unique: Sequence[str]) -> Iterator[Batch]:
        """Yield the rows in batches, of these columns only. Values of `unique` columns hardly recur, so they get no
        dictionary.

        Raises FileFault if the part can't be read to its end, with a message that quotes nothing of it.
        """


class Source(Protocol):
    """An opened table. No result depends on its division into parts, nor on their order."""

    @property
    def parts(self) -> Sequence[TablePart]:
        """The parts of the table, which hold each row once."""

    def fingerprint(self) -> object:
        """Return the state of the table: a different value after any change."""


@dataclass(frozen=True)
class Reader:
    """One way to read tables: its name, its servers in contracts, its file suffixes, and how it opens a table.

    `opened` gets the contract, the columns that are needed, and a path in place of the contract's (None: its own).
    `header` returns what is public of the contract's own table, before any row is read. It raises FileFault if there is
    no table, OSError if the table can't be reached from here.
    """

    name: str
    rule: ServerRule
    suffixes: tuple[str, ...]
    opened: Callable[[Contract, Sequence[str], Path | None], Source]
    header: Callable[[Contract], TableHeader]


def table_changed() -> FileFault:
    """Return the error to raise if the table has changed since it was opened."""
    return FileFault("the input changed while it was read")
