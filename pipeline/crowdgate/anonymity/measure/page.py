"""Findings as a report: sentences, tables and box plots."""

from collections.abc import Iterator, Sequence

from crowdgate.anonymity.measure.result import AnonymityResult
from crowdgate.anonymity.measure.text import levels_text, most_identifying, sentences, tables
from crowdgate.kind.section import Section
from crowdgate.report.chart import BoxSummary, draw_boxes
from crowdgate.report.report import Report
from crowdgate.report.svg import SvgPicture
from crowdgate.risk.anonymity_sets import SizeSummary

SHOWN = 15
"""Greatest number of groupings in a table of the terminal."""
GROUPINGS_IN_TABLES = 40
"""Greatest number of groupings in a page's tables."""
GROUPINGS_IN_PICTURE = 12
"""Greatest number of groupings in the picture."""
LABEL = "people in a set: least, quartiles, greatest"
MOST_BOXES = 40
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
    return Report(title, lambda: list(_sections(found, most)), found.to_json, lambda: _pictures(found))


def _sections(found: AnonymityResult, most: int) -> Iterator[Section]:
    yield Section(sentences=list(sentences(found)), charts=True)
    yield from (Section(listings=[each]) for each in tables(found, most) if each.rows)
    yield Section("How to read this", [HOW_TO_READ], further=True)


def _pictures(found: AnonymityResult) -> Sequence[SvgPicture]:
    several = [
        _box(levels_text(each.levels), each.summary)
        for each in most_identifying(found, GROUPINGS_IN_PICTURE)
        if each.summary.sets
    ]
    drawn = [draw_boxes("Sizes of the sets that identify most", several, LABEL)] if several else []
    if found.chosen.by is not None and found.measured.by:
        name, level = found.chosen.by
        by = sorted(found.measured.by, key=lambda group: -(group.summary.median or 0))[-MOST_BOXES:]
        title = f"Sizes of the sets of all attributes together, by {levels_text({name: level.name})}"
        drawn.append(draw_boxes(title, [_box(each.value, each.summary) for each in by], LABEL))
    return drawn


def _box(name: str, summary: SizeSummary) -> BoxSummary:
    return BoxSummary(
        name, summary.least or 0, summary.lower or 0, summary.median or 0, summary.upper or 0, summary.most or 0
    )
