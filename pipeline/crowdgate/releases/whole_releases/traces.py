"""The bytes of a published folder, searched for what no release may show: names, contents, metadata and times of its
files."""

import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from crowdgate.kind.stated_laws import Contradiction
from crowdgate.releases.whole_releases.marked_table import DIGITS, Mark
from crowdgate.system.regular_files import plain_file

MARKED = Contradiction("A file holds a cell of a column or an identifier that the release must not show.")
HASHED = Contradiction("A file holds an unkeyed hash of a cell or an identifier that the release must not show.")
METADATA = Contradiction("A Parquet file holds metadata beside its schema.")
TIMES = Contradiction("The time of a file is not that of the slot.")
_HEXADECIMAL = re.compile(rb"[0-9a-f]{%d,}" % DIGITS)


def traces(folder: Path, slot: str, mark: Mark) -> Iterator[Contradiction]:
    """Yield a contradiction for each trace of a marked cell in the names and bytes of the files of a release, for
    metadata that no release needs, and for a file time that is not the slot's."""
    day = datetime.fromisoformat(slot[:10]).replace(tzinfo=UTC).timestamp()
    for path in sorted(folder.rglob("*")):
        if path.stat().st_mtime != day:
            yield TIMES
        for data in (os.fsencode(path.name), *_contents(path)):
            yield from _marks(data, mark)
        if path.suffix == ".parquet" and _metadata(path):
            yield METADATA


def _marks(data: bytes, mark: Mark) -> Iterator[Contradiction]:
    text = mark.text
    if any(each in data for each in (text.encode(), bytes.fromhex(text), text.encode("utf-16-le"))):
        yield MARKED
    found = {token.decode() for token in _HEXADECIMAL.findall(data.lower())}
    if any(token[:DIGITS] in mark.hashes for token in found):
        yield HASHED


def _contents(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file, and of a Parquet file also all texts and metadata in it."""
    with plain_file(path) as file:
        yield file.read()
    if path.suffix == ".parquet":
        for column in _table(path).columns:
            yield "\n".join(map(str, column.unique().to_pylist())).encode()


def _table(path: Path) -> Any:
    import pyarrow.parquet

    with plain_file(path) as file:
        return pyarrow.parquet.read_table(file)


def _metadata(path: Path) -> set[bytes]:
    """Return the keys of a Parquet file's metadata, also of its columns."""
    import pyarrow.parquet

    with plain_file(path) as file:
        found = pyarrow.parquet.ParquetFile(file)
        schema = found.schema_arrow
    own = {*(found.metadata.metadata or {}), *(schema.metadata or {})}
    return own | {key for field in schema for key in (field.metadata or {})} - {b"PARQUET:field_id"}
