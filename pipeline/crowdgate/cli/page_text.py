"""Pages at the terminal: Markdown wrapped at words, with nothing of a table cut off."""

import sys
from typing import ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Markdown, MarkdownElement, TableElement
from rich.table import Table

WIDTH = 80
"""The width of a line, in characters, where standard output is no terminal."""


class FoldedTable(TableElement):
    """A table that breaks words longer than its cells; the base class cuts them off."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table."""
        for each in super().__rich_console__(console, options):
            if isinstance(each, Table):
                for column in each.columns:
                    column.overflow = "fold"
            yield each


class PageText(Markdown):
    """A page of Markdown with such tables."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {**Markdown.elements, "table_open": FoldedTable}


def print_markdown(text: str) -> None:
    """Print a page of Markdown, as wide as the terminal."""
    Console(file=sys.stdout, width=None if sys.stdout.isatty() else WIDTH).print(PageText(text, hyperlinks=False))
