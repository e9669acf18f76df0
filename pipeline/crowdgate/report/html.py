"""A Markdown page as one HTML file: no links to anywhere, no scripts, and no HTML that stood in the Markdown."""

import html
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crowdgate import report

TEMPLATE = "report/page.html.j2"
PICTURES = "<!-- pictures -->"
NUMBERS = "<!-- numbers -->"
"""Before a table that stands behind a picture: HTML folds it."""
_MARK = re.compile(r"^<!-- ([a-z0-9_ -]+) -->$", re.MULTILINE)
_TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
_FOLDED = re.compile(r"<p>\ue000numbers\ue001</p>\s*(<div class=\"table\" tabindex=\"0\">.*?</div>)", re.DOTALL)
_PLACE = re.compile(r"<p>\ue000([a-z0-9_ -]+)\ue001</p>\n?")
_OUTCOME = re.compile(r"<td>((pass|fail|inconclusive)\b)")


@dataclass(frozen=True)
class SvgPicture:
    """A picture as SVG, what it shows in words for whoever can't see it, and the mark of the page where it stands."""

    svg: str
    alt: str
    mark: str = PICTURES

    @property
    def figure(self) -> str:
        """The picture in HTML."""
        told = f'<svg role="img" aria-label="{html.escape(self.alt)}"'
        return f"<figure>{self.svg.replace('<svg', told, 1)}</figure>"


def mark(name: str) -> str:
    """The mark of a picture's place on a page."""
    return f"<!-- {name} -->"


def without_marks(page: str) -> str:
    """The page as Markdown for people, without marks."""
    return re.sub(r"\n{3,}", "\n\n", _MARK.sub("", page))


def as_html(title: str, page: str, pictures: Sequence[SvgPicture] = (), links: Mapping[str, str] | None = None) -> str:
    """The page; pictures stand at their marks. Cells whose whole text is in `links` lead to files beside the page."""
    from markdown_it import MarkdownIt

    logging.getLogger("markdown_it").setLevel(logging.INFO)  # below, it tells where on the page it is
    reader = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
    reader.disable(["link", "image", "autolink"])
    body = _tables(reader.render(_MARK.sub("\ue000\\1\ue001", page)))
    figures = {each.mark: "".join(one.figure for one in pictures if one.mark == each.mark) for each in pictures}
    return report.render(
        TEMPLATE, {"title": html.escape(title), "body": _linked(_insert_figures(body, figures), links or {})}
    )


def _linked(body: str, links: Mapping[str, str]) -> str:
    for text, file in links.items():
        told = html.escape(text)
        body = body.replace(f"<td>{told}</td>", f'<td><a href="{html.escape(file)}">{told}</a></td>')
    return body


def _tables(body: str) -> str:
    """Tables that can be scrolled with keys where they are too wide, outcomes coloured."""
    wrapped = _TABLE.sub(lambda found: f'<div class="table" tabindex="0">{found[0]}</div>', body)
    return _OUTCOME.sub(r'<td class="\2">\1', wrapped)


def _insert_figures(body: str, figures: Mapping[str, str]) -> str:
    folded = _FOLDED.sub(r"<details><summary>The same in numbers</summary>\n\1</details>", body)
    return _PLACE.sub(lambda found: figures.get(mark(found[1]), ""), folded)
