"""The decimals of numbers as a data dictionary states them: in a column of their own, in types, or in words."""

import re
from collections.abc import Sequence

from crowdgate.review.templates.dictionary_types import DECIMAL_WORD, MOST_PLACES, StatedType, stated_type
from crowdgate.review.templates.label_ranges import decimals_in_words
from crowdgate.sources.table_header import CellType

_FORMAT = re.compile(r"(?:[A-Za-z]*\d{1,2}[.,])?(?P<decimals>\d)")
"""The number of decimals, or a format of numbers: 1 of `1`, `5.1` and `F5.1`."""
_PLACES = re.compile(r"[^\W\d]+\s*[(\[]\s*(?P<n>\d)\s*[)\]]")
_FORMATS = re.compile(r"\$?[A-Za-z_]*\d*\.\d*|[A-Za-z]\w*")
_WITH_DECIMALS = re.compile(r"float|double|real|dec|d[eé]c|komma|gleit|fließ|continuous|ondal|zecimal")
"""The types whose numbers have decimals, whether or not these are stated."""
_WORDS = ("label", "description", "notes", "values", "range")


def are_decimals(cells: Sequence[str]) -> bool:
    """Return whether cells are formats such as `5.1`, perhaps beside those of days."""
    return bool(cells) and all(map(_FORMATS.fullmatch, cells)) and any(map(_FORMAT.fullmatch, cells))


def state_decimals(rows: Sequence[dict[str, str]]) -> None:
    """Make decimals parts of the types of numbers. Where types or words state some, a number of the same type without
    them is whole.
    """
    for row in rows:
        found = _FORMAT.fullmatch(row.get("decimals", ""))
        if found and stated_type(row.get("type", "")) == StatedType(CellType.NUMBER):
            row["type"] = f"numeric (20,{found['decimals']})"
    _state_places(rows)
    told = [decimals_in_words(" ".join(row.get(key, "") for key in _WORDS)) for row in rows]
    plain = [stated_type(row.get("type", "")) == StatedType(CellType.NUMBER) for row in rows]
    kinds = {_kind(row) for row, each, is_plain in zip(rows, told, plain, strict=True) if each and is_plain}
    kinds |= {_kind(row) for row in rows if stated_type(row.get("type", "")).decimals}
    for row, decimals, is_plain in zip(rows, told, plain, strict=True):
        is_sized = re.fullmatch(r"\d+[.,]\d+", row.get("length", "")) or row.get("decimals")
        if is_plain and not is_sized and _kind(row) in kinds and (decimals or not _has_decimals(row)):
            row["type"] = f"numeric (20,{decimals or 0})"


def _state_places(rows: Sequence[dict[str, str]]) -> None:
    """Make the number behind words for decimals, `decimal (1)`, the number of decimals, if a range shows that it is
    none of digits.
    """
    found = [(row, _PLACES.fullmatch(row.get("type", "").strip().lower())) for row in rows]
    placed = [(row, int(each["n"])) for row, each in found if each and DECIMAL_WORD.match(each[0])]
    placed = [(row, places) for row, places in placed if places <= MOST_PLACES]
    if any(_are_decimals(row, places) for row, places in placed):
        for row, places in placed:
            row["type"] = f"numeric (20,{places})"


def _are_decimals(row: dict[str, str], places: int) -> bool:
    """Return whether the limits of a number have decimals, or more digits than `places`."""
    limits = " ".join(row.get(key, "") for key in ("values", "range", "least", "greatest"))
    longest = max(map(len, re.findall(r"\d+", limits)), default=0)
    return longest > places or bool(re.search(r"\b0[.,]\d", limits))


def _kind(row: dict[str, str]) -> str:
    """Return the word for the type of a row."""
    return next(iter(re.findall(r"[^\W\d_]+", row.get("type", "").lower())), "")


def _has_decimals(row: dict[str, str]) -> bool:
    """Return whether a type, or the limits of a number, have decimals which no number states."""
    limits = " ".join(row.get(key, "") for key in ("values", "range", "least", "greatest"))
    return bool(_WITH_DECIMALS.match(_kind(row)) or re.search(r"\d[.,]\d{1,2}(?!\d)", limits))
