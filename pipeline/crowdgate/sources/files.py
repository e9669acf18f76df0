"""Tables in files: one file, or a folder of them with the same columns. A format reads one file.

A row can't stop a run (an unknown value, a null, bad UTF-8, a ragged line). A faulty file stops it with a FileFault,
whose message names the file and the column and nothing of their contents. Folders `column=value` are columns too, and
their values are cells.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from crowdgate.contracts.contract import Contract
from crowdgate.contracts.server_rules import ServerRule, ServerSetting
from crowdgate.errors import FileFault
from crowdgate.sources.dictionary_indices import with_valid_indices
from crowdgate.sources.joined_batches import joined
from crowdgate.sources.locations import Location, Partition, Stamp, TableFile, stamp_of, table_files
from crowdgate.sources.source import Batch, Reader, table_changed
from crowdgate.sources.table_header import CellType, HeaderColumn, TableHeader

PART_ROWS = 1 << 20
"""The most rows of a part, unless it is one piece of a file that is not cut."""
PART_BYTES = 1 << 27
"""The most bytes of a part of files whose number of rows is unknown before they are read."""


@dataclass(frozen=True)
class Slice:
    """Some rows of a file: the whole file, or a stretch that its format identifies by `first` and `last`. `rows` is
    their number (0: unknown).
    """

    path: Location = field(repr=False)
    size: int
    stamp: Stamp
    first: int = 0
    last: int = 0
    rows: int = 0
    partition: Partition = field(default=(), repr=False)

    @property
    def load(self) -> float:
        """The size of the slice as a share of the largest part."""
        return self.rows / PART_ROWS if self.rows else self.size / PART_BYTES


@dataclass(frozen=True)
class OpenedFile:
    """The names of a file's columns, and the file in slices, in order."""

    names: tuple[str, ...]
    slices: tuple[Slice, ...]


class FileFormat(Protocol):
    """A file format of tables: it reads one file."""

    def examine(self, path: Location, needed: Sequence[str], stamp: Stamp) -> OpenedFile:
        """Return the columns and slices of a file in this state; no cell is read. Raises FileFault if the columns are
        unreadable, or a needed one has no plain cells.
        """

    def read(self, part: Slice, columns: Sequence[str], unique: Sequence[str]) -> Iterator[Batch]:
        """Yield the rows of a slice in batches. `Batch.done` counts the bytes of the slice read so far."""


HeaderReader = Callable[[Location, Mapping[str, str], Collection[str]], TableHeader]
"""A function that returns the header of a file by its server's settings and the names of the contract's columns."""


@dataclass(frozen=True)
class FilePart:
    """Slices of files that are read one after another."""

    format: FileFormat
    slices: tuple[Slice, ...]

    @property
    def size(self) -> int:
        """The total bytes of all slices."""
        return sum(each.size for each in self.slices)

    @property
    def variables(self) -> set[str]:
        """The variables of the environment that reading takes."""
        return {name for each in self.slices if not isinstance(each.path, Path) for name in each.path.variables}

    def read(self, columns: Sequence[str], unique: Sequence[str]) -> Iterator[Batch]:
        """Yield batches of all slices, small ones joined. After it is read, each file must be as it was when the table
        was opened.
        """
        yield from joined(self._of_slices(columns, unique))

    def _of_slices(self, columns: Sequence[str], unique: Sequence[str]) -> Iterator[Batch]:
        before = 0
        for each in self.slices:
            for batch in _guarded(each, map(with_valid_indices, self._batches(each, columns, unique))):
                yield replace(batch, done=before + batch.done)
            before += each.size
            if has_changed(each):
                raise table_changed()

    def _batches(self, part: Slice, columns: Sequence[str], unique: Sequence[str]) -> Iterator[Batch]:
        """Yield batches of a slice, with the columns that the folders of its file state."""
        stated = {name: value for name, value in part.partition if name in columns}
        read = [name for name in columns if name not in stated]
        if columns and not read:  # one column tells the number of rows
            read = list(self.format.examine(part.path, (), part.stamp).names[:1])
        for batch in self.format.read(part, read, unique):
            constants = {name: _constant(value, batch.rows) for name, value in stated.items()}
            yield replace(batch, cells={**batch.cells, **constants})


def _constant(value: bytes | None, rows: int) -> Any:
    """Return a column of one value, as an Arrow dictionary."""
    import pyarrow as pa

    indices = pa.nulls(rows, pa.int32()) if value is None else pa.repeat(pa.scalar(0, pa.int32()), rows)
    return pa.DictionaryArray.from_arrays(indices, pa.array([value or b""], pa.binary()))


@dataclass(frozen=True)
class FileSource:
    """A table in opened files."""

    parts: tuple[FilePart, ...]
    paths: tuple[Location, ...] = field(repr=False)

    def fingerprint(self) -> object:
        """Return the stamp of every file, which changes with the file."""
        return tuple(_stamp(path) for path in self.paths)


def file_reader(
    name: str,
    suffixes: tuple[str, ...],
    make: Callable[[Mapping[str, str]], FileFormat],
    described: HeaderReader,
    keys: Mapping[str, ServerSetting],
    properties: Mapping[str, ServerSetting] | None = None,
) -> Reader:
    """Return a source of files of one format. `make` returns the format by a contract's server settings, `described`
    the header of a file by these settings and the names of the contract's columns.
    """
    rule = ServerRule("local", name, keys, properties or {})
    defaults = {key: setting.default for key, setting in rule.properties.items() if setting.default is not None}

    def opened_table(contract: Contract, needed: Sequence[str], path: Path | None) -> FileSource:
        settings = contract.server.settings  # of another format or place: it can state this one's delimiter too
        stated = {key: settings.get(key, default) for key, default in defaults.items()}
        # workers of a cluster may have another working directory
        place = contract.server.path if path is None else path.absolute()
        return open_files(table_files(place, suffixes), make(stated), needed)

    def header(contract: Contract) -> TableHeader:
        place = contract.server.path
        place.lstat()  # a table that is elsewhere is no fault of the contract
        return header_of(table_files(place, suffixes), described, contract)

    return Reader(name, rule, suffixes, opened_table, header)


def header_of(files: Sequence[TableFile], described: HeaderReader, contract: Contract) -> TableHeader:
    """Return the header of the first file, with the columns that its folders state."""
    first = files[0]
    found = described(first.location, contract.server.settings, contract.columns)
    stated = tuple(HeaderColumn(name, CellType.TEXT) for name, _ in first.partition)
    return replace(found, columns=(*found.columns, *stated))


def open_files(files: Sequence[TableFile], reading: FileFormat, needed: Sequence[str]) -> FileSource:
    """Open files as a table: only headers and footers are read. Raises FileFault for files of different columns."""
    first: tuple[str, ...] | None = None
    slices: list[Slice] = []
    for each in files:
        names, found = _open_file(each, reading, needed)
        if names != first:
            _check_columns(each.location, names, first or names, files[0].location.name, needed)
        first = first or names
        slices += found
    paths = tuple(each.location for each in files)
    return FileSource(tuple(FilePart(reading, part) for part in _parts(slices)), paths)


def _open_file(file: TableFile, reading: FileFormat, needed: Sequence[str]) -> tuple[tuple[str, ...], list[Slice]]:
    path, stated = file.location, tuple(name for name, _ in file.partition)
    try:
        stamp = stamp_of(path)
        found = reading.examine(path, [name for name in needed if name not in stated], stamp)
        slices = [replace(each, partition=file.partition) for each in found.slices] if stated else [*found.slices]
        return (*found.names, *stated), slices
    except OSError:
        pass
    raise FileFault(f"{path.name}: the file cannot be opened")


def _check_columns(
    path: Location, names: Sequence[str], first: Sequence[str], first_file: str, needed: Sequence[str]
) -> None:
    """Check that a file has the needed columns, like the first file. Messages never show columns unknown to the
    contract: without a header line they are cells.
    """
    for name in needed:
        if name not in names:
            raise FileFault(f"{path.name}: column {name!r} is missing")
        if names.count(name) > 1:
            raise FileFault(f"{path.name}: the name of column {name!r} is used twice")
    if len(set(names)) < len(names):
        raise FileFault(f"{path.name}: the name of a column is used twice")
    if set(names) != set(first):
        raise FileFault(f"{path.name}: its columns are not those of {first_file}")


def _parts(slices: Sequence[Slice]) -> Iterator[tuple[Slice, ...]]:
    """Yield parts of successive slices: small ones are merged, none exceeds the largest part unless it is one slice."""
    part: list[Slice] = []
    load = 0.0
    for each in slices:
        if part and load + each.load > 1:
            yield tuple(part)
            part, load = [], 0.0
        part.append(each)
        load += each.load
    if part:
        yield tuple(part)


def _guarded(part: Slice, batches: Iterator[Batch]) -> Iterator[Batch]:
    """Yield the batches; a library's exception, whose text may quote the contents, becomes a plain FileFault."""
    while True:
        failed, batch = False, None
        try:
            batch = next(batches, None)
        except Exception:
            failed = True
        if failed and has_changed(part):
            raise table_changed()
        if failed:
            raise FileFault(f"{part.path.name}: the file can't be read to its end")
        if batch is None:
            return
        yield batch


def _stamp(path: Location) -> Stamp | None:
    try:
        return stamp_of(path)
    except OSError:
        return None


def has_changed(part: Slice) -> bool:
    """Return whether the file of a slice is other than when the table was opened, or can't be seen."""
    return _stamp(part.path) != part.stamp
