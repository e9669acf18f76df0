"""The page of a membership audit: its tables, and precision over recall."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from crowdgate.audit.inference.text import QUESTIONS
from crowdgate.audit.membership.attacks import ATTACKS
from crowdgate.audit.membership.text import Claimed, attack_listing, point_listing, precision_listing
from crowdgate.report.chart import PlotLine, draw_lines
from crowdgate.report.html import SvgPicture

DRAWN = (1, 30, 240, 2400)
"""Skews of the picture, with the policy's."""


def page_fields(found: Claimed) -> Mapping[str, Any]:
    """Values of the page's template."""
    return {
        "questions": QUESTIONS, "described": [(name, summary) for name, summary, _ in ATTACKS],
        "points": point_listing(found), "precision": precision_listing(found), "attacks": attack_listing(found),
    }  # fmt: skip


def pictures(found: Claimed) -> list[SvgPicture]:
    """Precision over recall, both axes logarithmic, beside what the guarantee allows."""
    setting, every = found.record.setting, [each for each in found.findings.estimates if each.tpr.value]
    lines = []
    for skew in sorted({*map(Fraction, DRAWN), setting.skew}):
        measured = [(float(each.tpr.value), float(each.precision(skew).value)) for each in every]
        allowed = [(float(each.tpr.value), each.allowed(setting, skew)) for each in every]
        lines += [PlotLine(f"1:{skew}", tuple(measured)), PlotLine(f"1:{skew}, allowed", tuple(allowed))]
    x_label = "recall: share of the members who are found"
    return [draw_lines(lines, x_label, "precision", "log", pairs=True)] if every else []
