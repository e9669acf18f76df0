"""Codebooks whose cells have the same words in two languages, `Sex / Geschlecht`: the first one is used."""

import re
from collections.abc import Mapping, Sequence

Row = Mapping[str, str]
"""A row of a data dictionary: the cells under the headings that are known."""
_TWO = re.compile(r"(?P<first>[^/|]*[^\W\d_]{2}[^/|]*?)\s+[/|]\s+[^/|]*[^\W\d_]{2}[^/|]*")
"""Words on both sides of a stroke."""
_MARKS = re.compile(r"(\s*[;|\n]\s*)")
"""The marks between the entries of a list."""
LEAST_ROWS = 3
"""The least number of variables by which a codebook is one in two languages."""


def in_one_language(rows: Sequence[Row], words: Sequence[str], lists: Sequence[str]) -> list[Row]:
    """Return rows with the first of two languages under the headings of `words` and of `lists`, if all labels of
    variables have two; others unchanged.
    """
    labels = {text for row in rows if (text := next((row[key] for key in words if row.get(key)), ""))}
    if len(labels) < LEAST_ROWS or not all(map(_TWO.fullmatch, labels)):
        return list(rows)
    return [
        {key: _first(text) if key in words else _entries(text) if key in lists else text for key, text in row.items()}
        for row in rows
    ]


def _first(text: str) -> str:
    found = _TWO.fullmatch(text)
    return found["first"] if found else text


def _entries(text: str) -> str:
    """Return a list with the first of two languages in each entry; unchanged unless all its labels have two."""
    parts = _MARKS.split(text)
    cut = [_first(each) for each in parts[::2]]
    is_whole = all(
        before != after or not re.search(r"[^\W\d]{2}", after) for before, after in zip(parts[::2], cut, strict=True)
    )
    return "".join(each for pair in zip(cut, [*parts[1::2], ""], strict=True) for each in pair) if is_whole else text
