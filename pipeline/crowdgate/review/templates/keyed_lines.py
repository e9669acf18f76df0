"""Dictionaries of the UK Data Archive, whose lines name each fact: `Variable = SEX  Variable label = Sex`."""

import re
from collections.abc import Sequence

_KEYED = re.compile(r"(?P<key>[^\W\d][\w. ]{1,30}?) = (?P<text>.*)")
_CELLS = re.compile(r"\t+|\s{2,}(?=[^\W\d][\w. ]{1,30}? = )")
_KIND = re.compile(r"This variable is\s+(?P<kind>\w+)", re.IGNORECASE)
_WHOLE = re.compile(r"(-?\d+)\.0+")
"""A code that SPSS writes with decimals."""
HEADINGS = ("variable", "label", "type", "values", "value label")
"""The headings of the rows that lines become."""


def keyed_rows(text: str, names: Sequence[str]) -> list[list[str]]:
    """Return the rows of a data dictionary as such lines state them, one for each value; none for other texts."""
    folded, rows, is_known = {each.casefold() for each in names}, list[list[str]](), False
    for line in text.splitlines():
        stated = _stated(line)
        if "variable" in stated:
            rows.append([stated["variable"], stated.get("variable label", ""), "", "", ""])
            is_known = is_known or stated["variable"].casefold() in folded
        elif rows and {"value", "label"} <= stated.keys():
            code = _WHOLE.sub(r"\1", stated["value"]) if _WHOLE.fullmatch(stated["value"]) else stated["value"]
            filled = [*rows[-1][:3], code, stated["label"]]
            rows = [*rows[:-1], filled] if not rows[-1][3] else [*rows, filled]
        elif rows and (kind := _KIND.search(line)):
            rows[-1][2] = kind["kind"].lower()
    return [[*HEADINGS], *rows] if is_known else []


def _stated(line: str) -> dict[str, str]:
    """Return the facts of a line by their names in lower case; none if a part of it is something else."""
    found = [_KEYED.fullmatch(each.strip()) for each in _CELLS.split(line.strip()) if each.strip()]
    return {each["key"].lower(): each["text"].strip() for each in found if each} if all(found) else {}
