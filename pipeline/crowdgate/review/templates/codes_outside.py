"""Codes with labels outside a range that is stated beside them: these stand for no value, whatever their label says."""

import re
from collections.abc import Sequence

from crowdgate.domain import parse_number
from crowdgate.review.templates.draft_column import Values

_KEPT = re.compile(r"-\d{1,8}(?:[.,]\d+)?|([7-9])\1{1,8}(?:[.,]\d+)?|9{1,8}[6-8]")
"""The numbers that lists keep for no value: negative ones, and those of one of the last digits."""
_OTHER = re.compile(r"\b(?:other|more|over|above|older|less|under|below|mehr|plus|más|mais|meer|mer)\b", re.IGNORECASE)
"""The words of labels of values."""
_LABELLED = re.compile(r"(?<![\w.,-])(?P<code>-?\d+(?:[.,]\d+)?)\s*=\s*(?P<label>[^\W\d][^=:;,\n]*)")


def codes_beyond(bounds: tuple[str, str], labelled: Values) -> tuple[str, ...]:
    """Return the codes outside a range of numbers that lists keep for no value."""
    low, high = map(parse_number, bounds)
    found = []
    for code, label in labelled:
        number = parse_number(code.replace(",", "."))
        is_kept = label and _KEPT.fullmatch(code) and not _OTHER.search(label)
        if is_kept and number is not None and low is not None and high is not None and not low <= number <= high:
            found.append(code)
    return tuple(found)


def codes_in_notes(bounds: tuple[str, str] | None, texts: Sequence[str]) -> tuple[str, ...]:
    """Return such codes of notes on a range: 998 of `998 = does not drink`. None without a range."""
    named = tuple((each["code"], each["label"]) for text in texts for each in _LABELLED.finditer(text))
    return codes_beyond(bounds, named) if bounds else ()
