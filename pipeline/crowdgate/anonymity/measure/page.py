"""What was found as a page: Markdown, or the same as HTML with box plots, in one file that asks nobody for anything."""

from collections.abc import Sequence
from pathlib import Path

from crowdgate import report
from crowdgate.anonymity.measure.result import AnonymityResult
from crowdgate.anonymity.measure.text import levels_text, most_identifying, sentences, tables
from crowdgate.report.chart import BoxSummary, draw_boxes
from crowdgate.report.html import PICTURES, SvgPicture
from crowdgate.report.page_files import html_page, write_as
from crowdgate.risk.anonymity_sets import SizeSummary

TEMPLATE = "report/anonymity.md.j2"
GROUPINGS_IN_TABLES = 40
"""Groupings in a page's tables."""
GROUPINGS_IN_PICTURE = 12
"""Groupings in the picture."""
LABEL = "people in a set: least, quartiles, greatest"
MOST_BOXES = 40
"""Values of an attribute in the picture: those with the smallest medians."""


def write_anonymity_page(found: AnonymityResult, path: Path) -> None:
    """Write a new file: Markdown if its name ends in .md, HTML if in .html. Raises as `write_as`."""
    write_as(path, _title(found), lambda: anonymity_markdown(found), lambda: _pictures(found))


def anonymity_page(found: AnonymityResult) -> str:
    """The page as HTML."""
    return html_page(_title(found), lambda: anonymity_markdown(found), lambda: _pictures(found))


def _title(found: AnonymityResult) -> str:
    return f"Anonymity sets of {found.chosen.contract.id}"


def anonymity_markdown(found: AnonymityResult) -> str:
    """The page as Markdown."""
    shown = [each for each in tables(found, GROUPINGS_IN_TABLES) if each.rows]
    values = {"title": found.chosen.contract.id, "words": list(sentences(found)), "pictures": PICTURES, "tables": shown}
    return report.markdown(TEMPLATE, values)


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
