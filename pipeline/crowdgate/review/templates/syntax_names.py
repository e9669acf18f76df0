"""Lists of variables in syntax files, as columns of a table: `a b`, `q1-q5`, `q1 TO q5`, `w3_*`, `_all`."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

ALL = ("_all", "all", "_all_", "_numeric_", "_character_")
"""The words for all variables of a table."""
_JOINED = re.compile(r"(?P<first>[^\W\d]\w*)-(?P<last>[^\W\d]\w*)")


def columns_of(names: Sequence[str], table: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of a table that a list of variables names, in any case; a range runs in the table's order."""
    folded = [each.casefold() for each in table]
    found, at = list[int](), 0
    while at < len(names):
        name, join = names[at].casefold(), names[at + 1].casefold() if at + 2 < len(names) else ""
        if joined := _JOINED.fullmatch(name):
            found += _between(joined["first"], joined["last"], folded)
        elif join in ("to", "-", "--"):
            found += _between(name, names[at + 2].casefold(), folded)
            at += 2
        elif names[at + 1 : at + 2] and names[at + 1] == "-" and at + 3 < len(names) and names[at + 2] == "-":
            found += _between(name, names[at + 3].casefold(), folded)
            at += 3
        else:
            found += _matching(name, folded)
        at += 1
    return tuple(table[each] for each in dict.fromkeys(found))


def _between(first: str, last: str, table: Sequence[str]) -> list[int]:
    if first not in table or last not in table:
        return []
    return list(range(table.index(first), table.index(last) + 1))


def _matching(name: str, table: Sequence[str]) -> list[int]:
    if name in ALL and name not in table:
        return list(range(len(table)))
    if re.search(r"[*?~]", name):
        return [at for at, each in enumerate(table) if fnmatchcase(each, name.replace("~", "*"))]
    return [table.index(name)] if name in table else []
