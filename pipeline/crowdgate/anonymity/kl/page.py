"""The page of a KL repository: each entry as a table of its facts."""

from collections.abc import Iterator

from crowdgate.anonymity.kl.query import MEANING, TITLES, attributes_text, entry_row, population_text
from crowdgate.anonymity.kl.reading import Repository, SignedEntry
from crowdgate.kind.section import Section, table_section
from crowdgate.number_text import Value
from crowdgate.report.report import Report


def repository_page(found: Repository) -> Report:
    """Return the page of a repository's entries."""
    count = len(found.entries)
    said = f"{count} {'entry' if count == 1 else 'entries'}, as of {found.date}."
    entries = [
        table_section(
            f"{attributes_text(each.entry)} ({population_text(each.entry)})",
            ("fact", "value"),
            [*_facts(each), ("signed by", ", ".join(each.signers))],
        )
        for each in found.entries
    ]
    return Report(f"KL entries of {found.place}", lambda: [Section("", [said, f"{MEANING}."]), *entries])


def _facts(each: SignedEntry) -> Iterator[tuple[str, Value]]:
    """Yield the names and values of an entry's facts; figures without a range are exact."""
    for name, value in zip(TITLES, entry_row(each), strict=True):
        yield name, "exact" if value == "" else value
