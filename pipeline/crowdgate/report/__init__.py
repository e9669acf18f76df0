"""Reports, and READMEs of releases from templates: Markdown, with the markup of others' text escaped."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jinja2

ROOT = Path(__file__).parent.parent
"""The root of template paths: a kind's templates are in its own folder."""


def markdown(template: str, values: Mapping[str, object]) -> str:
    """Return a page as Markdown: the template with these values. Raises an error of jinja2's if a value that the
    template needs is missing."""
    return render(template, values).rstrip() + "\n"


def render(template: str, values: Mapping[str, object]) -> str:
    """Return the text of a template filled with the values, without escaping."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> "jinja2.Environment":
    import jinja2

    loader = jinja2.FileSystemLoader(ROOT)
    settings = {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}
    made = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, autoescape=False, **settings)  # type: ignore[arg-type]
    made.filters |= {"cell": cell, "text": line}
    return made


def line(value: object) -> str:
    """Return a value as text on one line: each run of blanks and line ends becomes one blank."""
    return " ".join(str(value).split())


def paragraph_text(value: object) -> str:
    """Return a value as text on one line for a Markdown paragraph, with all markup escaped."""
    return re.sub(r"([\\`*_\[\]<>#|~!&])", r"\\\1", line(value))


def cell(value: object) -> str:
    """Return a value as text for a cell of a Markdown table, with bars escaped and line ends removed, as column names
    may hold both."""
    return line(str(value).replace("\\", "\\\\").replace("|", "\\|"))


def safe_cell(value: object) -> str:
    """Return a value as text for a cell of a Markdown table, with all markup escaped, as others may have written the
    text."""
    return re.sub(r"([`*\[\]<>&~]|(?<!\w)_|_(?!\w))", r"\\\1", cell(value))


def code(value: object) -> str:
    """Return a value on one line as Markdown code."""
    plain = line(value)
    longest = max(map(len, re.findall("`+", plain)), default=0)
    fence = "`" * (1 + longest)
    return f"{fence} {plain} {fence}" if longest else f"`{plain}`"
