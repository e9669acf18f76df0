"""Style of pages in a working copy, and names of their files."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from crowdgate.errors import ConfigurationError, Problem
from crowdgate.number_text import decimal_mark
from crowdgate.settings import page_style

Made = TypeVar("Made")


def in_style(make: Callable[[], Made]) -> Made:
    """Return the result of `make`, called with the decimal mark of the working copy in force."""
    with decimal_mark(page_style(Path.cwd()).decimal_mark):
        return make()


def page_language() -> str:
    """Return the language that pages of the working copy declare."""
    return page_style(Path.cwd()).lang


def check_name(path: Path) -> None:
    """Raise ConfigurationError for the name of a page's file that ends neither in .html nor in .md."""
    if path.suffix not in (".md", ".html"):
        said, expected = f"a file that ends in {path.suffix!r}", "one that ends in .html or .md"
        raise ConfigurationError(Problem("command line", None, "--page", said, expected, f"{path.stem}.html"))
