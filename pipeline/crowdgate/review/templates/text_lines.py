"""The lines of a plain text on variables: without the blanks before a whole table, and with continued lines joined."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from crowdgate.review.templates.code_rows import GAP, cells_of
from crowdgate.review.templates.section_points import attribute

_OPEN_END = re.compile(r"[,(=]$|\s(?:and|or|to|until|und|oder|bis|et|ou|à|y|o|a)$", re.IGNORECASE)
"""The end of a line that a further one must continue."""
_CODED = re.compile(r"-?\d|[-*+•]\s|[A-Z]{1,3}\d{0,4}(?:\s|$)|\S{1,20}\s*[=:]")
"""The start of a line that can have a code of its own."""


def without_indent(text: str, names: Sequence[str]) -> str:
    """Return a text whose lines that begin with the name of a column begin at its left edge, if none of them does."""
    lines = text.expandtabs().splitlines()
    indents = Counter(_indent(each) for each in lines if _first(each) in {name.casefold() for name in names})
    width = indents.most_common(1)[0][0] if indents else 0
    if not width or 0 in indents:
        return text
    return "\n".join(each[min(width, _indent(each)) :] for each in lines)


def joined_lines(text: str, names: Sequence[str]) -> str:
    """Return a text in which each line that continues the one before it is part of that: where that one has an end that
    can't be one, or where its words begin below those on a variable and have no code.
    """
    return "\n".join(_joined(text.splitlines(), {each.casefold() for each in names}))


def _joined(lines: Sequence[str], names: set[str]) -> Iterator[str]:
    held, start = "", 0
    for line in lines:
        is_name = _first(line) in names and not line[:1].isspace()
        if held and not is_name and _continues(held, line, start):
            held = f"{held.rstrip()} {line.strip()}"
            continue
        if held:
            yield held
        held, start = line, _start_of_words(line) if is_name else 0
        if not line.strip():
            yield line
            held = ""
    if held:
        yield held


def _continues(held: str, line: str, start: int) -> bool:
    """Return whether an indented line continues the one before it, whose words on a variable begin at `start`."""
    text = line.strip()
    if not line[:1].isspace() or not text or len(cells_of(line)) > 1 or attribute(text):
        return False
    is_list = start or held.count("=") > 1
    unfinished = (held.count("(") > held.count(")") and ")" in text) or (is_list and _OPEN_END.search(held.rstrip()))
    return bool(unfinished or (start and _indent(line) == start and not _CODED.match(text)))


def _start_of_words(line: str) -> int:
    """Return where the last cell of a line begins; 0 if it has one only."""
    gaps = [*GAP.finditer(line.rstrip())]
    return gaps[-1].end() if gaps else 0


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _first(line: str) -> str:
    return line.strip().partition(" ")[0].strip(".,:;").casefold()
