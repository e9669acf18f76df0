"""Sheets of Excel workbooks (fastexcel): the first row is the header, each cell is read as the text that it shows.

A workbook is read whole, with at most LARGEST_WORKBOOK bytes decompressed. Numbers have 15 digits there, so longer ids
must be texts.
"""

import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from crowdgate.errors import FileFault
from crowdgate.limits import LARGEST_WORKBOOK
from crowdgate.sources.files import OpenedFile, Slice
from crowdgate.sources.locations import Location, Stamp, opened, size_of
from crowdgate.sources.source import Batch
from crowdgate.sources.table_header import HeaderColumn, TableHeader
from crowdgate.system.extras import EXCEL, need

BATCH_ROWS = 1 << 17
Loaded = TypeVar("Loaded")
_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The first bytes of an OLE container: an encrypted workbook, or one of the format before 2007."""


@dataclass(frozen=True)
class ExcelFiles:
    """The format Excel: a file is one slice, and its table is the sheet of this name (empty: the only sheet)."""

    sheet: str

    def examine(self, path: Location, needed: Sequence[str], stamp: Stamp) -> OpenedFile:
        """Return the texts of the first row, and the whole file as one slice."""
        del needed  # every cell is plain
        return OpenedFile(sheet_names(path, self.sheet), (Slice(path, size_of(stamp), stamp),))

    def read(self, part: Slice, columns: Sequence[str], unique: Sequence[str]) -> Iterator[Batch]:
        """Yield the rows in batches, as texts."""
        del unique
        header = sheet_names(part.path, self.sheet)
        places = [header.index(name) for name in columns]
        loaded = _sheet(part.path, self.sheet)
        for start in range(0, loaded.num_rows, BATCH_ROWS):
            piece = loaded.slice(start, BATCH_ROWS)
            cells = {name: piece.column(place) for name, place in zip(columns, places, strict=True)}
            yield Batch(piece.num_rows, 0, cells, part.size)


def sheet_names(path: Location, sheet: str) -> tuple[str, ...]:
    """Return the texts of a sheet's first row; a column without one has its number. Raises FileFault if there is no
    such sheet or the file can't be read.
    """
    first = _sheet(path, sheet, header_row=None, n_rows=1)  # as a header, repeated texts would get other names
    texts = [column[0].as_py() if first.num_rows else None for column in first.columns]
    return tuple(text or f"(column {at})" for at, text in enumerate(texts, 1))


def sheets(path: Path) -> tuple[str, ...]:
    """Return the names of a workbook's sheets. Raises FileFault if it can't be read."""
    need(EXCEL, "a workbook")
    return _workbook(path, lambda workbook: tuple(workbook.sheet_names))


def sheet_rows(path: Path, sheet: str) -> list[list[str]]:
    """Return the texts of a sheet, such as a codebook; empty cells are empty texts. Raises FileFault."""
    cells = _sheet(path, sheet, header_row=None)
    return [["" if cell is None else str(cell) for cell in row.values()] for row in cells.to_pylist()]


def excel_header(path: Location, settings: Mapping[str, str], expected: Collection[str]) -> TableHeader:
    """Return the columns of a sheet. Raises FileFault if it can't be read, OSError without a file."""
    del expected
    need(EXCEL, "format: excel")
    columns = tuple(map(HeaderColumn, sheet_names(path, settings["sheet"])))
    return TableHeader(path.name, "the first row", columns, certain=False)


def _sheet(path: Location, sheet: str, **options: Any) -> Any:
    """Return the cells of a sheet as texts (a record batch). Raises FileFault."""
    import pyarrow as pa

    def load(workbook: Any) -> Any:
        found = _name(path, workbook.sheet_names, sheet)
        return pa.record_batch(workbook.load_sheet(found, dtypes="string", **options))

    return _workbook(path, load, f"sheet {sheet!r}" if sheet else "the workbook")


def _workbook(path: Location, load: Callable[[Any], Loaded], what: str = "the workbook") -> Loaded:
    """Return what is loaded of a workbook. Raises FileFault, also instead of the library's own errors and panics, which
    may quote cells.
    """
    import fastexcel

    _check_size(path)
    assert isinstance(path, Path), "workbooks are read on this machine only"
    try:
        return load(fastexcel.read_excel(path))
    except BaseException as error:
        if isinstance(error, FileFault) or not _is_of_reader(error):
            raise
    raise FileFault(f"{path.name}: {what} can't be read")


def _is_of_reader(error: BaseException) -> bool:
    """Return whether an error is one of the library. A panic of its Rust code is no Exception."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def _name(path: Location, names: Sequence[str], sheet: str) -> str:
    if sheet in names:
        return sheet
    if not sheet and len(names) == 1:
        return names[0]
    why = f"there is no sheet {sheet!r}" if sheet else "the workbook has several sheets"
    raise FileFault(f"{path.name}: {why}: name one in the server's property `sheet`")


def _check_size(path: Location) -> None:
    with opened(path) as file:
        start = bytes(file.read(len(_COMPOUND)))
        if start == _COMPOUND:
            if not path.name.lower().endswith(".xls"):
                raise FileFault(f"{path.name}: the workbook is protected by a password, or of a format before 2007")
            return
        file.seek(0)
        size = None
        with suppress(zipfile.BadZipFile, zlib.error, RuntimeError, ValueError, EOFError):
            size = _decompressed(zipfile.ZipFile(file))
    if size is None:
        raise FileFault(f"{path.name}: not a readable Excel workbook")
    if size > LARGEST_WORKBOOK:
        raise FileFault(f"{path.name}: the workbook has more than {LARGEST_WORKBOOK >> 20} MiB: write it as Parquet")


def _decompressed(archive: zipfile.ZipFile) -> int:
    """Return the bytes that the files of an archive really hold, as far as the limit: its directory can lie."""
    size = 0
    for each in archive.infolist():
        with archive.open(each) as packed:
            while piece := packed.read(1 << 20):
                size += len(piece)
                if size > LARGEST_WORKBOOK:
                    return size
    return size


def files(settings: Mapping[str, str]) -> ExcelFiles:
    """Return the format Excel with the sheet that a contract's server settings state. Raises ConfigurationError without
    the extra.
    """
    need(EXCEL, "format: excel")
    return ExcelFiles(settings["sheet"])
