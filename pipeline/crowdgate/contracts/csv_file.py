"""Small public CSV files with a header: each row with its line number, or the problems of the file."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from crowdgate.errors import Code, ConfigurationError, Problem
from crowdgate.system.regular_files import read_plain

MOST_BYTES = 1 << 26
MOST_FAULTS = 10
"""The greatest number of problems that are shown for one list of labels or one CSV file."""


@dataclass(frozen=True)
class CsvFile:
    """A CSV file with a header; each row with its line number."""

    path: Path
    header: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]

    def problem(
        self, line: int | None, found: str, expected: str, instead: str | None = None, column: str = "row"
    ) -> Problem:
        """Return a problem in this file, at the line with this number (None: no line) and at this column."""
        return Problem(str(self.path), line, column, found, expected, instead, Code.TABLE)


def read_file(path: Path) -> CsvFile:
    """Return the rows of the CSV file at `path`.

    Raises OSError if it is unreadable, ValueError or csv.Error (with the expected form) if it is no CSV file,
    ConfigurationError, which lists every problem, if it has no header or rows of other lengths.
    """
    text = read_plain(path, MOST_BYTES).decode("utf-8-sig")
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    filled = [(lines.line_num, tuple(row)) for row in lines if row]
    file = CsvFile(path, filled[0][1] if filled else (), tuple(filled[1:]))
    problems = _problems(file)
    if problems:
        raise ConfigurationError(problems)
    return file


def _problems(file: CsvFile) -> list[Problem]:
    width = len(file.header)
    if not width or len(set(file.header)) != width:
        return [file.problem(1, "no header, or two columns of one name", "a first line that names each column once")]
    faults = [(line, row) for line, row in file.rows if len(row) != width]
    return [
        file.problem(line, f"a line of {len(row)} cells", f"{width} cells, as in the header")
        for line, row in faults[:MOST_FAULTS]
    ]
