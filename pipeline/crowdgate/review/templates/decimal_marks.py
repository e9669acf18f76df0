"""The decimal mark of a data dictionary, as its ranges or its words show it."""

import re
from collections.abc import Iterable, Sequence

from crowdgate.review.templates.stated_ranges import range_ends

_NUMBER = re.compile(r"[-−]?\d+(?P<mark>[.,])\d{1,2}")
_MARK = (
    r"(?:\w*komma|comma|kommo|virgule|virgola|v[ií]rgula|coma|przecin\w+|čárk\w+|čiark\w+|vejic\w+|zarez\w*|pilkku\w*"
    r"|запет\w+|запят\w+|virgül\w*|vessző\w*|virgulă)"
)
_DECIMAL = r"(?:d[eé][ckz]im|desim|desat|deset|dziesi|дес|tized|zecim|ondal)\w*"
_COMMA = re.compile(
    rf"\b{_MARK}\b(?:\W+\w+){{0,2}}\W+{_DECIMAL}|\b{_DECIMAL}\W+(?:\w+\W+){{0,3}}{_MARK}\b|\b{_DECIMAL[:-3]}\w*komma\b",
    re.IGNORECASE,
)
"""The words that decimals stand behind a comma."""
_GROUPS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:,\d{3})+(?![\d,])")
_ENDS = ("least", "greatest")


def decimal_mark(rows: Sequence[dict[str, str]]) -> str:
    """Return the decimal mark of rows under known headings: a comma if words say so, or else the one that all ranges
    with decimals have; empty if there is none, or if they differ.
    """
    if any(_COMMA.search(cell) for row in rows for cell in row.values()):
        return ","
    marks = {found["mark"] for row in rows for each in _numbers(row) if (found := _NUMBER.fullmatch(each.strip()))}
    return marks.pop() if len(marks) == 1 else ""


def _numbers(row: dict[str, str]) -> Iterable[str]:
    """Yield the ends of the ranges of a row."""
    yield from (row[key] for key in _ENDS if key in row)
    for key in ("range", "values"):
        yield from range_ends(row.get(key, "")) or ()


def without_commas(rows: Sequence[dict[str, str]]) -> None:
    """Take the commas out of the ranges of rows whose decimals have a point: they stand between thousands."""
    for row in rows:
        for key in ("range", "values", *_ENDS):
            if key in _ENDS or range_ends(row.get(key, "")):
                row |= {key: _GROUPS.sub(lambda each: each[0].replace(",", ""), row[key])} if key in row else {}
