"""A membership audit as a page: Markdown, or the same as HTML with precision over recall."""

from fractions import Fraction
from pathlib import Path

from crowdgate import report
from crowdgate.jobs.audit_words import OUTCOMES, facts_of
from crowdgate.jobs.inference.words import QUESTIONS
from crowdgate.jobs.member.job import Claimed
from crowdgate.jobs.member.words import (
    attack_listing,
    described,
    membership_words,
    point_listing,
    precision_listing,
)
from crowdgate.report.chart import Line, draw_lines
from crowdgate.report.html import PICTURES, Drawn
from crowdgate.report.written import write_as

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
    first, *others = membership_words(found)
    values = {
        "title": f"{setting.policy}, version {setting.version}", "first": first,
        "outcome": OUTCOMES[found.findings.outcome],
        "words": others, "questions": QUESTIONS, "pictures": PICTURES, "described": described(),
        "points": point_listing(found), "precision": precision_listing(found), "attacks": attack_listing(found),
        "notes": [(each.mechanism, each.note) for each in found.record.played if each.must != "judged"],
        "facts": facts_of(found.record),
    }  # fmt: skip
    return report.markdown(TEMPLATE, values)


def _pictures(found: Claimed) -> list[Drawn]:
    """Precision over recall, both axes logarithmic, beside what the guarantee allows."""
    setting, every = found.record.setting, [each for each in found.findings.estimates if each.tpr.value]
    lines = []
    for skew in sorted({*map(Fraction, DRAWN), setting.skew}):
        measured = [(float(each.tpr.value), float(each.precision(skew).value)) for each in every]
        allowed = [(float(each.tpr.value), each.allowed(setting, skew)) for each in every]
        lines += [Line(f"1:{skew}", tuple(measured)), Line(f"1:{skew}, allowed", tuple(allowed))]
    x_label = "recall: share of the members who are found"
    return [draw_lines(lines, x_label, "precision", "log", pairs=True)] if every else []
