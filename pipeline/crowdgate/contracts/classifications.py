"""Stock classifications: public lists of codes with their groups, which a contract names by one word.

Each file in `stock` has a line for each code, or for each range of codes, with its group at every level from fine to
coarse. A file never changes, because contracts that name it keep their digest: a correction gets a new name. Only
what anybody may copy is here: codes, ranges, and names that their publishers let others use.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from crowdgate.contracts.csv_file import read_file

STOCK = Path(__file__).parent / "stock"
_ICD = re.compile(r"([A-Z][0-9]{2})(?:\.?[0-9A-Z]{1,4})?[+*]?")
_ICD_9 = re.compile(r"(E[0-9]{3}|V[0-9]{2}|[0-9]{3})(?:\.?[0-9]{1,2})?")


@dataclass(frozen=True)
class Classification:
    """A classification. `form` is the form of a code, whose first group is looked up in the file. `source` names its
    publisher and edition, `licence` why a copy may be here.
    """

    title: str
    form: re.Pattern[str]
    source: str
    licence: str
    width: int | None = None
    """For numbers, which need no file: the width of the intervals."""
    lettered: str | None = None
    """The level whose groups begin with the letter that may stand before a code."""


CLASSIFICATIONS: Mapping[str, Classification] = {
    "icd-10": Classification(
        "ICD-10: blocks and chapters",
        _ICD,
        "WHO, International Classification of Diseases, 10th revision, 2019",
        "ranges of codes only, which are facts; WHO's texts are not copied",
    ),
    "icd-9": Classification(
        "ICD-9 and ICD-9-CM: chapters",
        _ICD_9,
        "CDC/NCHS and CMS, ICD-9-CM, 2014",
        "a work of the government of the United States, in the public domain",
    ),
    "isced-2011": Classification(
        "ISCED 2011: levels of education, and low, medium, high",
        re.compile(r"([0-9])"),
        "UNESCO Institute for Statistics, ISCED 2011; broad levels as Eurostat aggregates them",
        "nine numbers with their names, which are facts; UNESCO's texts (CC BY-SA 3.0 IGO) are not copied",
    ),
    "isco-08": Classification(
        "ISCO-08: sub-major and major groups of occupations",
        re.compile(r"([0-9]{2})[0-9]{0,2}"),
        "ILO, International Standard Classification of Occupations, 2008",
        "codes and the names of ten groups, which are facts; ILO's texts are not copied",
    ),
    "nace-2": Classification(
        "NACE Rev. 2: divisions and sections of economic activities",
        re.compile(r"[A-U]?([0-9]{2})(?:\.?[0-9]{1,2})?"),
        "Eurostat, NACE Rev. 2, Regulation (EC) No 1893/2006",
        "reuse with acknowledgement, Decision 2011/833/EU",
        lettered="section",
    ),
    "iso-3166": Classification(
        "ISO 3166-1 alpha-2: countries, and regions of the United Nations",
        re.compile(r"([A-Z]{2})"),
        "codes of ISO 3166-1 as in tzdata's iso3166.tab; regions of UN M49, Taiwan added to Eastern Asia",
        "iso3166.tab is in the public domain; the membership of regions is a fact",
    ),
    "five-year-ages": Classification(
        "Ages in groups of five years", re.compile(r"([0-9]+)"), "intervals of five years from 0", "no list", width=5
    ),
}


@dataclass(frozen=True)
class StockRows:
    """The ranges of codes of a classification in order, each with its group at every level."""

    levels: tuple[str, ...]
    firsts: tuple[str, ...]
    lasts: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]

    def row(self, key: str) -> int | None:
        """Return the number of the range that holds a code; None if none does. A code has the length of its range."""
        at = bisect_right(self.firsts, key) - 1
        inside = at >= 0 and len(key) == len(self.firsts[at]) and key <= self.lasts[at]
        return at if inside else None


@cache
def stock_rows(name: str) -> StockRows:
    """Return the content of a classification that has a file."""
    file = read_file(STOCK / f"{name}.csv")
    cells = sorted(row for _, row in file.rows)
    first, last = tuple(row[0] for row in cells), tuple(row[1] for row in cells)
    return StockRows(file.header[2:], first, last, tuple(row[2:] for row in cells))


def level_names(name: str) -> tuple[str, ...]:
    """Return the names of a classification's levels, from fine to coarse."""
    width = CLASSIFICATIONS[name].width
    return stock_rows(name).levels if width is None else (f"{width} years",)


def all_codes(name: str) -> Iterator[str]:
    """Yield every code of a classification, whether or not its publisher has given it a meaning."""
    rows = stock_rows(name)
    for first, last in zip(rows.firsts, rows.lasts, strict=True):
        yield from _codes(first, last)


def _codes(first: str, last: str) -> Iterator[str]:
    """Yield the codes from the first to the last one: a letter, if any, and digits. A range may go over letters."""
    if first == last:
        yield first
        return
    digits = len(first) - first[:1].isalpha()
    letters = [chr(each) for each in range(ord(first[0]), ord(last[0]) + 1)] if first[:1].isalpha() else [""]
    for letter in letters:
        codes = (f"{letter}{number:0{digits}}" for number in range(10**digits))
        yield from (code for code in codes if first <= code <= last)


def groups(name: str, level: str, codes: Iterable[str]) -> list[str | None]:
    """Return the group of each code at a level of a classification; None for a code that it does not have."""
    rows = stock_rows(name)
    at, found = rows.levels.index(level), (_row(name, code.strip().upper()) for code in codes)
    return [None if row is None else rows.groups[row][at] for row in found]


def _row(name: str, code: str) -> int | None:
    """Return the number of the range of a code. A code whose letter is that of another group has none."""
    rows, lettered = stock_rows(name), CLASSIFICATIONS[name].lettered
    key = CLASSIFICATIONS[name].form.fullmatch(code)
    row = None if key is None else rows.row(key[1])
    if row is None or lettered is None or not code[0].isalpha():
        return row
    return row if rows.groups[row][rows.levels.index(lettered)].startswith(code[0]) else None


def outside(name: str, codes: Sequence[str]) -> list[int]:
    """Return the positions of the codes that a classification does not have."""
    if CLASSIFICATIONS[name].width is not None:
        return []
    found = groups(name, level_names(name)[0], codes)
    return [at for at, group in enumerate(found) if group is None]
