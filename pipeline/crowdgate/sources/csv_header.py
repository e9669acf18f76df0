"""The header of a CSV file: its first record, and nothing after it."""

import csv
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from crowdgate.errors import FileFault
from crowdgate.limits import LONGEST_HEADER, LONGEST_LINE
from crowdgate.sources.table_header import HeaderColumn, TableHeader
from crowdgate.system.regular_files import plain_file

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


def read_header(path: Path, delimiter: str) -> Header:
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
    raise FileFault(f"{path.name}: the header cannot be read as UTF-8 text with delimiter {delimiter!r}")


def other_headers(path: Path, delimiters: Iterable[str] = DELIMITERS) -> dict[str, tuple[str, ...]]:
    """Return the names in the header by delimiter, for each of the delimiters that gives several names."""
    found: dict[str, tuple[str, ...]] = {}
    for delimiter in delimiters:
        with suppress(FileFault):
            found[delimiter] = read_header(path, delimiter).names
    return {delimiter: names for delimiter, names in found.items() if len(names) > 1}


def csv_header(path: Path, settings: Mapping[str, str], expected: Collection[str]) -> TableHeader:
    """Return the columns of a CSV file by its header. If one of the `expected` names is missing, other delimiters are
    tried as well.

    Raises FileFault if the header can't be read, OSError without a file.
    """
    delimiter = settings["delimiter"]
    names = read_header(path, delimiter).names
    others = () if set(expected) <= set(names) else tuple(other_headers(path).items())
    hints = tuple((other, columns) for other, columns in others if other != delimiter)
    return TableHeader(path.name, "the header line", tuple(map(HeaderColumn, names)), hints, certain=False)


def _starts(path: Path) -> Iterator[tuple[bytes, bool]]:
    """Yield longer and longer starts of a file, each with True if it is all of the file."""
    for size in _SIZES:
        with plain_file(path) as file:
            start = file.read(size + 1)
        yield start, len(start) <= size
        if len(start) <= size:
            return


def _first_record(start: bytes, skipped: int, delimiter: str) -> Header | None:
    lines = start[skipped:].splitlines(keepends=True)
    csv.field_size_limit(LONGEST_LINE)
    try:
        reader = csv.reader((line.decode("utf-8") for line in lines), delimiter=delimiter, strict=True)
        names = next(names for names in reader if names)
    except (csv.Error, UnicodeDecodeError, StopIteration):
        return None
    return Header(tuple(names), skipped + sum(map(len, lines[: reader.line_num])))
