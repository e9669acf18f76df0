"""Names and types of columns as pandas, Arrow and Spark print them; counts beside them are passed over."""

import re
from collections.abc import Sequence

_TYPE = (
    r"(?P<type>u?int\d*|bigint|long|integer|short|(?:half_?)?float\d*|double|decimal\d*\(\d+, ?-?\d+\)|object|category"
    r"|(?:large_)?(?:string|utf8)|str|bool(?:ean)?|datetime64\[[^\]]*\]|date(?:32|64)?(?:\[\w+\])?|timestamp(?:\[[^\]]*\])?"
    r"|dictionary<.*>|timedelta64\[\w+\])"
)
_LINES = (
    re.compile(rf"\s*\d+\s+(?P<name>\S.*?)\s+(?:\d+ non-null\s+)?{_TYPE}\s*", re.IGNORECASE),
    re.compile(rf"\s*(?:\|--\s*)?(?P<name>\S.*?)\s*:\s+{_TYPE}(?:\s+not null|\s+\(nullable = \w+\))?", re.IGNORECASE),
    re.compile(rf"(?P<name>\S.*?)\s{{2,}}{_TYPE}\s*", re.IGNORECASE),
)
"""The lines of `DataFrame.info()`, of schemas of Arrow and Spark, and of `DataFrame.dtypes`."""
_AROUND = re.compile(
    r"\s*(?:>>>|<class |\w*Index: |Data columns|#\s+Column|-+(?:\s|$)|dtypes?: |memory usage"
    r"|root\s*$|Name: |Length: |-- |schema)"
)
"""The starts of other lines of such prints."""
_WORDS = (
    (re.compile(r"u?int|bigint|long|short", re.I), "integer", ""),
    (re.compile(r"decimal\d*\(\d+, ?(?P<scale>\d+)\)", re.I), "decimal", ""),
    (re.compile(r"half|float|double", re.I), "decimal", ""),
    (re.compile(r"bool", re.I), "", "True; False"),
    (re.compile(r"datetime|timestamp", re.I), "datetime", ""),
    (re.compile(r"date", re.I), "date", ""),
)
"""The starts of types, the words of dictionaries for them, and their values."""
LONGEST_LINE = 300
"""The greatest length of a line of such prints."""
HEADINGS = ("variable", "type", "values")
"""The headings of the rows that lines become."""


def printed_rows(text: str, names: Sequence[str]) -> list[list[str]]:
    """Return the rows of a data dictionary of the columns in a text that is such a print; none for other texts."""
    folded, lines = {each.casefold() for each in names}, [each for each in text.splitlines() if each.strip()]
    for form in _LINES if max(map(len, lines), default=0) <= LONGEST_LINE else ():
        found = [each for line in lines if (each := form.fullmatch(line))]
        others = [line for line in lines if not (form.fullmatch(line) or _AROUND.match(line))]
        if not others and any(each["name"].casefold() in folded for each in found):
            return [[*HEADINGS], *([each["name"], *_words(each["type"])] for each in found)]
    return []


def _words(kind: str) -> tuple[str, str]:
    """Return the type in words, and the values, of a printed type; empty ones for texts."""
    for start, words, values in _WORDS:
        if found := start.match(kind):
            scale = found.groupdict().get("scale")
            return (f"decimal (20,{scale})" if scale else words), values
    return "", ""
