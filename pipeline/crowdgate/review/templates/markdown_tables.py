"""The tables of a text in Markdown: lines of cells between vertical bars, with the nearest heading above."""

import re
from collections.abc import Iterator

_HEADING = re.compile(r"#+\s+(?P<title>.*?)[\s#]*|\*\*(?P<bold>[^*]+)\*\*:?")
_RULE = re.compile(r"\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?")
"""The line below the headings of a table."""
_BAR = re.compile(r"(?<!\\)\|")


def markdown_tables(text: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the title and the rows of each table of a text."""
    title, rows = "", list[list[str]]()
    for line in (each.strip() for each in [*text.splitlines(), ""]):
        if line.startswith("|"):
            rows += [] if _RULE.fullmatch(line) else [_cells(line)]
            continue
        if rows:
            yield title, rows
            title, rows = "", []
        if found := _HEADING.fullmatch(line):
            title = _plain(found["title"] or found["bold"] or "")


def _cells(line: str) -> list[str]:
    """Return the cells of a line without their marks."""
    return [_plain(each) for each in _BAR.split(line.removeprefix("|").removesuffix("|"))]


def _plain(text: str) -> str:
    """Return a text without the marks of code and of bold letters, where lines end at `<br>`."""
    text = re.sub(r"\s*<br\s*/?>\s*", "\n", text).replace("\\|", "|").replace("\\_", "_")
    return re.sub(r"`([^`]*)`|\*\*([^*]*)\*\*", lambda found: found[1] or found[2] or "", text).strip()
