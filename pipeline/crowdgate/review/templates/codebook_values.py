"""The values of a column as codebooks write them in one cell: `1=Male; 2=Female`, `1, Yes | 0, No` or `0 to 140`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

from crowdgate.domain import parse_number
from crowdgate.review.templates.contract_draft import Values

_CODE = r"[\"']?(?P<code>[^\"'=:,|\[\]]{1,40}?)[\"']?"
_FORMS = (
    re.compile(rf"{_CODE}\s*(?:=|:)\s*\[?(?P<label>.*?)\]?", re.DOTALL),
    re.compile(rf"{_CODE}\s*(?:,|\s[-–—]\s|\t)\s*(?P<label>.*?)", re.DOTALL),
    re.compile(r"(?P<code>[A-Z0-9]{1,6})\s+(?P<label>.*?)", re.DOTALL),
)
"""The forms of an entry with a label. All entries of a cell have one form."""
_NEXT_CODE = re.compile(r",\s*(?=[\"']?[\w.+-]{1,20}[\"']?\s*[=:])")
"""A comma before a code, not one within a label."""
_RANGE = re.compile(r"(-?\d+(?:\.\d+)?)\s*(?:to|-|–|\.\.)\s*(-?\d+(?:\.\d+)?)", re.IGNORECASE)
_SPECIAL_LABELS = (
    r"(i )?(do ?n[o'’]?t|dont) know",
    r"(i )?prefer not to (answer|say)",
    r"refused?( to answer)?",
    r"not (stated|known|applicable|ascertained|asked|reported|available|in universe)",
    r"no (answer|response)",
    r"missing( data)?",
    r"unknown|blank|niu|dk|missing/unknown",
    r"n\.?\s?[iau]\.?( ?u\.?)?",
    r"(appropriate |valid )?skip(ped)?",
)
_SPECIAL = re.compile("|".join(_SPECIAL_LABELS), re.IGNORECASE)
"""The labels of codes that stand for no number."""
LONGEST_BARE = 30
"""The greatest length of a value in a list without labels."""


@dataclass(frozen=True)
class ListedValues:
    """The values of a column with their labels, or its range, and the codes that stand for no value."""

    values: Values = ()
    bounds: tuple[str, str] | None = None
    missing: tuple[str, ...] = ()


def listed_values(text: str) -> ListedValues:
    """Return what a cell of a codebook says about the values of a column; nothing if it is no list and no range."""
    parts = _parts(text.strip())
    pairs = _pairs(parts)
    ranges = [found for code, _ in pairs if (found := _RANGE.fullmatch(code))]
    if len(ranges) == 1 and len(pairs) == len(parts):
        return _in_range(ranges[0], parts, pairs)
    codes = [code for code, _ in pairs]
    if len(set(codes)) != len(parts) or (len(parts) == 1 and not special_codes(pairs)):
        return ListedValues()
    return ListedValues(missing=tuple(codes)) if special_codes(pairs) else ListedValues(tuple(pairs))


def _in_range(found: re.Match[str], parts: Sequence[str], pairs: Sequence[tuple[str, str]]) -> ListedValues:
    """Return a range of numbers, and the codes beside it; nothing if one of these stands for a value."""
    if found[0] in parts:  # a range without a label beside codes that may have some
        pairs = _pairs([each for each in parts if each != found[0]])
    codes = [(code, label) for code, label in pairs if code != found[0]]
    if not all(special_codes([(code, label or "missing")]) for code, label in codes):
        return ListedValues()
    return ListedValues(bounds=whole_bounds(*found.groups()), missing=tuple(code for code, _ in codes))


def special_codes(values: Sequence[tuple[str, str]]) -> bool:
    """Return whether all values are numbers whose labels say that there is no value: such as 997, don't know."""
    numbers = all(parse_number(code) is not None for code, _ in values)
    return bool(values) and numbers and all(_SPECIAL.fullmatch(label.strip(" .")) for _, label in values)


def _parts(text: str) -> list[str]:
    """Return the entries of a list; the text itself if it is none."""
    for mark in ("|", "\n", ";"):
        if mark in text:
            return [each.strip() for each in text.split(mark) if each.strip()]
    if len(parts := _NEXT_CODE.split(text)) > 1:
        return parts
    for mark in (",", "/"):
        parts = [each.strip() for each in text.split(mark)]
        if len(parts) > 1 and all(each and " " not in each for each in parts):
            return parts
    return [text]


def _pairs(parts: Sequence[str]) -> Sequence[tuple[str, str]]:
    """Return the code and the label of each entry: in the first form that all have, or else without labels."""
    for form in _FORMS:
        found = [form.fullmatch(each) for each in parts if not _RANGE.fullmatch(each)]
        pairs = [(each["code"].strip(), " ".join(each["label"].split())) for each in found if each is not None]
        if len(pairs) == len(parts) and all(code and label for code, label in pairs):
            return pairs
    return [(each, "") for each in parts if len(each) <= LONGEST_BARE]


def whole_bounds(least: str, greatest: str) -> tuple[str, str] | None:
    """Return a range of numbers, rounded outwards to whole ones, as a domain has steps of 1 unless it states another;
    None if these are no numbers.
    """
    low, high = parse_number(least), parse_number(greatest)
    return None if low is None or high is None or low > high else (str(floor(low)), str(ceil(high)))
