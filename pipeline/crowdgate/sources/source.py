"""What a source is: a table that is read in parts. Files are one; a database or an object store can be another."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from crowdgate.contracts.contract import Contract
from crowdgate.contracts.servers import ServerRule
from crowdgate.errors import FileFault

Cells = Any
"""An Arrow array."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a part: an array a column; how many lines were no rows; and how many bytes of the part are read."""

    rows: int
    ragged: int
    cells: Mapping[str, Cells]
    done: int


class TablePart(Protocol):
    """Rows of the table that are read on their own. Can be pickled, so that another process may read it."""

    @property
    def size(self) -> int:
        """Bytes, for showing progress."""

    def read(self, columns: Sequence[str], unique: Sequence[str]) -> Iterator[Batch]:
        """The rows in batches, those columns only. In `unique` ones hardly a value recurs: no dictionary is worth it.

        Raises FileFault when it can't be read to its end, with a message that quotes nothing of it.
        """


class Source(Protocol):
    """An opened table. No result depends on how it is cut into parts, nor on their order."""

    @property
    def parts(self) -> Sequence[TablePart]:
        """All rows, each in one part."""

    def fingerprint(self) -> object:
        """What the table is now: another value, once anything of it has changed since."""


@dataclass(frozen=True)
class Reader:
    """One way to read tables: its name, the servers of a contract that it speaks of, which files, and how it opens one.

    `opened` is given the contract, the columns that are needed, and a path in place of the contract's (None: its own).
    """

    name: str
    rule: ServerRule
    suffixes: tuple[str, ...]
    opened: Callable[[Contract, Sequence[str], Path | None], Source]


def table_changed() -> FileFault:
    """The table is not what it was when it was opened."""
    return FileFault("the input changed while it was read")
