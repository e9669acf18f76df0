"""What an output format is: how tables of labels and numbers are written, and read again to be verified."""

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
    """`write` takes the schema and the table in pieces, so that memory does not grow with it; the same table always
    gives the same bytes.

    `read` takes the schema that is expected (labels or text, numbers, flags), and a bound on rows. It gives the table
    in pieces, of bounded memory whatever the file holds, with text as dictionaries; or raises VerificationFailed, an
    error of Arrow's, OSError or ValueError. Who reads compares the file with what `write` makes of what was read:
    nothing else can be in it.

    `same` says whether a file is what is written again, if need be by another version of the library that writes it.

    Columns of labels are dictionaries; a piece's dictionary holds what occurs in the piece, in the order of its codes.
    """

    write: Callable[[BinaryIO, pa.Schema, Iterable[pa.Table]], None]
    read: Callable[[Path, pa.Schema, int], Iterator[pa.Table]]
    same: Callable[[Path, Writer], bool] = same


def as_read(schema: pa.Schema) -> pa.Schema:
    """The schema of a table that was read: labels are text."""
    import pyarrow as pa

    return pa.schema([(f.name, pa.string() if pa.types.is_dictionary(f.type) else f.type) for f in schema])


def labels_in(schema: pa.Schema) -> Sequence[str]:
    """The columns of labels."""
    import pyarrow as pa

    return [field.name for field in schema if pa.types.is_dictionary(field.type) or pa.types.is_string(field.type)]
