"""An input table: files opened against a contract, and read once as batches of domain codes.

What one row can cause (an unknown value, a null, bad UTF-8, a ragged line) never refuses: its cell becomes the
attribute's invalid level or its row is dropped, as the contract says. What the files can cause refuses, as FileFault,
with a message that names the file and the column and nothing of their contents.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pipeline.contract import Attribute, Contract
from pipeline.errors import FileFault
from pipeline.histogram import Column, Mask, Records
from pipeline.io import csv_blocks, parquet_batches
from pipeline.io.encode import Encoded, encode
from pipeline.io.facts import Facts
from pipeline.io.people import NOBODY, number_people, rows_each

__all__ = ["Facts", "SourceFile", "Table", "choose_rows", "open_table", "read_records"]

Format = Literal["parquet", "csv"]
_FORMATS: dict[str, Format] = {".parquet": "parquet", ".csv": "csv"}


@dataclass(frozen=True)
class SourceFile:
    """One file as it was when it was opened: its columns in order, and for CSV the byte at which its rows begin."""

    path: Path
    size: int
    mtime_ns: int
    inode: int
    names: tuple[str, ...]
    body: int = 0


@dataclass(frozen=True, eq=False)
class Table:
    """An opened input; `columns` will be read. Rows are in the order of the files' names, then of each file."""

    files: tuple[SourceFile, ...]
    format: Format
    columns: tuple[str, ...]
    delimiter: str = ","

    @property
    def bytes_total(self) -> int:
        """Size of all files."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True, eq=False)
class _Batch:
    rows: int
    ragged: int
    cells: dict[str, Any]
    done: int


def open_table(contract: Contract, columns: Sequence[str], path: Path | None = None) -> Table:
    """Open the contract's source, or `path` in its place: one file, or a directory of them. Reads headers and footers.

    Raises FileFault when a file or column is missing, a header or footer cannot be read, or files differ in columns.
    """
    source = contract.source
    place = source.path if path is None else path
    kind = source.format if place.is_dir() else _FORMATS.get(place.suffix.lower(), source.format)
    person = [] if contract.unit.person is None else [contract.unit.person]
    needed = tuple(dict.fromkeys([*columns, *person]))
    files = tuple(_open_file(found, kind, source.delimiter, needed) for found in _find(place, kind))
    for file in files:
        _check_columns(file, files[0], needed)
    return Table(files, kind, tuple(columns), source.delimiter)


def read_records(table: Table, contract: Contract, seen: Facts | None, chosen: Mask | None = None,
                 progress: Callable[[int], None] | None = None) -> Iterator[Records]:  # fmt: skip
    """One pass over the table: a batch of codes at a time, `keep` False where cleaning or the person bound drops a row.

    `chosen` is the person bound's mask over all rows in reading order; `progress` is told the bytes done so far. Raises
    FileFault when a file changed meanwhile or cannot be read to its end.
    """
    attributes = [contract.by_name[name] for name in table.columns]
    facts = Facts() if seen is None else seen
    row = 0
    for batch in _batches(table, table.columns, dictionaries=True):
        facts.add_ragged(batch.ragged)
        part = None if chosen is None else chosen[row : row + batch.rows]
        row += batch.rows
        if part is not None and len(part) != batch.rows:
            raise _changed()
        if batch.rows:
            yield _records(batch, attributes, contract, facts, part)
        if progress is not None:
            progress(batch.done)
    if chosen is not None and row != len(chosen):
        raise _changed()


def choose_rows(table: Table, contract: Contract, random_words: Callable[[int], npt.NDArray[np.uint64]],
                seen: Facts | None = None) -> Mask:  # fmt: skip
    """The person bound: which rows stay, at most `unit.rows` per person, each row equally likely.

    `random_words(n)` gives n secret uniform 64-bit words, one per row; the smallest words of a person's rows win. Rows
    without a usable person id are dropped. Ids are compared by their exact bytes, numbers by their text.
    """
    person = contract.unit.person
    if person is None:
        raise ValueError("the contract's privacy unit is a row: there is no person to choose rows by")
    people = number_people(batch.cells[person] for batch in _batches(table, (person,), dictionaries=False))
    chosen = rows_each(people, random_words(len(people)), contract.unit.rows)
    if seen is not None:
        seen.add_people(int(np.count_nonzero(people != NOBODY)), int(np.count_nonzero(chosen)))
    return chosen


def _find(place: Path, kind: Format) -> list[Path]:
    if not place.is_dir():
        if not place.is_file():
            raise FileFault(f"{place.name}: there is no such file or directory")
        return [place]
    found = sorted(file for file in place.glob(f"*.{kind}") if file.is_file() and not file.name.startswith("."))
    if not found:
        raise FileFault(f"{place.name}: the directory holds no *.{kind} file")
    return found


def _open_file(path: Path, kind: Format, delimiter: str, needed: Sequence[str]) -> SourceFile:
    try:
        size, mtime_ns, inode = _stat(path)
        if kind == "parquet":
            return SourceFile(path, size, mtime_ns, inode, parquet_batches.read_names(path, needed))
        header = csv_blocks.read_header(path, delimiter)
        return SourceFile(path, size, mtime_ns, inode, header.names, header.body)
    except OSError:
        pass
    raise FileFault(f"{path.name}: the file cannot be opened")


def _check_columns(file: SourceFile, first: SourceFile, needed: Sequence[str]) -> None:
    twice = next((name for name in file.names if file.names.count(name) > 1), None)
    if twice is not None:
        raise FileFault(f"{file.path.name}: the name of column {twice!r} is used twice")
    for name in needed:
        if name not in file.names:
            raise FileFault(f"{file.path.name}: column {name!r} is missing")
    if set(file.names) != set(first.names):
        raise FileFault(f"{file.path.name}: its columns are not those of {first.path.name}")


def _batches(table: Table, columns: Sequence[str], *, dictionaries: bool) -> Iterator[_Batch]:
    """Batches of all files in turn; afterwards each file must be what it was when the table was opened."""
    before = 0
    for file in table.files:
        if table.format == "csv":
            inner = _csv_batches(file, table.delimiter, columns, before)
        else:
            inner = _parquet_batches(file, columns, before, dictionaries=dictionaries)
        yield from _guarded(inner, file)
        before += file.size
    if any(_has_changed(file) for file in table.files):
        raise _changed()


def _csv_batches(file: SourceFile, delimiter: str, columns: Sequence[str], before: int) -> Iterator[_Batch]:
    wanted = [file.names.index(name) for name in columns]
    for block, done in csv_blocks.read_blocks(file.path, file.body):
        parsed = csv_blocks.parse(block, delimiter, len(file.names), wanted)
        rows = len(parsed.cells[0])
        yield _Batch(rows, parsed.ragged, dict(zip(columns, parsed.cells, strict=True)), before + done)


def _parquet_batches(file: SourceFile, columns: Sequence[str], before: int, *, dictionaries: bool) -> Iterator[_Batch]:
    total = parquet_batches.count_rows(file.path)
    reached = 0
    for done, cells in parquet_batches.read_batches(file.path, columns, dictionaries=dictionaries):
        yield _Batch(done - reached, 0, cells, before + file.size * done // max(total, 1))
        reached = done


def _guarded(batches: Iterator[_Batch], file: SourceFile) -> Iterator[_Batch]:
    """The same batches; a library's exception, whose text may quote the contents, becomes a plain FileFault."""
    while True:
        failed, batch = False, None
        try:
            batch = next(batches, None)
        except Exception:
            failed = True
        if failed and _has_changed(file):
            raise _changed()
        if failed:
            raise FileFault(f"{file.path.name}: the file cannot be read to its end")
        if batch is None:
            return
        yield batch


def _records(batch: _Batch, attributes: Sequence[Attribute], contract: Contract, facts: Facts,
             chosen: Mask | None) -> Records:  # fmt: skip
    columns: dict[str, Column] = {}
    broken: Mask | None = None
    dropped: Mask | None = None
    for attribute in attributes:
        encoded: Encoded = encode(batch.cells[attribute.name], attribute)
        facts.add_cells(attribute, encoded, contract)
        columns[attribute.name] = encoded.column
        broken = _either(broken, encoded.invalid)
        dropped = _either(dropped, encoded.invalid if attribute.invalid == "drop" else None)
    facts.add_rows(batch.rows, broken, dropped)
    clean = None if dropped is None else ~dropped
    keep = clean if chosen is None else chosen if clean is None else chosen & clean
    return Records(batch.rows, columns, keep)


def _either(first: Mask | None, second: Mask | None) -> Mask | None:
    if first is None or second is None:
        return second if first is None else first
    return first | second


def _stat(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns, found.st_ino


def _has_changed(file: SourceFile) -> bool:
    try:
        return _stat(file.path) != (file.size, file.mtime_ns, file.inode)
    except OSError:
        return True


def _changed() -> FileFault:
    return FileFault("the input changed while it was read")
