"""The lines of a plain text on variables: without the blanks before a whole table, and with continued lines joined."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from crowdgate.review.templates.code_rows import GAP, cells_of
from crowdgate.review.templates.codebook_values import codes_in_words
from crowdgate.review.templates.draft_consistency import LEFT_OUT
from crowdgate.review.templates.section_points import attribute

_GAP_LINE = re.compile(r"(?<=\S)[ \t]*\r?\n[ \t]*(?:\.{2,}|…)[ \t.…]*(?=\r?\n)")
_MISSING_LINE = re.compile(r"(?m)^([ \t]+)\(m\)[ \t]*(-?\w{1,6})[ \t]+(\S.*?)[ \t]*$")
_EMPTY_LINE = re.compile(r"(?m)^[ \t]+\((?:m|na)\)[ \t]+[^\W\d][^\n]*\n?")
_RANGE_LINE = re.compile(r"(?m)^([ \t]+)(\d{1,6})[ \t]*:[ \t]*(\d{1,6})[ \t]*$")
_OPEN_END = re.compile(r"[,(=]$|\s(?:and|or|to|until|und|oder|bis|et|ou|à|y|o|a)$", re.IGNORECASE)
"""The end of a line that a further one must continue."""
_LABELLED = re.compile(r"(?:[:;,|/]\s*|^\s*(?:\S+\s+)?)[\w.-]{1,6}\s*=")
_ENTRY = re.compile(r"[:;,|/]\s*-?\d{1,4}\s+[^\W\d]")
"""A code with its label behind a sign of equality, or behind a blank."""
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


def with_marked_gaps(text: str) -> str:
    """Return a text in which a line of dots, for codes that are left out, is a mark behind the line before it."""
    return _GAP_LINE.sub(f" {LEFT_OUT}", text)


def with_plain_codes(text: str) -> str:
    """Return a text whose codes are written as in other lists: `(m) 9 Missing` as a code with a mark behind its label,
    a range `15:49` alone in its line with a dash, and without lines for an empty cell: `(na) Not applicable`.
    """
    text = _EMPTY_LINE.sub("", _MISSING_LINE.sub(r"\1\2  \3 [missing]", text))
    return _RANGE_LINE.sub(r"\1\2 - \3", text)


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
            held = f"{held.rstrip()}{_mark(held, line)} {line.strip()}"
            continue
        if held:
            yield held
        held, start = line, max(_start_of_words(line), 1) if is_name else 0
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
    if held.count("(") > held.count(")") and text.count(")") > text.count("("):
        return True
    if _CODED.match(text):
        return _goes_on(held, text, is_name=start > 0)
    if not start and _CODED.match(held.strip()):
        return _indent(line) > _indent(held)  # the words of its label
    is_list = start or held.count("=") > 1
    return bool((is_list and _OPEN_END.search(held.rstrip())) or (start and _indent(line) == start))


def _mark(held: str, line: str) -> str:
    """Return the comma that parts two entries between which the lines have no mark."""
    return "," if _LABELLED.match(f":{line.strip()}") and re.search(r"[\w)]$", held.rstrip()) else ""


def _goes_on(held: str, text: str, *, is_name: bool) -> bool:
    """Return whether a line that begins with a code continues a list which the line before it begins: one on a variable
    has its first codes, other lines have several and an open end.
    """
    labelled = _LABELLED.findall(held)
    if is_name and len(labelled) > len(codes_in_words(held)) and _LABELLED.match(f":{text}"):
        return True
    is_list = is_name and _ENTRY.search(held) if not labelled else is_name or len(labelled) > 1
    return bool(is_list and _OPEN_END.search(held.rstrip()))


def _start_of_words(line: str) -> int:
    """Return where the last cell of a line begins; 0 if it has one only."""
    gaps = [*GAP.finditer(line.rstrip())]
    return gaps[-1].end() if gaps else 0


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _first(line: str) -> str:
    return line.strip().partition(" ")[0].strip(".,:;").casefold()
