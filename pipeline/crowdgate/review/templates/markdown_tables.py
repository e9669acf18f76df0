"""The tables of a text in Markdown: lines of cells between vertical bars, with the nearest heading above."""

import re
from collections.abc import Iterator

_HEADING = re.compile(r"#{1,6}\s.*|\*\*[^*]+\*\*:?")
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
        if _HEADING.fullmatch(line):
            title = _plain(line.strip("#: "))


def _cells(line: str) -> list[str]:
    """Return the cells of a line without their marks."""
    return [_plain(each) for each in _BAR.split(line.removeprefix("|").removesuffix("|"))]


def _plain(text: str) -> str:
    """Return a text without the marks of code and of bold letters, where lines end at `<br>`."""
    lines = (each.strip() for each in re.split(r"<br ?/?>", text))
    text = "\n".join(lines).replace("\\|", "|").replace("\\_", "_")
    return re.sub(r"`([^`]*)`|\*\*([^*]*)\*\*", lambda found: found[1] or found[2] or "", text).strip()
