"""Pages of runs as artifacts of Prefect."""

import re
from collections.abc import Iterator
from contextlib import suppress

from prefect.artifacts import create_markdown_artifact

_CELLS = re.compile(r"(?<!\\)\|")


def publish_page(key: str, markdown: str, description: str) -> None:
    """Publish a page as an artifact of the run. The run has ended well or not, whether or not the server takes it."""
    with suppress(Exception):
        create_markdown_artifact(markdown=as_lists(markdown), key=key, description=description)


def as_lists(markdown: str) -> str:
    """Return Markdown with each table as a list: Prefect cuts the cells of wide tables."""
    return "\n".join(_lines(markdown.splitlines())) + "\n"


def _lines(lines: list[str]) -> Iterator[str]:
    heads: list[str] = []
    for line in lines:
        cells = [each.strip() for each in _CELLS.split(line)[1:-1]] if line.startswith("|") else []
        if not cells:
            heads = []
            yield line
        elif not heads:
            heads = cells
        elif set(line) - set("|:-"):
            yield _point(heads, cells)


def _point(heads: list[str], cells: list[str]) -> str:
    """Return a row as a point: its first cell, then each further one after the head of its column."""
    first, *further = cells
    named = [(head, cell) for head, cell in zip(heads[1:], further, strict=False) if cell]
    rest = (
        named[0][1]
        if len(cells) == 2 and named
        else "; ".join(f"{head}: {cell.removesuffix('.')}" for head, cell in named)
    )
    return f"- **{first}**: {rest}" if first and rest else f"- {first or rest}"
