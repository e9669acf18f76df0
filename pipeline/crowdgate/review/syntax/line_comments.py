"""Comments behind the columns of a table in SQL: `sex CHAR(1), -- F = female, M = male`."""

import re
from collections import Counter
from collections.abc import Sequence

_BEHIND = re.compile(r"(?P<code>(?:[^'\"-]|'[^']*'|\"[^\"]*\"|-(?!-))*+)--\s*(?P<words>.*)")
"""A line with a comment."""


def line_comments(lines: Sequence[str], starts: Sequence[int]) -> dict[int, str]:
    """Return the comments behind the columns of one table by the lines, from 1, in which these begin: the first one
    down to the next column; of the last column, in its own line. A line of a comment alone, which can be on several
    columns, and a line in which several columns begin have none.
    """
    counts, ordered = Counter(starts), sorted({*starts})
    ends = [*ordered[1:], *(each + 1 for each in ordered[-1:])]
    found = dict[int, str]()
    for start, end in zip(ordered, ends, strict=True):
        matched = (_BEHIND.fullmatch(each.rstrip()) for each in lines[start - 1 : end - 1])
        words = next((each["words"].strip() for each in matched if each and each["code"].strip()), "")
        found |= {start: words} if words and counts[start] == 1 else {}
    return found
