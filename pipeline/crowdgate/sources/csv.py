"""CSV as blocks of whole lines, each cell as bytes. A line is a row, whatever the lines around it hold.

Lines end with LF, CRLF or CR, inside quotes too: an open quote closes at its line's end, so no row includes another.
Empty lines are no rows. A line with too few or too many cells is ragged: it is counted and left out. Blocks are cut by
position only; within a block, rows without a quote come first.
"""

import csv
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from crowdgate.limits import LONGEST_LINE
from crowdgate.sources.csv_header import BOM, read_header
from crowdgate.sources.files import PART_BYTES, OpenedFile, Slice
from crowdgate.sources.locations import Location, Stamp, codec_of, decompressed, opened, size_of
from crowdgate.sources.source import Batch

BLOCK_BYTES = 16 << 20
_QUOTE = b'"'
_SEARCHED = 1 << 16
"""The bytes that are searched at once for the end of a line."""


@dataclass(frozen=True, eq=False)
class Block:
    """Rows of one block: an Arrow array of bytes per wanted column, and the number of ragged lines left out."""

    cells: tuple[Any, ...]
    ragged: int

    @property
    def rows(self) -> int:
        """The number of rows; a block without wanted columns has none."""
        return len(self.cells[0]) if self.cells else 0


def read_blocks(
    path: Location, body: int, block_bytes: int = BLOCK_BYTES, first: int = 0, last: int | None = None
) -> Iterator[tuple[bytes, int]]:
    """Yield blocks of whole lines after the header, each with the byte position that reading has reached.

    Lines are those that begin at bytes `first` to `last` (None: to the end); of a compressed file, all lines.
    """
    if codec_of(path) is None:
        with opened(path) as file:
            start = _line_start(file, first, body)
            end = sys.maxsize if last is None else _line_start(file, last, body)
            file.seek(start)
            yield from _blocks(lambda: file.read(min(block_bytes, end - file.tell())), file.tell)
    else:
        with decompressed(path) as (content, file):
            content.read(body)
            yield from _blocks(lambda: content.read(block_bytes), file.tell)


def _line_start(file: Any, at: int, body: int) -> int:
    """Return where the first line begins at byte `at` or after it, or the end of the file; lines begin at `body`."""
    if at <= body:
        return body
    file.seek(at - 1)
    while chunk := bytes(file.read(_SEARCHED)):
        found = [place for place in (chunk.find(b"\n"), chunk.find(b"\r")) if place >= 0]
        if found:
            return int(file.tell()) - len(chunk) + min(found) + 1
    return int(file.tell())


def _blocks(read: Callable[[], bytes], position: Callable[[], int]) -> Iterator[tuple[bytes, int]]:
    rest = bytearray()
    while chunk := bytes(read()):
        cut = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
        if cut:
            yield _closed(rest, chunk[:cut]), position()
            rest = bytearray(chunk[cut:])
        elif len(rest) <= LONGEST_LINE:
            rest += chunk
    if rest:
        yield bytes(rest), position()


def _closed(rest: bytearray, chunk: bytes) -> bytes:
    return bytes(rest) + chunk if rest else chunk


def parse(block: bytes, delimiter: str, width: int, wanted: Sequence[int]) -> Block:
    """Return the cells of the `wanted` columns (by index) of a block's rows, which have `width` cells. Never raises,
    whatever the bytes are.
    """
    if len(delimiter.encode()) != 1 or len(block) > LONGEST_LINE:
        return _by_lines(block.splitlines(), delimiter, width, wanted)
    if _QUOTE not in block:
        return _plain(block, delimiter, width, wanted)
    # without its last line ends, which an open quote would take into its cell
    cells = _by_arrow(block.rstrip(b"\r\n"), delimiter, width, wanted, quote=True)
    # Arrow has fewer rows than lines where a quoted cell goes on in the next line
    if cells and len(cells[0]) == _lines(block):
        return Block(cells, 0)
    lines = block.splitlines()
    plain = _plain(b"\n".join(line for line in lines if _QUOTE not in line), delimiter, width, wanted)
    quoted = _by_lines([line for line in lines if _QUOTE in line], delimiter, width, wanted)
    both = (pa.concat_arrays(pair) for pair in zip(plain.cells, quoted.cells, strict=True))
    return Block(tuple(both), plain.ragged + quoted.ragged)


def _lines(block: bytes) -> int:
    """Return the number of lines that are not empty."""
    data = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero((data == ord("\n")) | (data == ord("\r")))
    return int(np.count_nonzero(np.diff(ends, prepend=-1, append=len(data)) > 1))


def _plain(block: bytes, delimiter: str, width: int, wanted: Sequence[int]) -> Block:
    """Return the cells of lines without a quote. Arrow's parser reads them, after a failure without the ragged lines;
    if it fails again, they are read line by line.
    """
    cells = _by_arrow(block, delimiter, width, wanted)
    if cells is not None:
        return Block(cells, 0)
    lines = [line for line in block.splitlines() if line]
    whole = [line for line in lines if line.count(delimiter.encode()) == width - 1]
    cells = _by_arrow(b"\n".join(whole), delimiter, width, wanted)
    if cells is None or any(len(column) != len(whole) for column in cells):
        return _by_lines(lines, delimiter, width, wanted)
    return Block(cells, len(lines) - len(whole))


def _by_arrow(
    block: bytes, delimiter: str, width: int, wanted: Sequence[int], *, quote: bool = False
) -> tuple[Any, ...] | None:
    """Return one array of bytes per wanted column, or None if Arrow refuses the block; Arrow's message is dropped,
    since it quotes the line.
    """
    if block.startswith(BOM[:1]):
        block = b"\n" + block  # Arrow takes a byte order mark at a block's start for no part of the first cell
    if not block.strip(b"\r\n"):
        return tuple(pa.array([], pa.binary()) for _ in wanted)
    try:
        table = pyarrow.csv.read_csv(pa.BufferReader(block), *_options(len(block), delimiter, width, wanted, quote))
    except (pa.ArrowException, ValueError, OSError):
        return None
    return tuple(_one_chunk(table.column(str(column))) for column in wanted)


def _options(size: int, delimiter: str, width: int, wanted: Sequence[int], quote: bool) -> tuple[Any, Any, Any]:
    names = [str(column) for column in range(width)]
    return (
        pyarrow.csv.ReadOptions(column_names=names, block_size=size + 1, use_threads=False),
        pyarrow.csv.ParseOptions(
            delimiter=delimiter, quote_char='"' if quote else False, double_quote=quote, escape_char=False
        ),
        pyarrow.csv.ConvertOptions(
            check_utf8=False,
            include_columns=[str(column) for column in wanted],
            column_types={str(column): pa.binary() for column in wanted},
            strings_can_be_null=False,
        ),
    )


def _one_chunk(column: Any) -> Any:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _by_lines(lines: Sequence[bytes], delimiter: str, width: int, wanted: Sequence[int]) -> Block:
    """Return the cells of lines that Python's csv module reads one by one: an open quote closes at its line's end."""
    csv.field_size_limit(LONGEST_LINE)
    rows = [_split(line, delimiter) for line in lines if line]
    whole = [row for row in rows if row is not None and len(row) == width]
    cells = (pa.array([row[column] for row in whole], pa.binary()) for column in wanted)
    return Block(tuple(cells), len(rows) - len(whole))


def _split(line: bytes, delimiter: str) -> list[bytes] | None:
    """Return the cells of one line; bytes that are no UTF-8 are preserved."""
    if len(line) > LONGEST_LINE:
        return None
    try:
        cells = next(csv.reader([line.decode("utf-8", "surrogateescape")], delimiter=delimiter), [])
    except csv.Error:
        return None
    return [cell.encode("utf-8", "surrogateescape") for cell in cells]


@dataclass(frozen=True)
class CsvFiles:
    """The format CSV with this delimiter. Only the header of a file is read when it is opened. A slice is a stretch of
    bytes, whose lines begin there; a compressed file is one slice.
    """

    delimiter: str

    def examine(self, path: Location, needed: Sequence[str], stamp: Stamp) -> OpenedFile:
        """Return the column names in the file's header, and stretches of about the size of a part."""
        del needed  # every cell of CSV is plain
        size = size_of(stamp)
        count = 1 if codec_of(path) else max(1, size // PART_BYTES)
        edges = [size * piece // count for piece in range(count + 1)]
        slices = tuple(Slice(path, last - first, stamp, first, last) for first, last in pairwise(edges))
        return OpenedFile(read_header(path, self.delimiter).names, slices)

    def read(self, part: Slice, columns: Sequence[str], unique: Sequence[str]) -> Iterator[Batch]:
        """Yield the rows of a file in batches, one for each block of whole lines."""
        del unique  # cells are bytes; those of attributes are looked up by distinct values
        header = read_header(part.path, self.delimiter)
        wanted = [header.names.index(name) for name in columns]
        for block, done in read_blocks(part.path, header.body, BLOCK_BYTES, part.first, part.last):
            parsed = parse(block, self.delimiter, len(header.names), wanted)
            cells = dict(zip(columns, parsed.cells, strict=True))
            yield Batch(parsed.rows, parsed.ragged, cells, min(part.size, done - part.first))


def files(settings: Mapping[str, str]) -> CsvFiles:
    """Return the format CSV with the delimiter that a contract's server settings state."""
    return CsvFiles(settings["delimiter"])
