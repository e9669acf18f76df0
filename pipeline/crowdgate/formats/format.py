"""What an output format is: how tables of labels and numbers are written, and read again to be verified."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa


@dataclass(frozen=True)
class Format:
    """`write` takes the schema and the table in pieces, so that memory does not grow with it; the same table always
    gives the same bytes. `read` takes the schema that is expected (text, numbers and flags; labels come as text) and
    gives the table, or raises an error of Arrow's, OSError or ValueError.

    Columns of labels are dictionaries; a piece's dictionary holds what occurs in the piece, in the order of its codes.
    """

    write: Callable[[Path, pa.Schema, Iterable[pa.Table]], None]
    read: Callable[[Path, pa.Schema], pa.Table]


def as_read(schema: pa.Schema) -> pa.Schema:
    """The schema of a table that was read: labels are text."""
    return pa.schema([(f.name, pa.string() if pa.types.is_dictionary(f.type) else f.type) for f in schema])
