"""Tables in memory or in a query engine, by the Arrow C stream that they export: Polars, DuckDB, pandas, Ibis, PyArrow.

The rows are read as a stream, in one part, after the release was charged. Nothing is written anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from crowdgate.errors import FileFault
from crowdgate.sources.source import Batch
from crowdgate.system.short_repr import short_repr

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Contract

BATCH_ROWS = 1 << 17
_TABLE = "the Arrow table"


@runtime_checkable
class ArrowTable(Protocol):
    """An object that exports an Arrow C stream of record batches (Arrow PyCapsule interface)."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a PyCapsule that holds an ArrowArrayStream."""


@dataclass(frozen=True, eq=False)
class ArrowStream:
    """An Arrow stream as a source and as its only part. It is read once, in the process that opened it."""

    __repr__ = short_repr

    reader: Any
    size: int = 1

    @property
    def parts(self) -> Sequence[ArrowStream]:
        """The stream itself."""
        return (self,)

    def fingerprint(self) -> object:
        """Return None: a stream is read once, so it can't be compared with an earlier state."""

    def read(self, columns: Sequence[str], unique: Sequence[str]) -> Iterator[Batch]:
        """Yield the rows in batches, of these columns only. Raises FileFault if the stream ends with an error."""
        del unique  # cells come in the types that the stream states
        for batch in batches(self.reader):
            for start in range(0, batch.num_rows, BATCH_ROWS):
                piece = batch.slice(start, BATCH_ROWS)
                yield Batch(piece.num_rows, 0, {name: piece.column(name) for name in columns}, 0)


def arrow_reader(table: ArrowTable) -> Any:
    """Return a reader of the table's record batches (pyarrow). Raises FileFault if it exports no readable stream."""
    import pyarrow as pa

    reader = None
    with suppress(Exception):  # whatever the other library raises may quote cells
        reader = pa.RecordBatchReader.from_stream(table)
    if reader is None:
        raise FileFault(
            f"{_TABLE} can't be read: expected an object with __arrow_c_stream__ that gives rows of columns"
        )
    return reader


def batches(reader: Any) -> Iterator[Any]:
    """Yield the record batches. Raises FileFault if the stream ends with an error, whose text may quote cells."""
    while True:
        failed, batch = False, None
        try:
            batch = reader.read_next_batch()
        except StopIteration:
            return
        except Exception:
            failed = True
        if failed:
            raise FileFault(f"{_TABLE} can't be read to its end")
        yield batch


def open_stream(contract: Contract, needed: Sequence[str], table: ArrowTable) -> ArrowStream:
    """Open a table as a source. No row is read. Raises FileFault if a column is missing, twice there or nested."""
    import pyarrow as pa

    del contract
    reader = arrow_reader(table)
    names = reader.schema.names
    for name in needed:
        if names.count(name) != 1:
            raise FileFault(f"{_TABLE}: column {name!r} is {'used twice' if name in names else 'missing'}")
        if pa.types.is_nested(reader.schema.field(name).type):
            raise FileFault(f"{_TABLE}: column {name!r} holds lists or structures: expected one value a cell")
    return ArrowStream(reader)
