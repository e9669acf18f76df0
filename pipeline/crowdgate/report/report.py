"""A report for people and programs: sections of sentences, tables and pictures.

One value is printed at a terminal, written as a page, and returned to programs.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crowdgate import report
from crowdgate.kind.listing import Column, Listing, text_listing
from crowdgate.kind.picture import Picture
from crowdgate.number_text import Value
from crowdgate.report.html import PICTURES, SvgPicture
from crowdgate.report.page_files import html_page, write_as
from crowdgate.report.pictures import draw_all, picture_values

TEMPLATE = "report/report.md.j2"


@dataclass(frozen=True, eq=False)
class Section:
    """A part of a report, in this order: sentences, points of a list, pictures, listings.

    `charts`: the charts of the report are drawn in this section. A `further` section is only for pages; a terminal
    shows no headings.
    """

    heading: str = ""
    sentences: Sequence[str] = ()
    points: Sequence[str] = ()
    pictures: Callable[[], Sequence[Picture]] = tuple
    listings: Sequence[Listing] = ()
    charts: bool = False
    further: bool = False

    def values(self) -> dict[str, object]:
        """Return the values of the section for the page template, by name. A single listing under a heading has no
        title of its own."""
        pictures = [picture_values(each) for each in self.pictures()]
        alone = bool(self.heading) and len(self.listings) == 1 and not pictures
        return {
            "heading": self.heading, "sentences": self.sentences, "points": self.points,
            "pictures": pictures, "listings": self.listings,
            "charts": PICTURES if self.charts else "", "titles": "" if alone else "###" if self.heading else "##",
        }  # fmt: skip


def table_section(heading: str, columns: Sequence[Column], rows: Iterable[Iterable[Value]]) -> Section:
    """Return a section with these rows as a table under the heading; without rows with the word "None."."""
    listing = text_listing(heading, columns, rows)
    return Section(heading, listings=[listing]) if listing.rows else Section(heading, ["None."])


@dataclass(frozen=True, eq=False)
class Report:
    """A report whose parts are made when it is written: its sections, with the decimal mark in force; `data`, the
    object of `--json` (empty for a report that is only a page); and charts.

    A terminal begins with `opening`, a page with its title.
    """

    title: str
    sections: Callable[[], Sequence[Section]]
    data: Callable[[], dict[str, Any]] = dict
    charts: Callable[[], Sequence[SvgPicture]] = tuple
    opening: str = ""
    links: dict[str, str] = field(default_factory=dict)
    """The files next to the page, by the cells that link to them."""

    def shown(self) -> Iterator[str | Listing]:
        """Yield the sentences and listings that a terminal shows, in order."""
        if self.opening:
            yield self.opening
        for section in self.sections():
            if not section.further:
                yield from (*section.sentences, *section.points)
                yield from (each for each in section.listings if not each.further)

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        return self.data()

    def markdown(self) -> str:
        """Return the page as Markdown."""
        values = {"title": self.title, "sections": [section.values() for section in self.sections()]}
        return report.markdown(TEMPLATE, values)

    def html(self) -> str:
        """Return the page as HTML."""
        return html_page(self.title, self.markdown, self._drawn, self.links)

    def write(self, path: Path) -> None:
        """Write the page as a new file: HTML with its pictures, or Markdown (.md). Raises as `write_as`."""
        write_as(path, self.title, self.markdown, self._drawn, links=self.links)

    def _drawn(self) -> list[SvgPicture]:
        return [*self.charts(), *draw_all([each for section in self.sections() for each in section.pictures()])]


def short_report(
    title: str,
    words: Callable[[], Sequence[str]],
    listings: Sequence[Listing],
    about: dict[str, Any],
    charts: Callable[[], Sequence[SvgPicture]] = tuple,
    outcome: str = "predicted",
) -> Report:
    """Return a report of one plain sentence and notes on its basis (`words`), with charts and listings.

    `about` describes the subject of the report in the object of `--json`.
    """

    def sections() -> list[Section]:
        sentence, *notes = words()
        return [Section("", [sentence], notes, charts=True), *(Section(listings=[each]) for each in listings)]

    def data() -> dict[str, Any]:
        (sentence, *notes), rows = words(), {each.name: each.to_json() for each in listings}
        return {"outcome": outcome, **about, "plain": sentence, "notes": notes, **rows}

    return Report(title, sections, data, charts)
