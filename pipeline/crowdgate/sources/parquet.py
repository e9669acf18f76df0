"""Parquet as batches that stay in cache, text columns as dictionaries, only the wanted columns."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from gc import collect
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from crowdgate.errors import FileFault
from crowdgate.limits import LONGEST_ID
from crowdgate.sources import pages
from crowdgate.sources.encode import is_text, too_long
from crowdgate.sources.files import PART_ROWS, OpenedFile, Slice
from crowdgate.sources.locations import Location, Stamp, arrow_file, opened, size_of, start_of
from crowdgate.sources.parquet_footer import MAGIC, FooterLimit, footer_of
from crowdgate.sources.parquet_schema import DAMAGED
from crowdgate.sources.source import Batch
from crowdgate.system.arrow_memory import system_memory_pool

SMALL_FILE = 1 << 20
"""The bytes of a file that is read at once."""
SMALL_FOOTER = 1 << 12
"""The bytes of a footer whose objects take 100 KB and less."""
LARGE_FOOTER = 1 << 20
"""The bytes of a footer whose objects take 10 MB and more."""


@dataclass(frozen=True)
class ParquetSlice(Slice):
    """A run of row groups, with the most rows of a batch of each, for the columns that were asked for when the file was
    opened, and those of them that are read as dictionaries."""

    names: frozenset[str] = frozenset()
    batch_rows: tuple[int, ...] = ()
    texts: frozenset[str] = frozenset()

    @property
    def file_size(self) -> int:
        """The bytes of the file."""
        return size_of(self.stamp)


@dataclass(frozen=True)
class ParquetFiles:
    """The format Parquet: a slice is a run of row groups."""

    def examine(self, path: Location, needed: Sequence[str], stamp: Stamp) -> OpenedFile:
        """Return the column names in the file's footer, and runs of row groups of at most the rows of a part, whose
        sizes add up to the file's.

        Raises FileFault if the footer is unreadable or beyond the limits, or a needed column holds no plain cells or
        pages that are too large.
        """
        size = size_of(stamp)
        with _random_access(path, size) as file:
            footer, places = _places(path, file, needed)
            found = _of_arrow(path, footer, needed)
            if len(footer) > LARGE_FOOTER:
                collect()  # Arrow's metadata and its schema hold each other
            rows = _batch_rows(path, file, places, found.types)
        whole = ParquetSlice(path, size, stamp, names=frozenset(needed), texts=_texts(found.types))
        return OpenedFile(found.names, tuple(_cut(whole, found.rows, rows)))

    def read(self, part: Slice, columns: Sequence[str], unique: Sequence[str]) -> Iterator[Batch]:
        """Yield batches that stay in cache. Text columns are dictionaries, except those whose values hardly recur."""
        assert isinstance(part, ParquetSlice)
        part, done = _with_names(part, columns), 0
        text = [name for name in columns if name in part.texts and (name not in unique or _has_long(part, name))]
        pool = nullcontext() if part.file_size <= SMALL_FILE else system_memory_pool()
        with pool, _parquet_file(part, text) as file:
            for group, rows in enumerate(part.batch_rows, part.first):
                for batch in file.iter_batches(rows, row_groups=[group], columns=list(columns), use_threads=False):
                    done += batch.num_rows
                    cells = {name: batch.column(name) for name in columns}
                    yield Batch(batch.num_rows, 0, cells, part.size * done // max(part.rows, 1))


@dataclass(frozen=True, eq=False)
class _ArrowFooter:
    """A footer as Arrow reads it: the names of columns, the types of those that are asked for, and the number of rows
    of each row group."""

    names: tuple[str, ...]
    types: Mapping[str, Any]
    rows: tuple[int, ...]


def _places(path: Location, file: Any, columns: Collection[str]) -> tuple[bytes, pages.ColumnPlaces]:
    """Return the footer of an opened file, and the places of these columns, before Arrow makes objects of either.
    Raises FileFault if the footer is damaged or beyond the limits.
    """
    words = DAMAGED
    try:
        footer = footer_of(file)
        return footer, pages.places_of(footer, columns)
    except FooterLimit as error:
        words = str(error)
    except ValueError:
        pass
    raise FileFault(f"{path.name}: not a readable Parquet file: {words}")


def _of_arrow(path: Location, footer: bytes, needed: Collection[str]) -> _ArrowFooter:
    """Return what Arrow reads of a footer. Raises FileFault if it can't, or a needed column has no plain cells."""
    found = None
    try:
        said = _metadata_of(footer)
        schema = said.schema.to_arrow_schema()
        rows = tuple(said.row_group(group).num_rows for group in range(said.num_row_groups))
        types = {field.name: field.type for field in schema if field.name in needed}
        found = _ArrowFooter(tuple(schema.names), types, rows)
    except (pa.ArrowException, OSError, ValueError):
        pass
    if found is None:
        raise FileFault(f"{path.name}: not a readable Parquet file: {DAMAGED}")
    for name, kind in found.types.items():
        if pa.types.is_nested(kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind):
            raise FileFault(f"{path.name}: column {name!r} holds lists or structures: expected one value a cell")
    return found


def _metadata_of(footer: bytes) -> Any:
    """Return Arrow's metadata of a footer. That of a small one is cached, as its file is opened again to be read."""
    return _parsed_again(footer) if len(footer) <= SMALL_FOOTER else _parsed(footer)


def _parsed(footer: bytes) -> Any:
    with pa.BufferReader(b"".join((MAGIC, footer, len(footer).to_bytes(4, "little"), MAGIC))) as file:
        return pyarrow.parquet.read_metadata(file)


_parsed_again = lru_cache(maxsize=1 << 10)(_parsed)


def _batch_rows(path: Location, file: Any, places: pages.ColumnPlaces, types: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the most rows of a batch of these columns in each row group. Raises FileFault if they can't be read in
    bounded memory."""
    rows, words, loose = [], None, _loose(types)
    try:
        for chunks in pages.chunks_of(file, places):
            words = words or pages.problem(chunks)
            rows.append(pages.batch_rows(chunks, loose))
    except ValueError:
        words = "the Parquet file is damaged: the header of a page can't be read"
    if words is not None:
        raise FileFault(f"{path.name}: {words}")
    return tuple(rows)


def _loose(types: Mapping[str, Any]) -> set[str]:
    """Return the columns whose cells Arrow can't read as dictionaries."""
    return {name for name, kind in types.items() if isinstance(kind, pa.BaseExtensionType)}


def _texts(types: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(name for name, kind in types.items() if _is_text(kind))


@lru_cache(maxsize=64)  # files of one table have few types
def _is_text(kind: Any) -> bool:
    return is_text(kind) or kind in (pa.string_view(), pa.binary_view())


def _cut(whole: ParquetSlice, rows: Sequence[int], batch_rows: tuple[int, ...]) -> Iterator[ParquetSlice]:
    count = max(len(rows), 1)
    for first, last in pairwise(_edges(rows)):
        share = whole.size * last // count - whole.size * first // count if rows else whole.size
        held = sum(rows[first:last])
        yield replace(whole, size=share, first=first, last=last, rows=held, batch_rows=batch_rows[first:last])


def _edges(rows: Sequence[int]) -> list[int]:
    """Return where runs of row groups begin and end: each has at most PART_ROWS rows, or is one group."""
    edges, held = [0], 0
    for group, count in enumerate(rows):
        if held and held + count > PART_ROWS:
            edges.append(group)
            held = 0
        held += count
    return [*edges, len(rows)]


@contextmanager
def _random_access(path: Location, size: int) -> Iterator[Any]:
    """Open a file for reading at any position; a small one is read at once."""
    if size <= SMALL_FILE:
        yield start_of(path, size)
    else:
        with opened(path) as file:
            yield getattr(file, "raw", file)  # headers lie apart, so a buffer would be filled anew for each


def _with_names(part: ParquetSlice, columns: Sequence[str]) -> ParquetSlice:
    """Return the slice with what reading these columns takes, if they were not asked for when the file was opened."""
    if part.names.issuperset(columns):
        return part
    with _random_access(part.path, part.file_size) as file:
        footer, places = _places(part.path, file, columns)
        schema = _metadata_of(footer).schema.to_arrow_schema()
        types = {field.name: field.type for field in schema if field.name in columns}
        rows = tuple(pages.batch_rows(chunks, _loose(types)) for chunks in pages.chunks_of(file, places))
    return replace(part, names=frozenset(columns), batch_rows=rows[part.first : part.last], texts=_texts(types))


@contextmanager
def _parquet_file(part: ParquetSlice, text: Sequence[str]) -> Iterator[Any]:
    """Open the file of a slice with these columns as dictionaries."""
    with (
        _arrow_input(part) as (content, known),
        pyarrow.parquet.ParquetFile(content, metadata=known, read_dictionary=list(text)) as file,
    ):
        yield file


@contextmanager
def _arrow_input(part: ParquetSlice) -> Iterator[tuple[Any, Any]]:
    """Yield the file of a slice for Arrow, and its metadata where they are known (else None)."""
    if part.file_size > SMALL_FILE:
        with arrow_file(part.path) as file:
            yield file, None if part.size == part.file_size else _metadata(part.path, part.stamp)
    else:
        content = start_of(part.path, part.file_size)
        with pa.BufferReader(content) as reader:
            yield reader, _metadata_of(footer_of(content))


@lru_cache(maxsize=1)
def _metadata(path: Location, stamp: Stamp) -> Any:
    """Return Arrow's metadata of a file of several slices, cached while its stamp is unchanged."""
    del stamp
    with arrow_file(path) as file:
        return pyarrow.parquet.read_metadata(file)


def _has_long(part: ParquetSlice, name: str) -> bool:
    """Return whether the first dictionary of a column in some row group holds texts longer than an id may be; without a
    dictionary each row would be as long.
    """
    with _parquet_file(part, [name]) as file:
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
