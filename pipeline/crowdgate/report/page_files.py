"""Pages as files: Markdown, or the same as HTML with its pictures."""

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
    """Write a page of Markdown as a new file, as HTML with its pictures if the name ends in .html, as it is if in .md.

    Raises EnvironmentFault when the file exists or can't be written, ConfigurationError for another ending.
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
    """The page as HTML, in the language and with the decimal mark of the working copy."""
    style = page_style(Path.cwd())
    return as_html(title, in_style(text), in_style(pictures), links, style.lang)


def in_style(make: Callable[[], Made]) -> Made:
    """What is made with the decimal mark of the working copy."""
    with decimal_mark(page_style(Path.cwd()).decimal_mark):
        return make()


def check_name(path: Path) -> None:
    """Raises ConfigurationError for the name of no page."""
    if path.suffix not in (".md", ".html"):
        said, expected = f"a file that ends in {path.suffix!r}", "one that ends in .html or .md"
        raise ConfigurationError(Problem("command line", None, "--page", said, expected, f"{path.stem}.html"))
