"""A data frame, or another Arrow table, as the file of a contract's table."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate.contracts.cell_form import ISO, POINT
from crowdgate.errors import Code, ConfigurationError, EnvironmentFault, FileFault, Problem
from crowdgate.sources.arrow_stream import arrow_reader, batches

if TYPE_CHECKING:
    from crowdgate.contracts.contract import Contract
    from crowdgate.sources.arrow_stream import ArrowTable

_CODECS = {".gz": "gzip", ".zst": "zstd"}
_INDEX = "__index_level_"
"""The start of the names under which pandas exports its index."""


def write(table: ArrowTable, contract: Contract) -> Path:
    """Write the table to the file in which the contract expects it: whole or not at all, readable only to the file's
    owner. Returns the path. Raises ConfigurationError if the contract's format can't be written, FileFault if the table
    can't be read, EnvironmentFault if the file can't be written."""
    writer = WRITERS.get(contract.server.reader)
    if writer is None:
        found = f"a server of format {contract.server.reader}"
        expected = f"format: {' or '.join(WRITERS)}"
        raise ConfigurationError(Problem(str(contract.files[0]), None, "servers", found, expected, code=Code.CONTRACT))
    import pyarrow as pa

    reader, path, why = arrow_reader(table), contract.server.path, None
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".crowdgate-") as scratch:
            new = Path(scratch) / path.name  # the folder is private to its owner
            writer(new, reader, contract.server.settings)
            new.chmod(0o600)
            os.replace(new, path)
            return path
    except pa.ArrowException:  # its text may hold cells
        pass
    except OSError as error:
        why = error.strerror or "unknown reason"
    if why is None:
        raise FileFault(f"{path.name}: its format can't hold the types of all columns of the Arrow table")
    raise EnvironmentFault(f"{path} can't be written: {why}")


def _write_parquet(path: Path, reader: Any, settings: Mapping[str, str]) -> None:
    import pyarrow.parquet

    del settings
    _write_pieces(path, reader, pyarrow.parquet.ParquetWriter)


def _write_arrow(path: Path, reader: Any, settings: Mapping[str, str]) -> None:
    import pyarrow.ipc

    del settings
    _write_pieces(path, reader, pyarrow.ipc.new_file)


def _write_csv(path: Path, reader: Any, settings: Mapping[str, str]) -> None:
    import pyarrow.csv

    if (settings["decimalMark"], settings["dayForm"]) != (POINT, ISO):
        words = f"CSV is written with a decimal point and days as {ISO}, not as the contract states"
        raise FileFault(f"{path.name}: {words}")
    options = pyarrow.csv.WriteOptions(delimiter=settings["delimiter"], quoting_style="needed")
    _write_pieces(path, reader, lambda file, schema: pyarrow.csv.CSVWriter(file, schema, write_options=options))


def _write_pieces(path: Path, reader: Any, writer: Callable[[Any, Any], Any]) -> None:
    """Write the batches of a reader one by one, compressed as the suffix of the path says."""
    import pyarrow as pa

    names = [name for name in reader.schema.names if not name.startswith(_INDEX)]
    schema = pa.schema([reader.schema.field(name) for name in names])
    with ExitStack() as stack:
        file = stack.enter_context(path.open("xb"))
        codec = _CODECS.get(path.suffix.lower())
        out = file if codec is None else stack.enter_context(pa.CompressedOutputStream(file, codec))
        into = stack.enter_context(writer(out, schema))
        for batch in batches(reader):
            into.write_batch(batch.select(names))


WRITERS: Mapping[str, Callable[[Path, Any, Mapping[str, str]], None]] = {
    "parquet": _write_parquet,
    "csv": _write_csv,
    "arrow": _write_arrow,
}
"""The functions that write a table, by the format of a contract's server."""
