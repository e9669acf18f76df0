"""A membership audit as a page: Markdown, or the same as HTML with precision over recall."""

from fractions import Fraction
from pathlib import Path

from crowdgate import report
from crowdgate.audit.common.text import OUTCOMES, facts_of
from crowdgate.audit.inference.text import QUESTIONS
from crowdgate.audit.membership.games import Claimed
from crowdgate.audit.membership.text import (
    attack_listing,
    attack_summaries,
    membership_text,
    point_listing,
    precision_listing,
)
from crowdgate.report.chart import PlotLine, draw_lines
from crowdgate.report.html import PICTURES, SvgPicture
from crowdgate.report.page_files import write_as

TEMPLATE = "report/membership.md.j2"
DRAWN = (1, 30, 240, 2400)
"""Skews of the picture, with the policy's."""


def write_membership_page(found: Claimed, path: Path) -> None:
    """Write a new file: Markdown if its name ends in .md, HTML if in .html. Raises as `write_as`."""
    title = f"Membership audit of {found.record.setting.policy}"
    write_as(path, title, membership_markdown(found), lambda: _pictures(found))


def membership_markdown(found: Claimed) -> str:
    """The page as Markdown."""
    setting = found.record.setting
    first, *others = membership_text(found)
    values = {
        "title": f"{setting.policy}, version {setting.version}", "first": first,
        "outcome": OUTCOMES[found.findings.outcome],
        "words": others, "questions": QUESTIONS, "pictures": PICTURES, "described": attack_summaries(),
        "points": point_listing(found), "precision": precision_listing(found), "attacks": attack_listing(found),
        "notes": [(each.mechanism, each.note) for each in found.record.played if each.must != "judged"],
        "facts": facts_of(found.record),
    }  # fmt: skip
    return report.markdown(TEMPLATE, values)


def _pictures(found: Claimed) -> list[SvgPicture]:
    """Precision over recall, both axes logarithmic, beside what the guarantee allows."""
    setting, every = found.record.setting, [each for each in found.findings.estimates if each.tpr.value]
    lines = []
    for skew in sorted({*map(Fraction, DRAWN), setting.skew}):
        measured = [(float(each.tpr.value), float(each.precision(skew).value)) for each in every]
        allowed = [(float(each.tpr.value), each.allowed(setting, skew)) for each in every]
        lines += [PlotLine(f"1:{skew}", tuple(measured)), PlotLine(f"1:{skew}, allowed", tuple(allowed))]
    x_label = "recall: share of the members who are found"
    return [draw_lines(lines, x_label, "precision", "log", pairs=True)] if every else []
