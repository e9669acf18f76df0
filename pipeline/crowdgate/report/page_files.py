"""Pages as files: Markdown, or HTML with pictures."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from crowdgate.errors import ConfigurationError, Problem
from crowdgate.number_text import decimal_mark
from crowdgate.publish.pages import write_page
from crowdgate.report.html import SvgPicture, as_html, without_marks
from crowdgate.settings import page_style
from crowdgate.system import permissions

Made = TypeVar("Made")


def write_as(
    path: Path,
    title: str,
    text: Callable[[], str],
    pictures: Callable[[], Sequence[SvgPicture]] = list,
    access: permissions.Access = permissions.PAGE,
    links: Mapping[str, str] | None = None,
) -> None:
    """Write a page as a new file: HTML with its pictures for a name in .html, Markdown for one in .md.

    Raises EnvironmentFault if the file exists or can't be written, ConfigurationError for another suffix.
    """
    check_name(path)
    made = without_marks(in_style(text)) if path.suffix == ".md" else html_page(title, text, pictures, links)
    write_page(path, made, access)


def html_page(
    title: str,
    text: Callable[[], str],
    pictures: Callable[[], Sequence[SvgPicture]] = list,
    links: Mapping[str, str] | None = None,
) -> str:
    """Return the page as HTML, with the language and the decimal mark of the working copy."""
    style = page_style(Path.cwd())
    return as_html(title, in_style(text), in_style(pictures), links, style.lang)


def in_style(make: Callable[[], Made]) -> Made:
    """Return the result of `make`, called with the decimal mark of the working copy in force."""
    with decimal_mark(page_style(Path.cwd()).decimal_mark):
        return make()


def check_name(path: Path) -> None:
    """Raise ConfigurationError for the name of a page's file that ends neither in .html nor in .md."""
    if path.suffix not in (".md", ".html"):
        said, expected = f"a file that ends in {path.suffix!r}", "one that ends in .html or .md"
        raise ConfigurationError(Problem("command line", None, "--page", said, expected, f"{path.stem}.html"))
