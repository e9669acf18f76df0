"""Arrow IPC, as file (Feather) or as stream: record batches as their writer cut them.

Arrow trusts what a file states of its buffers, so each batch is validated before a cell is read. Texts are taken as
bytes, because text that is no UTF-8 is a fault of its row, not of the file.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.ipc

from crowdgate.errors import FileFault
from crowdgate.sources.arrow_schema import MAGIC, arrow_columns
from crowdgate.sources.files import PART_BYTES, OpenedFile, Slice
from crowdgate.sources.locations import Location, Stamp, arrow_file, opened, size_of
from crowdgate.sources.source import Batch
from crowdgate.sources.table_header import CellType

BATCH_ROWS = 1 << 17


@dataclass(frozen=True)
class ArrowFiles:
    """The format Arrow IPC: a slice of a file is a run of record batches, a stream is one slice."""

    def examine(self, path: Location, needed: Sequence[str], stamp: Stamp) -> OpenedFile:
        """Return the column names in the schema, and runs of record batches of about the size of a part, whose sizes
        add up to the file's. Raises FileFault if they can't be read, or a needed column is nested.
        """
        found = arrow_columns(path)
        for column in found:
            if column.name in needed and column.type is CellType.NESTED:
                raise FileFault(
                    f"{path.name}: column {column.name!r} holds lists or structures: expected one value a cell"
                )
        return OpenedFile(tuple(column.name for column in found), tuple(_slices(path, size_of(stamp), stamp)))

    def read(self, part: Slice, columns: Sequence[str], unique: Sequence[str]) -> Iterator[Batch]:
        """Yield the rows of a slice in batches."""
        del unique  # cells come in the types of the file
        with _batches(part) as (batches, total):
            for done, batch in enumerate(batches, 1):
                cells = {name: _validated(batch.column(name)) for name in columns}
                edges = [*range(0, batch.num_rows, BATCH_ROWS), batch.num_rows]
                for start, end in pairwise(edges):
                    piece = {name: column.slice(start, end - start) for name, column in cells.items()}
                    yield Batch(end - start, 0, piece, part.size * done // max(total, 1))


def _slices(path: Location, size: int, stamp: Stamp) -> Iterator[Slice]:
    count = _number_of_batches(path)
    pieces = max(1, min(count, size // PART_BYTES))
    for piece in range(pieces):
        first, last = count * piece // pieces, count * (piece + 1) // pieces
        yield Slice(path, size * (piece + 1) // pieces - size * piece // pieces, stamp, first, last)


@contextmanager
def _batches(part: Slice) -> Iterator[tuple[Iterator[Any], int]]:
    """Yield the record batches of a slice, and their number (0: unknown)."""
    if part.last:
        with arrow_file(part.path) as file, pa.ipc.open_file(str(file) if file is part.path else file) as reader:
            yield (reader.get_batch(at) for at in range(part.first, part.last)), part.last - part.first
    elif _is_file(part.path):  # without a batch
        yield iter(()), 0
    else:
        with opened(part.path) as file, pa.ipc.open_stream(file) as reader:
            yield iter(reader), 0


def _number_of_batches(path: Location) -> int:
    """Return the number of a file's record batches, 0 for a stream. Raises FileFault for a damaged footer."""
    if not _is_file(path):
        return 0
    try:
        with arrow_file(path) as file, pa.ipc.open_file(str(file) if file is path else file) as reader:
            count: int = reader.num_record_batches
            return count
    except (pa.ArrowException, ValueError):
        pass
    raise FileFault(f"{path.name}: not a readable Arrow file: its footer is missing or damaged")


def _is_file(path: Location) -> bool:
    with opened(path) as file:
        return bytes(file.read(len(MAGIC))) == MAGIC


def _validated(cells: Any) -> Any:
    """Return cells whose buffers are as their type needs them, texts as bytes. Raises pa.ArrowInvalid otherwise."""
    kind = cells.type
    if isinstance(kind, pa.BaseExtensionType):
        _validated(cells.storage)
        return cells
    if pa.types.is_dictionary(kind):
        return pa.DictionaryArray.from_arrays(cells.indices, _validated(cells.dictionary), safe=True)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        cells = cells.view(pa.binary() if pa.types.is_string(kind) else pa.large_binary())
    elif kind == pa.string_view():
        cells.validate()
        cells = cells.cast(pa.binary_view())
    cells.validate(full=True)
    return cells


def files(settings: Mapping[str, str]) -> ArrowFiles:
    """Return the format Arrow IPC, which has no settings."""
    del settings
    return ArrowFiles()
