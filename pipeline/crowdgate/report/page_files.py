"""Pages as files: Markdown, or the same as HTML with its pictures."""

from collections.abc import Callable, Sequence
from pathlib import Path

from crowdgate.errors import ConfigurationError, Problem
from crowdgate.publish.pages import write_page
from crowdgate.report.html import SvgPicture, as_html, without_marks
from crowdgate.system import permissions


def write_as(
    path: Path,
    title: str,
    text: str,
    pictures: Callable[[], Sequence[SvgPicture]] = list,
    access: permissions.Access = permissions.PAGE,
) -> None:
    """Write a page of Markdown as a new file, as HTML with its pictures if the name ends in .html, as it is if in .md.

    Raises EnvironmentFault when the file exists or can't be written, ConfigurationError for another ending.
    """
    check_name(path)
    write_page(path, without_marks(text) if path.suffix == ".md" else as_html(title, text, pictures()), access)


def check_name(path: Path) -> None:
    """Raises ConfigurationError for the name of no page."""
    if path.suffix not in (".md", ".html"):
        said, expected = f"a file that ends in {path.suffix!r}", "one that ends in .html or .md"
        raise ConfigurationError(Problem("command line", None, "--page", said, expected, f"{path.stem}.html"))
