"""Parquet as batches that stay in cache, text columns as dictionaries, only the wanted columns."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from crowdgate.errors import FileFault
from crowdgate.limits import LARGEST_FOOTER, LONGEST_ID
from crowdgate.sources import pages, thrift
from crowdgate.sources.encode import is_text, too_long
from crowdgate.sources.files import PART_ROWS, Slice
from crowdgate.sources.locations import Location, Stamp, arrow_file, opened
from crowdgate.sources.parquet_schema import TAIL
from crowdgate.sources.source import Batch
from crowdgate.system.arrow_memory import system_memory_pool


def names_of(path: Location, wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the column names in the file's footer.

    Raises FileFault if the footer is unreadable, or a wanted column holds no plain cells or pages that are too large.
    """
    _check_footer(path)
    schema = _schema(path)
    if schema is None:
        raise FileFault(f"{path.name}: not a readable Parquet file: its footer is missing or damaged")
    for field in schema:
        if field.name in wanted and pa.types.is_nested(_storage(field.type)):
            raise FileFault(f"{path.name}: column {field.name!r} holds lists or structures: expected one value a cell")
    words = pages.problem(path, _metadata(path).schema, wanted)
    if words is not None:
        raise FileFault(f"{path.name}: {words}")
    return tuple(schema.names)


def _check_footer(path: Location) -> None:
    with opened(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL))
        if int.from_bytes(file.read(4), "little") > LARGEST_FOOTER:
            raise FileFault(
                f"{path.name}: not a readable Parquet file: its footer is larger than {LARGEST_FOOTER >> 20} MiB"
            )


@dataclass(frozen=True)
class ParquetFiles:
    """The format Parquet: a slice is a run of row groups."""

    def columns(self, path: Location, needed: Sequence[str]) -> tuple[str, ...]:
        """Return the column names in the file's footer."""
        return names_of(path, needed)

    def slices(self, path: Location, size: int, stamp: Stamp) -> Iterator[Slice]:
        """Yield runs of row groups of at most the rows of a part; their sizes add up to the file's."""
        metadata = _metadata(path)
        rows = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
        count = max(len(rows), 1)
        for first, last in pairwise(_edges(rows)):
            share = size * last // count - size * first // count if rows else size
            yield Slice(path, share, stamp, first, last, sum(rows[first:last]))

    def read(self, part: Slice, columns: Sequence[str], unique: Sequence[str]) -> Iterator[Batch]:
        """Yield batches that stay in cache. Text columns are dictionaries, except those whose values hardly recur."""
        metadata = _metadata(part.path)
        groups, said = range(part.first, part.last), _groups(part.path, part.stamp)
        total, done = sum(metadata.row_group(group).num_rows for group in groups), 0
        schema = _schema(part.path)
        kinds = {name: schema.field(name).type for name in columns}
        loose = {name for name, kind in kinds.items() if isinstance(kind, pa.BaseExtensionType)}
        text = [
            name for name, kind in kinds.items() if _is_text(kind) and (name not in unique or _has_long(part, name))
        ]
        with (
            system_memory_pool(),
            arrow_file(part.path) as content,
            pyarrow.parquet.ParquetFile(content, read_dictionary=text) as file,
        ):
            for group in groups:
                rows = pages.batch_rows(pages.chunks_of(part.path, metadata.schema, said[group], columns), loose)
                for batch in file.iter_batches(rows, row_groups=[group], columns=list(columns), use_threads=False):
                    done += batch.num_rows
                    cells = {name: batch.column(name) for name in columns}
                    yield Batch(batch.num_rows, 0, cells, part.size * done // max(total, 1))


def _schema(path: Location) -> Any:
    try:
        with arrow_file(path) as file:
            return pyarrow.parquet.read_schema(file)
    except (pa.ArrowException, OSError, ValueError):
        return None


def _metadata(path: Location) -> Any:
    with arrow_file(path) as file:
        return pyarrow.parquet.read_metadata(file)


def _edges(rows: Sequence[int]) -> list[int]:
    """Return where runs of row groups begin and end: each has at most PART_ROWS rows, or is one group."""
    edges, held = [0], 0
    for group, count in enumerate(rows):
        if held and held + count > PART_ROWS:
            edges.append(group)
            held = 0
        held += count
    return [*edges, len(rows)]


def _storage(kind: Any) -> Any:
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def _is_text(kind: Any) -> bool:
    return is_text(kind) or kind in (pa.string_view(), pa.binary_view())


@lru_cache(maxsize=1)
def _groups(path: Location, stamp: Stamp) -> Sequence[thrift.Fields]:
    """Return the row groups in a file's footer, cached while its stamp is unchanged."""
    del stamp
    return pages.groups_of(path)


def _has_long(part: Slice, name: str) -> bool:
    """Return whether the first dictionary of a column in some row group holds texts longer than an id may be; without a
    dictionary each row would be as long.
    """
    with arrow_file(part.path) as content, pyarrow.parquet.ParquetFile(content, read_dictionary=[name]) as file:
        for group in range(part.first, part.last):
            for batch in file.iter_batches(1, row_groups=[group], columns=[name], use_threads=False):
                cells = batch.column(0)
                if pa.types.is_dictionary(cells.type) and too_long(cells.dictionary, LONGEST_ID).true_count:
                    return True
                break
    return False


def files(settings: Mapping[str, str]) -> ParquetFiles:
    """Return the format Parquet, which has no settings."""
    del settings
    return ParquetFiles()
