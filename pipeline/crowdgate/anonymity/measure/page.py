"""Findings as a report: sentences, tables and pictures."""

from collections.abc import Iterator, Sequence

from crowdgate.anonymity.measure.result import AnonymityResult
from crowdgate.anonymity.measure.text import levels_text, most_identifying, sentences, tables
from crowdgate.kind.picture import Picture, PicturePoint, Series, curve
from crowdgate.kind.section import ANNEX, Section
from crowdgate.number_text import COUNT
from crowdgate.report.report import Report
from crowdgate.risk.anonymity_sets import SizeSummary

SHOWN = 15
"""Greatest number of groupings in a table of the terminal."""
GROUPINGS_IN_TABLES = 40
"""Greatest number of groupings in a page's tables."""
GROUPINGS_IN_PICTURE = 12
"""Greatest number of groupings in the picture."""
MOST_VALUES = 40
"""Greatest number of an attribute's values in the picture: those with the smallest medians."""
HOW_TO_READ = (
    "An anonymity set is everybody who shares a combination of values; its size is called k. A person who is unique"
    " (k = 1) can be found by anybody who knows these values. Quartiles and means are taken over sets, so a large"
    " set counts as much as a small one: a median of 3 says that half of the sets hold at most three people."
    " Quartiles lie between two sizes where these fall between them (type 7 of R's quantile). A level says how"
    " coarse an attribute is; exact is as the table has it."
)


def anonymity_report(found: AnonymityResult, most: int = GROUPINGS_IN_TABLES) -> Report:
    """Return the findings of `crowdgate anonymity` as a report, with at most `most` sets of attributes in a table."""
    title = f"Anonymity sets of {found.chosen.contract.id}"
    return Report(title, lambda: list(_sections(found, most)), found.to_json)


def _sections(found: AnonymityResult, most: int) -> Iterator[Section]:
    yield Section(sentences=list(sentences(found)), pictures=lambda: _pictures(found))
    yield Section("How to read this", [HOW_TO_READ], further=True)
    yield ANNEX
    yield from (Section(listings=[each]) for each in tables(found, most) if each.rows)


def _pictures(found: AnonymityResult) -> list[Picture]:
    several = [
        (levels_text(each.levels), each.summary)
        for each in most_identifying(found, GROUPINGS_IN_PICTURE)
        if each.summary.sets
    ]
    drawn = [_sizes("sets", "Sizes of the sets that identify most", "attributes", several)] if several else []
    if found.chosen.by is not None and found.measured.by:
        name, level = found.chosen.by
        by = sorted(found.measured.by, key=lambda group: -(group.summary.median or 0))[-MOST_VALUES:]
        title = f"Sizes of the sets of all attributes together, by {levels_text({name: level.name})}"
        drawn.append(_sizes("by", title, name, [(each.value, each.summary) for each in by]))
    return drawn


def _sizes(name: str, title: str, place: str, summaries: Sequence[tuple[str, SizeSummary]]) -> Picture:
    medians = tuple(PicturePoint(at, each.median or 0, each.lower or 0, each.upper or 0) for at, each in summaries)
    series = (
        Series("median, with the quartiles", medians),
        curve("least", ((at, each.least or 0) for at, each in summaries), "marked"),
        curve("greatest", ((at, each.most or 0) for at, each in summaries), "marked"),
    )
    return Picture(name, title, place, "people in a set", series, value_scale="log", format=COUNT)
