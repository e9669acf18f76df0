"""dictionary.csv: every released column with every public value that it may hold, including absent values."""

import codecs
import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from crowdgate.contracts.contract import Attribute
from crowdgate.errors import VerificationFailed
from crowdgate.hierarchy import Level
from crowdgate.limits import LARGEST_LISTING
from crowdgate.system.regular_files import plain_file

DICTIONARY = "dictionary.csv"
DICTIONARY_COLUMNS = ("column", "level", "code", "label", "description")


@dataclass(frozen=True)
class DictionaryEntry:
    """A released column at a level: the level's values in order, and the column's description in the contract."""

    column: str
    level: str
    labels: tuple[str, ...]
    description: str


def entries(attributes: Sequence[tuple[Attribute, Level]]) -> tuple[DictionaryEntry, ...]:
    """Return one dictionary entry for each of these pairs of a column and one of its levels."""
    return tuple(DictionaryEntry(each.name, level.name, level.labels, each.description) for each, level in attributes)


def write_dictionary(listed: Iterable[DictionaryEntry], into: BinaryIO) -> None:
    """Write dictionary.csv: one line for each value of each column at each of its levels."""
    lines = ((e.column, e.level, at, label, e.description) for e in listed for at, label in enumerate(e.labels))
    write_lines(into, DICTIONARY_COLUMNS, lines)


def read_dictionary(path: Path) -> tuple[DictionaryEntry, ...]:
    """Return the entries of dictionary.csv in order. Raises VerificationFailed for a repeated value, or a repeated
    column at a level.
    """
    found: dict[tuple[str, str, str], list[str]] = {}
    for column, level, _, label, description in read_lines(path, DICTIONARY_COLUMNS):
        found.setdefault((column, level, description), []).append(label)
    if len({key[:2] for key in found}) != len(found) or any(len({*own}) != len(own) for own in found.values()):
        raise VerificationFailed(f"{path.name}: a value, or a column at a level, is listed twice")
    return tuple(DictionaryEntry(column, level, tuple(own), words) for (column, level, words), own in found.items())


def write_lines(into: BinaryIO, columns: Sequence[str], lines: Iterable[Sequence[object]]) -> None:
    """Write a listing as CSV: a header, LF line ends, UTF-8, quoted where needed."""
    out = csv.writer(codecs.getwriter("utf-8")(into), lineterminator="\n")
    out.writerow(columns)
    out.writerows(lines)


def read_lines(path: Path, columns: Sequence[str]) -> Iterator[list[str]]:
    """Yield the lines of a listing. Raises VerificationFailed for another header, or a line of another length."""
    if path.stat().st_size > LARGEST_LISTING:
        raise VerificationFailed(f"{path.name}: larger than {LARGEST_LISTING} bytes")
    csv.field_size_limit(LARGEST_LISTING)  # a cell may be as long as the file
    with plain_file(path) as raw, io.TextIOWrapper(raw, "utf-8", newline="") as file:
        lines = csv.reader(file, strict=True)
        try:
            if next(lines, None) != list(columns):
                raise VerificationFailed(f"{path.name}: its columns must be {', '.join(columns)}")
            for line in lines:
                if len(line) != len(columns):
                    raise VerificationFailed(f"{path.name}: a line has another number of cells than the header")
                yield line
        except (csv.Error, UnicodeDecodeError):
            raise VerificationFailed(
                f"{path.name}: its bytes differ from those that Crowdgate would write for this list"
            ) from None
