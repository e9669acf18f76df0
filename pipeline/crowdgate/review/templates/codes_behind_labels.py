"""Codes that stand behind their labels: `Male 1, Female 2, refused -1`, or only `refused -1` behind others."""

import re
from collections.abc import Sequence

from crowdgate.review.templates.special_labels import is_special

_ENTRY = re.compile(r"(?P<label>[^\W\d][^=:;|,\n()]*?)(?:\s*[=:]\s*|\s*\(|\s+)(?P<code>-?\d{1,4})\)?")
_MARKS = re.compile(r"(\s*[;|\n,]\s*)")
"""The marks between entries."""
_KEPT = re.compile(r"-\d{1,4}|([789])\1{0,3}|9{1,3}[6-8]")
"""The codes that only lists keep for unknown."""
_COUNTED = re.compile(r"missing|no |unknown|blank", re.IGNORECASE)
"""The labels behind which a number that is not negative can be a count."""
SHORTEST_LABEL = 3
"""The least letters of a label before a sign of equality: `NW = 1` can be a code NW with the label 1."""


def with_codes_first(text: str) -> str:
    """Return a list whose codes all stand behind their labels as one whose codes stand before them; others unchanged.
    Codes are numbers from 0 or 1 on without gaps, apart from those for no value.
    """
    entries = [_ENTRY.fullmatch(each.strip()) for each in _MARKS.split(text)[::2] if each.strip()]
    found = [(each["label"], each["code"]) for each in entries if each]
    plain = [int(code) for label, code in found if not is_special(label)]
    follow = any(sorted(plain) == [*range(first, first + len(plain))] for first in (0, 1))
    least = SHORTEST_LABEL if "=" in text else SHORTEST_LABEL - 1
    if len(found) < len(entries) or len(plain) < 2 or not follow or not _differ(found, least):
        return text
    return "; ".join(f"{code} = {label}" for label, code in found)


def _differ(found: Sequence[tuple[str, str]], least: int) -> bool:
    """Return whether labels, and codes, recur nowhere, and labels are words of at least so many letters."""
    labels, codes = ({each[at].casefold() for each in found} for at in (0, 1))
    return len(labels) == len(codes) == len(found) and min(map(len, labels)) >= least


def without_codes_behind(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text without the entries that are words for no value with their code behind them, and these codes."""
    parts = ["", *_MARKS.split(text)]  # each entry behind its mark
    kept, codes = "", list[str]()
    for mark, entry in zip(parts[::2], parts[1::2], strict=True):
        if code := code_behind(entry.strip()):
            codes.append(code)
        else:
            kept += f"{mark if kept else ''}{entry}"
    return kept, tuple(codes)


def code_behind(entry: str) -> str:
    """Return the code behind words for no value; empty for others. A number that is not negative can be a count."""
    found = _ENTRY.fullmatch(entry)
    if found is None or not _KEPT.fullmatch(found["code"]) or not is_special(found["label"]):
        return ""
    return "" if _COUNTED.match(found["label"]) and not found["code"].startswith("-") else found["code"]


def ends_in_code(label: str) -> bool:
    """Return whether a part of a label is words for no value with a number behind them: `Female, missing 12`."""
    found = (_ENTRY.fullmatch(each.strip()) for each in label.split(",")[1:])
    return any(each and is_special(each["label"]) for each in found)
