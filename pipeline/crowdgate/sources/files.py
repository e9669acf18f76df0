"""Tables in files: one file, or a folder of them with the same columns. A format reads one file.

A row can't stop a run (an unknown value, a null, bad UTF-8, a ragged line). A faulty file stops it with a FileFault,
whose message names the file and the column and nothing of their contents.
"""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from crowdgate.contracts.contract import Contract
from crowdgate.contracts.servers import ServerRule, ServerSetting
from crowdgate.errors import FileFault
from crowdgate.sources.source import Batch, Reader, table_changed
from crowdgate.sources.table_header import TableHeader
from crowdgate.system.freed_memory import return_freed_memory

PART_BYTES = 1 << 23
"""The size at which a part is closed: many small files are one part, a large one may be several."""

Stamp = tuple[int, ...]
"""Size, device and inode, and the times of a file's contents and of its entry, which can't be set back."""


@dataclass(frozen=True)
class Slice:
    """Some rows of a file: the whole file, or a stretch that its format identifies by `first` and `last`."""

    path: Path
    size: int
    stamp: Stamp
    first: int = 0
    last: int = 0


class FileFormat(Protocol):
    """A file format of tables: it reads one file."""

    def columns(self, path: Path, needed: Sequence[str]) -> tuple[str, ...]:
        """Return the names of the file's columns. Raises FileFault if they are unreadable, or a needed column has no
        plain cells.
        """

    def slices(self, path: Path, size: int, stamp: Stamp) -> Iterator[Slice]:
        """Yield the file in slices, in order."""

    def read(self, part: Slice, columns: Sequence[str], unique: Sequence[str]) -> Iterator[Batch]:
        """Yield the rows of a slice in batches. `Batch.done` counts the bytes of the slice read so far."""


@dataclass(frozen=True)
class FilePart:
    """Slices of files that are read one after another."""

    format: FileFormat
    slices: tuple[Slice, ...]

    @property
    def size(self) -> int:
        """The total bytes of all slices."""
        return sum(each.size for each in self.slices)

    def read(self, columns: Sequence[str], unique: Sequence[str]) -> Iterator[Batch]:
        """Yield batches of all slices. Before and after, each file must be as it was when the table was opened."""
        before = 0
        for each in self.slices:
            for batch in _guarded(each, self.format.read(each, columns, unique)):
                yield Batch(batch.rows, batch.ragged, batch.cells, before + batch.done)
            before += each.size
            if _has_changed(each):
                raise table_changed()
        return_freed_memory()  # the pages of each of many parts stay otherwise: 40 MB at 40M rows


@dataclass(frozen=True)
class FileSource:
    """A table in opened files."""

    parts: tuple[FilePart, ...]
    paths: tuple[Path, ...]

    def fingerprint(self) -> object:
        """Return the stamp of every file, which changes with the file."""
        return tuple(_stamp(path) for path in self.paths)


def file_reader(
    name: str,
    suffixes: tuple[str, ...],
    make: Callable[[Mapping[str, str]], FileFormat],
    described: Callable[[Path, Mapping[str, str], Collection[str]], TableHeader],
    keys: Mapping[str, ServerSetting],
    properties: Mapping[str, ServerSetting] | None = None,
) -> Reader:
    """Return a source of files of one format. `make` returns the format by a contract's server settings, `described`
    the header of a file by these settings and the names of the contract's columns.
    """
    rule = ServerRule("local", name, keys, properties or {})
    defaults = {key: setting.default for key, setting in rule.properties.items() if setting.default is not None}

    def opened(contract: Contract, needed: Sequence[str], path: Path | None) -> FileSource:
        own = contract.server.reader == name
        stated = contract.server.settings if own else defaults
        place = contract.server.path if path is None else path
        return _open(place, suffixes, make(stated), needed)

    def header(contract: Contract) -> TableHeader:
        place = contract.server.path
        place.lstat()  # a table that is elsewhere is no fault of the contract
        return described(_find(place, suffixes)[0], contract.server.settings, contract.columns)

    return Reader(name, rule, suffixes, opened, header)


def _open(place: Path, suffixes: Sequence[str], reading: FileFormat, needed: Sequence[str]) -> FileSource:
    """Open a file, or a folder of files, as a table: only headers and footers are read."""
    paths = _find(place, suffixes)
    first: tuple[str, ...] | None = None
    slices: list[Slice] = []
    for path in paths:
        names, found = _open_file(path, reading, needed)
        _check_columns(path, names, first or names, paths[0].name, needed)
        first = first or names
        slices += found
    return FileSource(tuple(FilePart(reading, part) for part in _parts(slices)), tuple(paths))


def _find(place: Path, suffixes: Sequence[str]) -> list[Path]:
    if not os.path.isdir(place):  # pathlib raises where a name is too long
        if not os.path.isfile(place):
            why = (
                "the table is a folder or another special file, and must be a plain file"
                if os.path.lexists(place)
                else "there is no such file or directory"
            )
            raise FileFault(f"{place.name}: {why}")
        return [place]
    try:
        found = [path for path in place.iterdir() if path.suffix.lower() in suffixes and path.is_file()]
    except OSError:
        raise FileFault(f"{place.name}: the directory cannot be opened") from None
    found = sorted(path for path in found if not path.name.startswith("."))
    if not found:
        raise FileFault(f"{place.name}: the directory holds no *{' or *'.join(suffixes)} file")
    return found


def _open_file(path: Path, reading: FileFormat, needed: Sequence[str]) -> tuple[tuple[str, ...], list[Slice]]:
    try:
        size, *_ = stamp = _stamp_of(path)
        return reading.columns(path, needed), list(reading.slices(path, size, stamp))
    except OSError:
        pass
    raise FileFault(f"{path.name}: the file cannot be opened")


def _check_columns(
    path: Path, names: Sequence[str], first: Sequence[str], first_file: str, needed: Sequence[str]
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
    part: list[Slice] = []
    size = 0
    for each in slices:
        part.append(each)
        size += each.size
        if size >= PART_BYTES:
            yield tuple(part)
            part, size = [], 0
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
        if failed and _has_changed(part):
            raise table_changed()
        if failed:
            raise FileFault(f"{part.path.name}: the file can't be read to its end")
        if batch is None:
            return
        yield batch


def _stamp(path: Path) -> Stamp | None:
    try:
        return _stamp_of(path)
    except OSError:
        return None


def _stamp_of(path: Path) -> Stamp:
    found = path.stat()
    return found.st_size, found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns


def _has_changed(part: Slice) -> bool:
    return _stamp(part.path) != part.stamp
