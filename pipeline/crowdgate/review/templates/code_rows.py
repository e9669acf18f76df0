"""Lines of a text with a code, a label and perhaps counts beside each other: `1  Good  43  58,007  23.0`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from crowdgate.review.templates.dictionary_headings import is_count_heading, places_of_codes
from crowdgate.review.templates.figure_columns import FIGURE
from crowdgate.review.templates.special_labels import is_special

GAP = re.compile(r"\s*(?:\.{3,}|…+)\s*|\s{2,}|\t+")
"""The blanks, or dots, between cells of a line."""
_ENDS_IN_FIGURE = re.compile(r"\s[(\[]?\d[\d.,]*\s?%?[)\]]?$")
_COMPARED = re.compile(r"\b(?:than|to|least|most|over|under|above|below)\s+[$£€]?[\d.,]+%?$", re.IGNORECASE)
"""A figure that a word makes part of a label: `greater than or equal to 5.00`."""
_NUMBER = r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_RANGE = re.compile(rf"{_NUMBER}\s*(?:-|–|to|:)\s*{_NUMBER}", re.IGNORECASE)
_CODE = re.compile(rf"-?\d[\d.]{{0,14}}|[A-Z]{{1,3}}\d{{0,4}}|\.[a-z]?|{_RANGE.pattern}", re.IGNORECASE)
_TOTAL = re.compile(
    r"(?:grand )?(?:total|totals|totale|totaal|summe?|sum|insgesamt|gesamt|ensemble|ogółem|razem|suma|i alt"
    r"|totalt|sammanlagt|celkem|yhteensä|合計)\b.*",
    re.IGNORECASE,
)
"""The label of a row that adds up the others."""
DOUBTFUL = "it is not certain which figures are the codes of "
"""The words before the labels of a table that is not read."""
SPLIT = "its list fell apart at the delimiter, or its row has too many cells: "
"""The words before the cells of a row whose list, without quotation marks, fell apart at the delimiter."""
CONSTRAINT = "the constraint "
"""The words before a rule of a form that is not read."""
Entry = tuple[str, str]
"""A code and its label."""


@dataclass(frozen=True)
class CodeTable:
    """The codes of a table with their labels; or its labels, where it is doubtful which cells are codes."""

    entries: tuple[Entry, ...] = ()
    doubtful: tuple[str, ...] = ()


def cells_of(line: str) -> list[str]:
    """Return the cells of a line, which two blanks or a tab part."""
    return [each for each in GAP.split(line.strip()) if each]


def is_range(text: str) -> bool:
    """Return whether a cell is a range of numbers."""
    return bool(_RANGE.fullmatch(text))


def headed_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> CodeTable:
    """Return the codes of rows below headings. Other cells than codes and labels, such as counts, are passed over; a
    row with fewer cells continues the label before it.
    """
    found = places_of_codes(heads)
    if found is None:
        return CodeTable()
    at, label = _places(heads, found)
    entries, doubtful = list[Entry](), list[str]()
    for row in rows:
        if any(map(_TOTAL.fullmatch, row[:2])):
            continue
        if len(row) == len(heads):
            entry = row[at], row[label] if label is not None else ""
        elif (own := _shifted(row, heads, at, label)) is not None:
            entry = own
        elif entries and len(row) == 1 and not FIGURE.fullmatch(row[0]):
            if row[0][0].islower() or row[0][0] == "(":  # else the title of further rows
                entries[-1] = entries[-1][0], f"{entries[-1][1]} {row[0]}"
            continue
        else:
            doubtful += [_words(each) for each in row[:2] if not FIGURE.fullmatch(each)]
            continue
        entries += [] if _TOTAL.fullmatch(entry[1]) else [entry]
    if doubtful:
        return CodeTable(doubtful=(*(text or code for code, text in entries), *doubtful))
    return CodeTable(tuple(entries))


def _places(heads: Sequence[str], found: tuple[int, int]) -> tuple[int, int | None]:
    at, label = found
    words = [each for each in (label, at - 1, at + 1) if 0 <= each < len(heads) and each != at]
    return at, next((each for each in words if not is_count_heading(heads[each])), None)


def _shifted(row: Sequence[str], heads: Sequence[str], at: int, label: int | None) -> Entry | None:
    """Return the code and the label of a row with more or fewer cells than headings, whose figures stand behind both:
    a label can have wide blanks, and a count can be left out.
    """
    end = len(row)
    while end > 0 and len(heads) - 1 > max(at, label or 0) and end > 2 and FIGURE.fullmatch(row[end - 1]):
        if len(row) - end >= len(heads) - 1 - max(at, label or 0):
            break
        end -= 1
    kept = row[:end]
    if len(kept) < 2 or label is None or len(kept) > 3:
        return None
    code, text = (kept[0], kept[1:]) if at < label else (kept[-1], kept[:-1])
    if len(row) < len(heads) and any(_ENDS_IN_FIGURE.search(each) and not _COMPARED.search(each) for each in text):
        return None  # a count behind one blank
    return (code, " ".join(text)) if _CODE.fullmatch(code) and not all(map(FIGURE.fullmatch, text)) else None


def plain_table(rows: Sequence[Sequence[str]]) -> CodeTable:
    """Return the codes of rows without headings: the first cell is the code, or else the last one behind its label. Of
    further cells all must be figures. Where the code can be a count, the table is doubtful.
    """
    kept = [row for row in rows if not any(map(_TOTAL.fullmatch, row[:2]))]
    if not kept:
        return CodeTable()
    behind = [row[2:] for row in kept]
    words = tuple(_words(next((each for each in row if re.search(r"[^\W\d]", each)), row[0])) for row in kept)
    if all(len(row) > 1 and _CODE.fullmatch(row[0]) and _is_label(row[1]) for row in kept):
        are_counts = all(FIGURE.fullmatch(cell) for row in behind for cell in row)
        most = max(map(len, kept))
        are_counts &= not any(len(row) < most and _ENDS_IN_FIGURE.search(row[1]) for row in kept)
        return CodeTable(tuple((row[0], row[1]) for row in kept)) if are_counts else CodeTable(doubtful=words)
    if all(len(row) == 2 and not _CODE.fullmatch(row[0]) and _CODE.fullmatch(row[1]) for row in kept):
        entries = tuple((row[1], row[0]) for row in kept)
        return CodeTable(entries) if _are_codes(entries) else CodeTable(doubtful=words)
    figured = kept and all(len(row) > 1 and all(map(FIGURE.fullmatch, row[1:])) for row in kept)
    return CodeTable(doubtful=words) if figured and _is_label(kept[0][0]) else CodeTable()


def _words(text: str) -> str:
    """Return a label without the figures at its end, which may be counts."""
    return _ENDS_IN_FIGURE.sub("", text)


def _is_label(text: str) -> bool:
    return bool(re.search(r"[^\W\d]|\d.*\D.*\d|^\d+$", text))


def _are_codes(entries: Sequence[Entry]) -> bool:
    """Return whether numbers behind labels are codes: ascending by one, apart from those for no value, or a range."""
    plain = [code for code, label in entries if not is_special(label)]
    if any(map(is_range, plain)):
        return len(plain) == 1
    if not all(each.isdigit() for each in plain):
        return all(not each.isdigit() for each in plain)
    same = len({len(each) for each in plain}) == 1
    follow = all(int(after) == int(before) + 1 for before, after in pairwise(plain))
    return len(plain) > 1 and (follow or (same and any(each.startswith("0") for each in plain)))
