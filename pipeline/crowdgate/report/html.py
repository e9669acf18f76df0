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


PRIVATE = '<p class="private">PRIVATE: for the custodian only</p>\n'
_PRIVATE_MARK = "@page { @top-center { content: 'PRIVATE: for the custodian only'; color: #8f1414; font-weight: 700 } }"


def as_html(
    title: str,
    blocks: Iterable[PageBlock],
    links: Mapping[str, str] | None = None,
    lang: str = "en",
    *,
    private: bool = False,
) -> str:
    """Return a page as HTML, declared in the language `lang`, with its pictures.

    Cells whose whole text is in `links` link to files next to the page. A `private` page states that on top and on
    every printed page.
    """
    first, *rest = (_block(block, links or {}) for block in blocks)
    head = first if first.startswith('<div class="band') else ""
    shown = (PRIVATE if private else "") + head
    values = {
        "title": html.escape(title), "lang": lang, "head": f"<header>\n{shown}</header>\n" if shown else "",
        "body": "".join(rest if head else [first, *rest]), "mark": _PRIVATE_MARK if private else "",
    }  # fmt: skip
    return Template(FRAME.read_text(encoding="utf-8")).substitute(values)


def _block(block: PageBlock, links: Mapping[str, str]) -> str:
    if block.draw is not None:
        return block.draw().figure
    if block.element is not None:
        return block.element()
    reader = _reader()
    tokens = reader.parse(block.text)
    heads: list[str] = []
    column = 0
    for opening, inside in pairwise(tokens):
        column = 0 if opening.type == "tr_open" else column
        if opening.type == "table_open":
            heads = []
        elif opening.type == "th_open":
            heads.append(_text(inside))
            if inside.content:
                opening.attrSet("scope", "col")
            else:
                opening.tag = "td"
        elif inside.type == "th_close" and not opening.content:
            inside.tag = "td"
        elif opening.type == "td_open":
            if not opening.attrs:
                _edit_cell(opening, inside, links)
            if column < len(heads) and heads[column]:
                opening.attrSet("data-label", heads[column])
            column += 1
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


def _text(inline: "Token") -> str:
    """Return the text of an inline token without its markup."""
    return "".join(each.content for each in inline.children or [])


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
