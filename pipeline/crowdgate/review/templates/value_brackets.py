"""Brackets of numbers as the values of a column: `Less than $10,000`, `10 000 - 19 999 kr`, `75 and over`."""

import re
from collections.abc import Sequence

from crowdgate.domain import parse_number
from crowdgate.review.templates.open_ends import MORE_WORDS

_CURRENCY = r"(?:[$£€¥]|R\$|USD|EUR|GBP|CHF|SEK|NOK|DKK|PLN)"
_NUMBER = r"\d{1,3}(?:[ ,.'\u00a0\u202f]\d{3})+|\d+(?:[.,]\d+)?"
_UNIT = r"(?:\s?(?:%|[kKmM]\b|[^\W\d]{1,10}\.?|[$£€]))?"
_AMOUNT = rf"{_CURRENCY}?\s?(?:{_NUMBER}){_UNIT}"
_LESS_THAN = (
    r"less than|under|below|up to|<=?|≤|fewer than|unter|weniger als|bis(?: zu)?|moins de|jusqu'à|menos de|hasta|até",
    r"abaixo de|fino a|meno di|minder dan|tot|mindre (?:enn|än|end)|højst|høyst|poniżej|mniej niż|do|méně než|alle",
)
_MORE_THAN = (
    r"more than|over|above|>=?|≥|at least|mehr als|über|ab|mindestens|plus de|más de|mais de|acima de|oltre|più di",
    r"meer dan|mer (?:enn|än|end)|över|powyżej|więcej niż|více než|nad|yli",
)
_LESS, _MORE = (f"(?:{'|'.join(each)})" for each in (_LESS_THAN, _MORE_THAN))
_TO = r"(?:\s?[-–—]\s?|\s+(?:to|bis|à|a|til|till|tot|do|under)\s+)"
_START, _END, _RANGE = (
    re.compile(each, re.IGNORECASE)
    for each in (
        rf"{_LESS}\s*{_AMOUNT}",
        rf"{_MORE}\s*{_AMOUNT}|{_AMOUNT}\s*(?:\+|{MORE_WORDS}){_UNIT}",
        rf"{_AMOUNT}{_TO}{_AMOUNT}",
    )
)
_PLAIN = re.compile(r"[\d\s.,–—-]+")
LEAST_PLAIN = 3
"""The least number of brackets of plain numbers, of which one has an open end."""


def are_brackets(entries: Sequence[str]) -> bool:
    """Return whether all entries are brackets of ascending numbers, and no codes with labels: one has an open end or a
    unit.
    """
    opened = [each for each in entries if _START.fullmatch(each) or _END.fullmatch(each)]
    ranged = [each for each in entries if each not in opened and _RANGE.fullmatch(each)]
    if len(entries) < 2 or len(opened) + len(ranged) < len(entries):
        return False
    has_units = any(not _PLAIN.fullmatch(each) for each in ranged)
    return _ascend(entries) and (has_units or (bool(opened) and len(entries) >= LEAST_PLAIN))


def _ascend(entries: Sequence[str]) -> bool:
    numbers = [
        number for each in entries for text in re.findall(_NUMBER, each) if (number := _number(text)) is not None
    ]
    return numbers == sorted(numbers) and len({*entries}) == len(entries)


def _number(text: str) -> float | None:
    found = parse_number(re.sub(r"[ ,.'\u00a0\u202f](?=\d{3})", "", text).replace(",", "."))
    return None if found is None else float(found)
