"""The blocks of a page as one HTML file: no external links, no scripts, and no raw HTML of the Markdown."""

import html
import logging
import re
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from crowdgate.report.blocks import PageBlock

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

FRAME = Path(__file__).with_name("page.html")
_OUTCOME = re.compile(r"(pass|fail|inconclusive)\b")
_FOLD = "<details><summary>The same in numbers</summary>\n{}</details>\n"


def as_html(title: str, blocks: Iterable[PageBlock], links: Mapping[str, str] | None = None, lang: str = "en") -> str:
    """Return a page as HTML, declared in the language `lang`, with its pictures.

    Cells whose whole text is in `links` link to files next to the page.
    """
    body = "".join(_block(block, links or {}) for block in blocks)
    return Template(FRAME.read_text(encoding="utf-8")).substitute(title=html.escape(title), body=body, lang=lang)


def _block(block: PageBlock, links: Mapping[str, str]) -> str:
    if block.draw is not None:
        return block.draw().figure
    reader = _reader()
    tokens = reader.parse(block.text)
    for opening, inside in pairwise(tokens):
        if opening.type == "td_open" and not opening.attrs:
            _edit_cell(opening, inside, links)
    text = reader.renderer.render(tokens, reader.options, {})
    return _FOLD.format(text) if block.folded else text


@cache
def _reader() -> "MarkdownIt":
    """Return a reader of Markdown without links, images and raw HTML. Wide tables can be scrolled with keys."""
    from markdown_it import MarkdownIt

    logging.getLogger("markdown_it").setLevel(logging.INFO)  # at DEBUG it logs its position on the page
    reader = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
    reader.disable(["link", "image", "autolink"])
    reader.add_render_rule("table_open", lambda *_: '<div class="table" tabindex="0"><table>\n')
    reader.add_render_rule("table_close", lambda *_: "</table></div>\n")
    return reader


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
