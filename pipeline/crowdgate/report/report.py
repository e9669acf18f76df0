"""A report as people and programs read it: a plain sentence, what it rests on, tables, pictures. Commands print it, and
write it as a page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdgate import report
from crowdgate.kind.listing import Listing
from crowdgate.report.html import PICTURES, SvgPicture
from crowdgate.report.page_files import write_as

TEMPLATE = "report/report.md.j2"


@dataclass(frozen=True, eq=False)
class Report:
    """All sentences, listings and pictures of a report; `about` is what it is of, for programs."""

    title: str
    sentence: str
    notes: tuple[str, ...]
    listings: tuple[Listing, ...]
    about: dict[str, Any]
    pictures: Callable[[], Sequence[SvgPicture]] = tuple
    outcome: str = "predicted"

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        rows = {each.name: each.to_json() for each in self.listings}
        return {"outcome": self.outcome, **self.about, "plain": self.sentence, "notes": list(self.notes), **rows}

    def markdown(self) -> str:
        """The page as Markdown."""
        values = {"title": self.title, "sentence": self.sentence, "notes": self.notes, "listings": self.listings}
        return report.markdown(TEMPLATE, {**values, "pictures": PICTURES})

    def write(self, path: Path) -> None:
        """Write the page as a new file: HTML with its pictures, or Markdown (.md). Raises as `write_as`."""
        write_as(path, self.title, self.markdown, self.pictures)
