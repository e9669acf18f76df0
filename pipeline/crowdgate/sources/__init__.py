"""Sources: where tables are read from. A new one is a file here and a line below."""

import os
from collections.abc import Sequence
from pathlib import Path

from crowdgate.contracts.contract import Contract
from crowdgate.sources import csv, parquet
from crowdgate.sources.source import Reader, Source

SOURCES: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        parquet.READER,
        csv.READER,
    )
}


def open_source(contract: Contract, columns: Sequence[str], path: Path | None = None) -> Source:
    """Open the contract's table, or a file or folder in its place, to read these columns and the person's.

    A file in its place is read by the reader of its suffix. Raises FileFault when something is missing, can't be opened
    or has other columns.
    """
    by_suffix = {suffix: reader for reader in SOURCES.values() for suffix in reader.suffixes}
    own = SOURCES[contract.server.reader]
    named = own if path is None or os.path.isdir(path) else by_suffix.get(path.suffix.lower(), own)
    person = [] if contract.unit.person is None else [contract.unit.person]
    return named.opened(contract, tuple(dict.fromkeys([*columns, *person])), path)


__all__ = ["SOURCES", "Reader", "Source", "open_source"]
