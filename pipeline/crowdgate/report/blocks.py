"""The blocks of a page: Markdown text, and pictures that only HTML shows."""

import html
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from crowdgate.kind.band import Band
from crowdgate.kind.listing import Listing
from crowdgate.kind.picture import Picture
from crowdgate.kind.rule_row import in_order, rules_listing
from crowdgate.kind.section import Paragraph, Section
from crowdgate.report import paragraph_text, safe_cell
from crowdgate.report.band import band_html, band_markdown
from crowdgate.report.pictures import draw_picture, picture_table
from crowdgate.report.rule_table import rules_html
from crowdgate.report.svg import SvgPicture

_BEGINS_A_LIST = re.compile(r"^(\d{1,9}(?=[.)](?:\s|$))|(?=[-+=]+(?:\s|$)))")


@dataclass(frozen=True, eq=False)
class PageBlock:
    """A block of a page: a text as Markdown, or a picture without one. HTML folds a `folded` table, and shows an
    `element` in place of the text."""

    text: str = ""
    draw: Callable[[], SvgPicture] | None = None
    folded: bool = False
    element: Callable[[], str] | None = None


def page_blocks(title: str, sections: Iterable[Section], band: Band | None = None) -> Iterator[PageBlock]:
    """Yield the blocks of a page: its band, or its title alone, and its sections."""
    shown = Band("", title) if band is None else band
    yield PageBlock(band_markdown(shown), element=lambda: band_html(shown))
    below = "##"
    for each in sections:
        below = "###" if each.heading else below
        yield from _section(each, below)


def markdown(blocks: Iterable[PageBlock]) -> str:
    """Return a page as Markdown."""
    return "\n\n".join(block.text for block in blocks if block.text) + "\n"


def markdown_paragraph(said: Paragraph) -> str:
    """Return a paragraph as Markdown, with all markup escaped."""
    if isinstance(said, str):
        return _BEGINS_A_LIST.sub(r"\1\\", paragraph_text(said))
    return f"**{paragraph_text(said.lead)}** {paragraph_text(said.rest)}".rstrip()


def _section(section: Section, below: str) -> Iterator[PageBlock]:
    """Yield the blocks of a section, with pictures at the level `below`. A single listing under a heading has no title
    of its own."""
    if section.heading:
        yield _heading(section)
    yield from (PageBlock(markdown_paragraph(each)) for each in section.sentences)
    if section.points:
        yield PageBlock("\n".join(f"- {markdown_paragraph(each)}" for each in section.points))
    if rules := in_order(section.rules):
        yield PageBlock(markdown_table(rules_listing(rules)), element=lambda: rules_html(rules))
    pictures = section.pictures()
    for picture in pictures:
        yield from _picture(picture, below)
    alone = bool(section.heading) and len(section.listings) == 1 and not pictures
    for listing in section.listings:
        yield from _listing(listing, "" if alone else "###" if section.heading else "##")


def _heading(section: Section) -> PageBlock:
    text = f"{'#' * section.level} {paragraph_text(section.heading)}"
    annex = f'<h{section.level} class="annex">{html.escape(section.heading)}</h{section.level}>\n'
    return PageBlock(text, element=(lambda: annex) if section.annex else None)


def _picture(picture: Picture, level: str) -> Iterator[PageBlock]:
    yield PageBlock(f"{level} {paragraph_text(picture.title)}")
    yield PageBlock(draw=lambda: draw_picture(picture))
    limits = "; ".join(each.name for each in picture.limits)
    yield from (
        PageBlock(markdown_paragraph(each)) for each in (picture.note, f"Marked: {limits}." if limits else "") if each
    )
    yield PageBlock(markdown_table(picture_table(picture)), folded=True)


def _listing(listing: Listing, level: str) -> Iterator[PageBlock]:
    if level and listing.title:
        yield PageBlock(f"{level} {paragraph_text(_capital(listing.title))}")
    if listing.note:
        yield PageBlock(markdown_paragraph(_capital(listing.note).removesuffix(".") + "."))
    yield PageBlock(markdown_table(listing))


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def markdown_table(listing: Listing) -> str:
    """Return a listing as a Markdown table, with all markup escaped."""
    rows = [listing.titles, *listing.texts]
    first, *rest = (f"| {' | '.join(map(safe_cell, row))} |" for row in rows)
    return "\n".join([first, f"|{'|'.join(listing.sides)}|", *rest])
