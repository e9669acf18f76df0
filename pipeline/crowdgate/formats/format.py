"""The interface of an output format: how tables of labels and numbers are written, and read again for verification."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from crowdgate.formats.byte_compare import Writer, same

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Format:
    """An output format.

    `write` gets the schema and the table in pieces, so that memory does not grow with it; the same table always gives
    the same bytes.

    `read` gets the expected schema (labels or text, numbers, flags), and a bound on rows. It yields the table in
    pieces, in bounded memory whatever the file holds, with text as dictionaries; or raises VerificationFailed, an error
    of Arrow's, OSError or ValueError. The caller compares the file with the output of `write` for the table that was
    read: nothing else can be in it.

    `same` returns whether a file equals what is written again, even by another version of the writing library.

    Columns of labels are dictionaries; a piece's dictionary holds the labels of the piece, in the order of its codes.
    """

    write: Callable[[BinaryIO, pa.Schema, Iterable[pa.Table]], None]
    read: Callable[[Path, pa.Schema, int], Iterator[pa.Table]]
    same: Callable[[Path, Writer], bool] = same


def as_read(schema: pa.Schema) -> pa.Schema:
    """Return the schema of a table as it is read again: columns of labels are text."""
    import pyarrow as pa

    return pa.schema([(f.name, pa.string() if pa.types.is_dictionary(f.type) else f.type) for f in schema])


def labels_in(schema: pa.Schema) -> Sequence[str]:
    """Return the names of the columns of a schema that hold labels."""
    import pyarrow as pa

    return [field.name for field in schema if pa.types.is_dictionary(field.type) or pa.types.is_string(field.type)]
