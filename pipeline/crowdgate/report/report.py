"""A report for people and programs: sections of sentences, tables and pictures.

One value is printed at a terminal, written as a page, and returned to programs.
"""

import html
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crowdgate.kind.band import Band
from crowdgate.kind.listing import Listing
from crowdgate.kind.picture import Picture
from crowdgate.kind.rule_row import in_order, rules_listing
from crowdgate.kind.section import Section, plain
from crowdgate.publish.pages import write_page
from crowdgate.report.blocks import PageBlock, markdown, page_blocks
from crowdgate.report.page_files import check_name, in_style, page_language
from crowdgate.report.pictures import picture_table
from crowdgate.system import permissions

_FRAME = 'style="width: 100%; height: 40rem; border: 1px solid #d7dee6"'


@dataclass(frozen=True, eq=False)
class Report:
    """A report whose parts are made when it is written: its sections, with the decimal mark in force; `data`, the
    object of `--json`, by default the sections.

    A terminal begins with `opening`, a page with its title. `access` is the access to the file of the page.
    """

    title: str
    sections: Callable[[], Sequence[Section]]
    data: Callable[[], dict[str, Any]] | None = None
    opening: str = ""
    links: dict[str, str] = field(default_factory=dict)
    """The files next to the page, by the cells that link to them."""
    access: permissions.Access = permissions.PAGE
    band: Callable[[], Band] | None = None
    """The band at the top of the page, by default its title."""

    def shown(self) -> Iterator[str | Listing]:
        """Yield the sentences and listings that a terminal shows, in order."""
        if self.opening:
            yield self.opening
        for section in self.sections():
            if not section.further:
                yield from (*map(plain, section.sentences), *section.points)
                yield from (rules_listing(in_order(section.rules)),) if section.rules else ()
                yield from (each for each in section.listings if not each.further)

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        if self.data is not None:
            return self.data()
        return {"outcome": "shown", "title": self.title, "sections": [*map(_section_json, self.sections())]}

    def markdown(self) -> str:
        """Return the page as Markdown."""
        return markdown(self._blocks())

    def html(self) -> str:
        """Return the page as HTML, with the language and the decimal mark of the working copy."""
        from crowdgate.report.html import as_html

        private = self.access is permissions.PRIVATE_PAGE
        return in_style(
            lambda: as_html(self._head_title(), self._blocks(), self.links, page_language(), private=private)
        )

    def _repr_html_(self) -> str:
        """Return the page for a notebook, in a frame that keeps its style apart; of a private page the title only, as
        notebooks are stored and shared."""
        if self.access is permissions.PRIVATE_PAGE:
            return f"<p>{html.escape(self.title)} (private: write it to a file)</p>"
        return f'<iframe srcdoc="{html.escape(self.html())}" title="{html.escape(self.title)}" {_FRAME}></iframe>'

    def write(self, path: Path) -> None:
        """Write the page as a new file: HTML with its pictures for a name in .html, Markdown for one in .md.

        Raises EnvironmentFault if the file exists or can't be written, ConfigurationError for another suffix.
        """
        check_name(path)
        write_page(path, in_style(self.markdown) if path.suffix == ".md" else self.html(), self.access)

    def _head_title(self) -> str:
        """Return the title of the window: the outcome first, if there is a band."""
        band = None if self.band is None else self.band()
        return self.title if band is None or not band.outcome else f"{band.outcome.capitalize()}: {self.title}"

    def _blocks(self) -> Iterator[PageBlock]:
        return page_blocks(self.title, self.sections(), None if self.band is None else self.band())


def _section_json(section: Section) -> dict[str, Any]:
    """Return a section as an object of JSON. Numbers of its tables are text, as on a page."""
    rules = [rules_listing(in_order(section.rules))] if section.rules else []
    tables = (*rules, *map(picture_table, section.pictures()), *section.listings)
    return {
        "heading": section.heading,
        "level": section.level,
        "sentences": [*map(plain, section.sentences)],
        "points": [*section.points],
        "tables": [{"title": each.title, "columns": each.titles, "rows": [*each.texts]} for each in tables],
    }


def short_report(
    title: str,
    words: Callable[[], Sequence[str]],
    listings: Sequence[Listing],
    about: dict[str, Any],
    pictures: Callable[[], Sequence[Picture]] = tuple,
    outcome: str = "predicted",
) -> Report:
    """Return a report of one plain sentence and notes on its basis (`words`), with pictures and listings.

    `about` describes the subject of the report in the object of `--json`.
    """

    def sections() -> list[Section]:
        sentence, *notes = words()
        return [Section("", [sentence], notes, pictures), *(Section(listings=[each]) for each in listings)]

    def data() -> dict[str, Any]:
        (sentence, *notes), rows = words(), {each.name: each.to_json() for each in listings}
        return {"outcome": outcome, **about, "plain": sentence, "notes": notes, **rows}

    return Report(title, sections, data)
