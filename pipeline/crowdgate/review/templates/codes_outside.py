"""Codes with labels outside a range that is stated beside them: these stand for no value, whatever their label says."""

import re
from collections.abc import Sequence

from crowdgate.domain import parse_number
from crowdgate.review.templates.draft_column import Values

_KEPT = re.compile(r"-\d{1,8}(?:[.,]\d+)?|([7-9])\1{1,8}(?:[.,]\d+)?|9{1,8}[6-8]|99\d?[.,]?\d?")
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


def counted_as_missing(labelled: Values) -> str:
    """Return words on codes that a draft takes for missing ones although their labels do not say so; empty for none."""
    listed = "; ".join(f"{code} = {label}" for code, label in labelled)
    return f"{listed} (counted as missing)" if listed else ""


def negative_codes(values: Values) -> list[str]:
    """Return the negative codes of a list of several others; none if some are the opposites of these, as on a scale
    from -2 to 2.
    """
    numbers = {code for code, _ in values if re.fullmatch(r"-?\d{1,8}", code)}
    negative = [code for code, label in values if label and code in numbers and code.startswith("-")]
    is_scale = any(code[1:] in numbers for code in negative) and len(numbers) < 2 * len(negative) + 2
    return [] if is_scale or len(values) < len(negative) + 2 else negative


def codes_in_notes(bounds: tuple[str, str] | None, texts: Sequence[str]) -> Values:
    """Return such codes of notes on a range, with their labels: 998 of `998 = does not drink`. None without a range."""
    named = tuple((each["code"], each["label"].strip()) for text in texts for each in _LABELLED.finditer(text))
    found = codes_beyond(bounds, named) if bounds else ()
    return tuple(pair for pair in named if pair[0] in found)


def one_code(text: str) -> Values:
    """Return the code and the label of a cell that is one number with a label; none for other cells, and for labels of
    values beyond the range.
    """
    found = _LABELLED.fullmatch(text.strip())
    return ((found["code"], found["label"].strip()),) if found and not _OTHER.search(found["label"]) else ()
