"""Rows of a data dictionary that each state one value, or one range, of a variable: `SEX, 1, 1, Male`."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from crowdgate.domain import parse_number
from crowdgate.review.templates.open_ends import is_open_end
from crowdgate.review.templates.special_labels import is_special

Row = Mapping[str, str]
"""The cells of a row, by what the headings say."""
HEADINGS = ("variable", "label", "type", "length", "from", "to", "value label")
"""The headings that rows of records get."""
_RECORDS = {"NAME": 4, "VAL": 6}
"""The first cells of the records of a dictionary without headings, and the least number of cells of each."""
_BLANKS = re.compile(r"b+", re.IGNORECASE)
_NONE = re.compile(r"(?:n/?a|not applicable|not in universe|missing|blank)\b", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_OF_TEXTS = re.compile(
    r"(?:c|char\w*|\w*text\w*|string|str|varchar\w*|alpha\w*|znakow\w*|znakov\w*|tekst\w*|besedil\w*|niz|текст\w*|символ\w*|строка)\b",
    re.IGNORECASE,
)
_OBSERVED = re.compile(
    r"(?:observed |actual )?(?:range|minimum (?:to|and) maximum|min[- /]max)(?: of (?:the )?(?:values|data))?", re.I
)
_SPANS = (
    re.compile(r"(?P<low>-?\d+(?:\.\d+)?)\s*(?:-|–|to|\.\.)\s*(?P<high>-?\d+(?:\.\d+)?)", re.IGNORECASE),
    re.compile(r"(?P<low>(?=\w*\d)\w{5,})\s*(?:-|–|to|\.\.)\s*(?P<high>(?=\w*\d)\w{5,})", re.IGNORECASE),
)
"""Ranges of numbers, and of texts with digits."""
_CUT = re.compile(r"\b(?P<end>top|bottom)[- ]?coded\b", re.IGNORECASE)


def headed_records(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the records `NAME,SEX,C,1,"Sex"` and `VAL,SEX,C,1,"1","1","Male"` of the United States Census Bureau as
    rows below headings; none if the rows are something else.
    """
    filled = [[cell.strip() for cell in each] for each in rows if any(cell.strip() for cell in each)]
    filled = filled[1:] if filled and filled[0][0].upper() not in _RECORDS else filled  # headings that somebody added
    are_whole = all(len(each) >= _RECORDS.get(each[0].upper(), len(each) + 1) for each in filled)
    marks = {each[0].upper() for each in filled}
    if marks != {*_RECORDS} or not are_whole or any(each[2].upper() not in ("C", "N") for each in filled):
        return []
    if not {each[1] for each in filled} <= {each[1] for each in filled if each[0].upper() == "NAME"}:
        return []  # variables with these names
    labels = {each[1]: each[4] for each in filled if each[0].upper() == "NAME" and len(each) > 4}
    with_decimals = {each[1] for each in filled if any("." in cell for cell in each[4:6]) and each[0].upper() == "VAL"}
    kinds = {each[1]: _kind(each[2], each[1] in with_decimals) for each in filled}
    listed = {each[1] for each in filled if each[0].upper() == "VAL"}
    kept = [each for each in filled if each[0].upper() == "VAL" or each[1] not in listed]
    return [[*HEADINGS], *([each[1], labels.get(each[1], ""), kinds[each[1]], *_cells(each)] for each in kept)]


def _kind(mark: str, has_decimals: bool) -> str:
    """Return the type of a record in words: C is a text, N a number, whole unless its limits have decimals."""
    return {"C": "character", "N": "numeric" if has_decimals else "integer"}.get(mark.upper(), "")


def _cells(record: Sequence[str]) -> list[str]:
    """Return the length, the limits and the label of a record."""
    return [record[3], *(["", "", ""] if record[0].upper() == "NAME" else [record[4], record[5], *record[6:7]])]


def is_observed(label: str) -> bool:
    """Return whether the label of a range says that it is the one of the cells: `Range of Values`."""
    return bool(_OBSERVED.fullmatch(label.strip()))


def is_of_texts(kind: str) -> bool:
    """Return whether a type is one of texts."""
    return bool(_OF_TEXTS.match(kind.strip()))


def with_values(rows: Sequence[Row]) -> tuple[list[Row], str]:
    """Return the rows of a variable with their limits as values: 1 of `1, 1`, and `1 to 20` of `1, 20`; and what is
    left to decide, since the rows state no one list and no one range. Other rows are unchanged. Rows of an empty cell
    (`bbb, N/A`) are left out. Ranges and numbers that follow each other become one range.
    """
    rows = _with_limits(_with_labels(rows))
    limited = [row for row in rows if row.get("least") or row.get("greatest")]
    if len(limited) < 2 and not any(row.get("value label") for row in limited):
        return list(rows), ""
    if any(row.get("values") for row in rows):
        return list(rows), ""
    bare = {key: each for key, each in rows[0].items() if key not in ("least", "greatest", "values", "value label")}
    pairs = [_pair(row) for row in limited]
    kept = [each for each in pairs if not _is_empty(*each)]
    ranges = [each for each in kept if each[0] != each[1]]
    if ranges and (is_of_texts(bare.get("type", "")) or any(not _NUMBER.fullmatch(low) for low, _, _ in ranges)):
        return [bare], _said(kept)
    if not ranges:
        return [bare | {"values": low, "value label": label} for low, _, label in kept] or [bare], ""
    return _ranged(bare, kept)


def _with_labels(rows: Sequence[Row]) -> Sequence[Row]:
    """Return rows of limits whose descriptions differ, and are those of the values, with these as their labels."""
    if len(rows) < 2 or any(row.get("value label") or row.get("values") for row in rows):
        return rows
    named = {key: [row.get(key, "") for row in rows] for key in ("label", "description", "notes")}
    key = next((key for key, each in named.items() if all(each) and len({*each}) == len(each)), "")
    return [{**row, key: "", "value label": row[key]} for row in rows] if key else rows


def _with_limits(rows: Sequence[Row]) -> Sequence[Row]:
    """Return rows of values, of which several are ranges of numbers, or one is of blanks or a range of texts, with the
    limits in place of the values; others unchanged: one range with its open end is read elsewhere.
    """
    stated = [row.get("values", "") for row in rows]
    if len(rows) < 2 or not all(stated) or any(row.get("least") or row.get("greatest") for row in rows):
        return rows
    found = [next(filter(None, (form.fullmatch(each) for form in _SPANS)), None) for each in stated]
    spans = [(each["low"], each["high"]) if each else (text, text) for each, text in zip(found, stated, strict=True)]
    limits = [
        {**row, "values": "", "least": low, "greatest": high} for row, (low, high) in zip(rows, spans, strict=True)
    ]
    ranges = [each for each in found if each]
    blanks = [_is_empty(*span, row.get("value label", "")) for span, row in zip(spans, rows, strict=True)]
    is_text = any(each.re is _SPANS[1] for each in ranges)
    codes = [row for row, each, none in zip(rows, found, blanks, strict=True) if not (each or none)]
    plain = [row for row in codes if not is_special(row.get("value label", ""))]
    is_read = not ranges or (
        len(ranges) == 1 and all(is_open_end(row["values"], row.get("value label", "")) for row in plain)
    )
    return limits if any(blanks) or is_text or not is_read else rows


def _pair(row: Row) -> tuple[str, str, str]:
    """Return the least and the greatest value of a row, and its label; a row with one limit has one value."""
    low, high = row.get("least", ""), row.get("greatest", "")
    return low or high, high or low, row.get("value label", "")


def _is_empty(low: str, high: str, label: str) -> bool:
    """Return whether a row is about an empty cell, written as blanks `bbb`."""
    return low == high and bool(_BLANKS.fullmatch(low)) and bool(is_special(label) or _NONE.match(label))


def _said(entries: Sequence[tuple[str, str, str]]) -> str:
    """Return the values and ranges of rows as words."""
    named = ((f"{low} to {high}" if low != high else low, label) for low, high, label in entries)
    return "; ".join(f"{code} = {label}" if label else code for code, label in named)


def _ranged(bare: dict[str, str], entries: Sequence[tuple[str, str, str]]) -> tuple[list[Row], str]:
    """Return the row of a number, with its one range and the codes that stand for no value, or the words to decide."""
    special = [each for each in entries if is_special(each[2])]
    plain = [each for each in entries if each not in special]
    row = bare | ({"missing": "; ".join(filter(None, [bare.get("missing", ""), _said(special)]))} if special else {})
    limits = _joined([(low, high) for low, high, _ in plain])
    if limits is None or _has_unlabelled_negative(plain):
        return [row], _said(plain)
    return [row | {"least": limits[0], "greatest": limits[1]} | _open_ends(limits, plain)], ""


def _has_unlabelled_negative(entries: Sequence[tuple[str, str, str]]) -> bool:
    """Return whether a negative number without a label stands beside a range from 0 on: it may be a missing code."""
    lows = [low for low, _, _ in entries]
    alone = any(low == high and low.startswith("-") and not label for low, high, label in entries)
    return alone and sum(low.startswith("-") for low in lows) == 1 < len(lows)


def _joined(ranges: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """Return the one range of several that follow each other without a gap; 0 can stand apart below the others. None
    if they overlap, have gaps or are no numbers.
    """
    if not ranges or not all(_NUMBER.fullmatch(each) for limits in ranges for each in limits):
        return None
    ordered = sorted(ranges, key=lambda each: parse_number(each[0]) or 0)
    for before, after in pairwise(ordered):
        end, start = parse_number(before[1]), parse_number(after[0])
        if end is None or start is None or start <= end or (start - end > 1 and end != 0):
            return None
    return ordered[0][0], ordered[-1][1]


def _open_ends(limits: tuple[str, str], entries: Sequence[tuple[str, str, str]]) -> dict[str, str]:
    """Return the mark that the labels of the first and of the last range say to be top-coded, or bottom-coded."""
    marks = {
        found["end"].lower()
        for low, high, label in entries
        for found in _CUT.finditer(label)
        if (low if found["end"].lower() == "bottom" else high) in limits
    }
    marks |= {"top" for low, high, label in entries if low == high == limits[1] and is_open_end(high, label)}
    return {f"is {each}": "yes" for each in marks}
