"""Sections of a report as values: sentences, lists, tables and pictures under a heading."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from crowdgate.kind.listing import Column, Listing, text_listing
from crowdgate.kind.picture import Picture
from crowdgate.kind.rule_row import RuleRow
from crowdgate.number_text import Value


class Lead(NamedTuple):
    """A paragraph whose first words, `lead`, are bold on pages."""

    lead: str
    rest: str = ""


Paragraph = str | Lead


@dataclass(frozen=True, eq=False)
class Section:
    """A part of a report, in this order: paragraphs, points of a list, rules, pictures, listings.

    A `further` section is only for pages; a terminal shows no headings. `level` is that of the heading: 2, or 3 for a
    part of the section before. An `annex` begins on a new printed page.
    """

    heading: str = ""
    sentences: Sequence[Paragraph] = ()
    points: Sequence[str] = ()
    pictures: Callable[[], Sequence[Picture]] = tuple
    listings: Sequence[Listing] = ()
    further: bool = False
    level: int = 2
    rules: Sequence[RuleRow] = ()
    annex: bool = False


ANNEX = Section("Annex", ["Details for experts, and for checking what stands above."], further=True, annex=True)
"""The heading after two printed pages."""


def table_section(heading: str, columns: Sequence[Column], rows: Iterable[Iterable[Value]]) -> Section:
    """Return a section with these rows as a table under the heading; without rows with the word "None."."""
    listing = text_listing(heading, columns, rows)
    return Section(heading, listings=[listing]) if listing.rows else Section(heading, ["None."])


def paragraph(*sentences: str | None) -> str:
    """Return the sentences, without empty ones, as one paragraph."""
    return " ".join(filter(None, sentences))


def plain(said: Paragraph) -> str:
    """Return a paragraph without its emphasis."""
    return said if isinstance(said, str) else paragraph(*said)
