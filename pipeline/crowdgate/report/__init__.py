"""Pages that a person reads: Markdown from templates, and HTML from the same Markdown. Handed a kind's page, it knows
none."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jinja2

    from crowdgate.kind.listing import Listing

ROOT = Path(__file__).parent.parent
"""Templates are named by their path below the package: a kind's own lie in its folder."""


def markdown(template: str, values: Mapping[str, object]) -> str:
    """The page as Markdown. Raises an error of jinja2's for a value that the template needs and is not given."""
    return render(template, values).rstrip() + "\n"


def render(template: str, values: Mapping[str, object]) -> str:
    """What a template makes of the values, which it takes as they are."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> "jinja2.Environment":
    import jinja2

    loader = jinja2.FileSystemLoader(ROOT)
    settings = {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}
    made = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, autoescape=False, **settings)  # type: ignore[arg-type]
    made.filters |= {
        "cell": cell, "safe_cell": safe_cell, "code": code, "text": line, "words": paragraph_text,
        "table": markdown_table,
    }  # fmt: skip
    return made


def markdown_table(listing: "Listing") -> str:
    """A listing as a Markdown table, of which nothing is markup."""
    rows = [listing.titles, *listing.texts]
    first, *rest = (f"| {' | '.join(map(safe_cell, row))} |" for row in rows)
    return "\n".join([first, f"|{'|'.join(listing.sides)}|", *rest])


def line(value: object) -> str:
    """Text on one line."""
    return " ".join(str(value).split())


def paragraph_text(value: object) -> str:
    """Text on one line in a Markdown paragraph, of which nothing is markup."""
    return re.sub(r"([\\`*_\[\]<>#|~!&])", r"\\\1", line(value))


def cell(value: object) -> str:
    """Text for a Markdown table: column names may hold bars and line ends."""
    return line(str(value).replace("\\", "\\\\").replace("|", "\\|"))


def safe_cell(value: object) -> str:
    """The same, of which nothing is markup: text that others wrote."""
    return re.sub(r"([`*\[\]<>&~]|(?<!\w)_|_(?!\w))", r"\\\1", cell(value))


def code(value: object) -> str:
    """Text on one line as code, which may be anything."""
    plain = line(value)
    longest = max(map(len, re.findall("`+", plain)), default=0)
    fence = "`" * (1 + longest)
    return f"{fence} {plain} {fence}" if longest else f"`{plain}`"
