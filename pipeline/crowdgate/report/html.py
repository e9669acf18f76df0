"""A Markdown page as one HTML file: no external links, no scripts, and no raw HTML of the Markdown."""

import html
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from crowdgate import report

if TYPE_CHECKING:
    from markdown_it.token import Token

TEMPLATE = "report/page.html.j2"
PICTURES = "<!-- pictures -->"
NUMBERS = "<!-- numbers -->"
"""The mark before a table that belongs to a picture: HTML folds the table."""
_MARK = re.compile(r"^<!-- [a-z0-9_ -]+ -->$", re.MULTILINE)
_OUTCOME = re.compile(r"(pass|fail|inconclusive)\b")
_TABLE, _TABLE_END = '<div class="table" tabindex="0"><table>\n', "</table></div>"
"""The markup of a table; a wide one can be scrolled with keys."""
_FOLD, _FOLD_END = "<details><summary>The same in numbers</summary>\n", "</details>"


@dataclass(frozen=True)
class SvgPicture:
    """A picture as SVG, with its text for readers who can't see it (`alt`), and the mark of its place on the page."""

    svg: str
    alt: str
    mark: str = PICTURES

    @property
    def figure(self) -> str:
        """The picture as an element of HTML."""
        told = f'<svg role="img" aria-label="{html.escape(self.alt)}"'
        return f"<figure>{self.svg.replace('<svg', told, 1)}</figure>"


def mark(name: str) -> str:
    """Return the mark, an HTML comment, of the place on a Markdown page where a picture of this name stands."""
    return f"<!-- {name} -->"


def without_marks(page: str) -> str:
    """Return a Markdown page without the marks of pictures and tables, for readers."""
    return re.sub(r"\n{3,}", "\n\n", _MARK.sub("", page))


def as_html(
    title: str,
    page: str,
    pictures: Sequence[SvgPicture] = (),
    links: Mapping[str, str] | None = None,
    lang: str = "en",
) -> str:
    """Return the page as HTML, declared in the language `lang`, with pictures at their marks.

    Cells whose whole text is in `links` link to files next to the page.
    """
    from markdown_it import MarkdownIt

    logging.getLogger("markdown_it").setLevel(logging.INFO)  # at DEBUG it logs its position on the page
    reader = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
    reader.disable(["link", "image", "autolink"])
    tokens = reader.parse(page)
    for opening, inside in pairwise(tokens):
        if opening.type == "td_open" and not opening.attrs:
            _edit_cell(opening, inside, links or {})
    figures = {each.mark: "".join(one.figure for one in pictures if one.mark == each.mark) for each in pictures}
    body = reader.renderer.render(list(_blocks(tokens, figures)), reader.options, {})
    return report.render(TEMPLATE, {"title": html.escape(title), "body": body, "lang": lang})


def _edit_cell(cell: "Token", inside: "Token", links: Mapping[str, str]) -> None:
    """Give a table's cell the class of the outcome that it begins with, or make it a link if its whole text is in
    `links`."""
    from markdown_it.token import Token

    words = inside.children or []
    if found := _OUTCOME.match(inside.content):
        cell.attrSet("class", found[1])
    elif len(words) == 1 and words[0].type == "text" and words[0].content in links:
        link = Token("link_open", "a", 1, attrs={"href": links[words[0].content]})
        inside.children = [link, *words, Token("link_close", "a", -1)]


def _blocks(tokens: "Sequence[Token]", figures: Mapping[str, str]) -> "Iterator[Token]":
    """Yield the tokens of a page with figures in place of their marks, and each table in a frame; a table after the
    mark `NUMBERS` is folded."""
    marks = {
        at: each.content
        for at, each in enumerate(tokens)
        if tokens[at - 1].type == "paragraph_open" and _MARK.fullmatch(each.content)
    }
    folded = False
    for at, token in enumerate(tokens):
        if at in marks:
            yield _as_it_is(figures.get(marks[at], ""))
        elif token.type == "table_open":
            folded = marks.get(at - 2) == NUMBERS
            yield _as_it_is((_FOLD if folded else "") + _TABLE)
        elif token.type == "table_close":
            yield _as_it_is(f"{_TABLE_END}{_FOLD_END if folded else ''}\n")
        elif not {at - 1, at + 1} & marks.keys():  # no paragraph around a mark
            yield token


def _as_it_is(text: str) -> "Token":
    from markdown_it.token import Token

    return Token("html_block", "", 0, content=text)
