"""The header of a CSV file: its first record, and nothing after it."""

import csv
from codecs import getincrementaldecoder
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from crowdgate.errors import FileFault
from crowdgate.limits import LONGEST_HEADER, LONGEST_LINE
from crowdgate.sources.locations import Location, codec_of, decompressed, opened
from crowdgate.sources.table_header import HeaderColumn, TableHeader

BOM = b"\xef\xbb\xbf"
_PARQUET = b"PAR1"
_SIZES = (1 << 12, 1 << 16, LONGEST_HEADER)
"""The numbers of bytes that are tried for a header."""
DELIMITERS = ",;\t|:^~ "
"""The delimiters that a contract can state, the most usual ones first."""


@dataclass(frozen=True)
class Header:
    """The column names of a CSV file, and the byte at which its rows begin."""

    names: tuple[str, ...]
    body: int


def read_header(path: Location, delimiter: str) -> Header:
    """Return the header, i.e. the file's first record, which may hold quoted line ends.

    Raises FileFault if there is none or it is unreadable.
    """
    for start, is_whole in _starts(path):
        skipped = len(BOM) if start.startswith(BOM) else 0
        if start.startswith(_PARQUET):
            raise FileFault(f"{path.name}: this is no CSV but a Parquet file: expected format parquet")
        if not start[skipped:].strip(b"\r\n"):
            raise FileFault(f"{path.name}: the file is empty: it has no header")
        header = _first_record(start, skipped, delimiter)
        if header is not None and (is_whole or header.body < len(start)) and header.body <= LONGEST_HEADER:
            return header
    if not _is_utf8(start.partition(b"\n")[0]):
        raise FileFault(f"{path.name}: the header is not in UTF-8")
    raise FileFault(f"{path.name}: the header cannot be read as UTF-8 text with delimiter {delimiter!r}")


def other_headers(path: Location, delimiters: Iterable[str] = DELIMITERS) -> dict[str, tuple[str, ...]]:
    """Return the names in the header by delimiter, for each of the delimiters that gives several names."""
    found: dict[str, tuple[str, ...]] = {}
    for delimiter in delimiters:
        with suppress(FileFault):
            found[delimiter] = read_header(path, delimiter).names
    return {delimiter: names for delimiter, names in found.items() if len(names) > 1}


def csv_header(path: Location, settings: Mapping[str, str], expected: Collection[str]) -> TableHeader:
    """Return the columns of a CSV file by its header. If one of the `expected` names is missing, other delimiters are
    tried as well.

    Raises FileFault if the header can't be read, OSError without a file.
    """
    delimiter = settings["delimiter"]
    names = read_header(path, delimiter).names
    others = () if set(expected) <= set(names) else tuple(other_headers(path).items())
    hints = tuple((other, columns) for other, columns in others if other != delimiter)
    return TableHeader(path.name, "the header line", tuple(map(HeaderColumn, names)), hints, certain=False)


def _starts(path: Location) -> Iterator[tuple[bytes, bool]]:
    """Yield longer and longer starts of a file, each with True if it is all of the file.

    Raises FileFault if the file can't be decompressed.
    """
    for size in _SIZES:
        with _content(path) as file:
            start = bytes(file.read(size + 1))
        yield start, len(start) <= size
        if len(start) <= size:
            return


@contextmanager
def _content(path: Location) -> Iterator[Any]:
    """Open the text of a file, decompressed as its suffix states."""
    if codec_of(path) is None:
        with opened(path) as file:
            yield file
        return
    damaged = False
    try:
        with decompressed(path) as (content, _):
            yield content
    except (OSError, EOFError, ValueError) as error:
        damaged = not getattr(error, "errno", None)  # an error of the system has a number
        if not damaged:
            raise
    if damaged:
        raise FileFault(f"{path.name}: the file can't be decompressed: expected {codec_of(path)}")


def _is_utf8(start: bytes) -> bool:
    """Return whether bytes are the start of a text in UTF-8; its last character may be cut off."""
    try:
        getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return False
    return True


def _first_record(start: bytes, skipped: int, delimiter: str) -> Header | None:
    lines = start[skipped:].splitlines(keepends=True)
    csv.field_size_limit(LONGEST_LINE)
    try:
        reader = csv.reader((line.decode("utf-8") for line in lines), delimiter=delimiter, strict=True)
        names = next(names for names in reader if names)
    except (csv.Error, UnicodeDecodeError, StopIteration):
        return None
    return Header(tuple(names), skipped + sum(map(len, lines[: reader.line_num])))
