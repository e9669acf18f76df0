"""An audit as a page: Markdown, or the same as HTML with a chart, in one file that asks nobody for anything."""

from fractions import Fraction
from pathlib import Path

from crowdgate import report
from crowdgate.audit.common.text import OUTCOMES, facts_of
from crowdgate.audit.singling_out.findings import RateAtWeight, baseline_of
from crowdgate.audit.singling_out.games import SingledOut
from crowdgate.audit.singling_out.text import CONTROL_TITLES, TITLES, attacker_rows, audit_text, control_rows
from crowdgate.report.chart import MeasuredCurve, MeasuredShare, draw_curves
from crowdgate.report.html import PICTURES, SvgPicture
from crowdgate.report.page_files import write_as

TEMPLATE = "report/audit.md.j2"
DRAWN = 6
"""Attackers in the picture: the best ones, whose intervals can still be told apart."""
STEPS = 100
"""Of the baseline's curve."""


def write_audit_page(found: SingledOut, path: Path) -> None:
    """Write a new file: Markdown if its name ends in .md, HTML if in .html. Raises as `write_as`."""
    write_as(path, f"Audit of {found.record.setting.policy}", audit_markdown(found), lambda: [_picture(found)])


def audit_markdown(found: SingledOut) -> str:
    """The page as Markdown."""
    setting = found.record.setting
    values = {
        "title": f"{setting.policy}, version {setting.version}",
        "outcome": OUTCOMES[found.findings.outcome],
        "words": audit_text(found),
        "pictures": PICTURES,
        "titles": TITLES,
        "attackers": attacker_rows(found),
        "control_titles": CONTROL_TITLES,
        "controls": control_rows(found),
        "notes": [(each.mechanism, each.note) for each in found.record.controls],
        "facts": facts_of(found.record),
    }
    return report.markdown(TEMPLATE, values)


def _picture(found: SingledOut) -> SvgPicture:
    """Success against weight: the baseline, the limit, and the best attackers with their intervals."""
    setting, looking = found.record.setting, [line for line in found.findings.lines if not line.idle]
    best = sorted(looking, key=lambda line: -max(point.excess.value for point in line.points))[:DRAWN]
    curves = [MeasuredCurve(line.attacker, tuple(_mark(point) for point in line.points)) for line in best]
    least, most = float(min(setting.weights)), float(max(setting.weights))
    shown = [Fraction(least * (most / least) ** (at / STEPS)) for at in range(STEPS + 1)]
    base = [(float(weight), baseline_of(setting, setting.n, weight)) for weight in shown]
    limit = (float(setting.weight), found.findings.baseline + float(setting.limit))
    return draw_curves(curves, base, limit, "greatest weight of a predicate", "isolations, share of trials")


def _mark(point: RateAtWeight) -> MeasuredShare:
    return MeasuredShare(*map(float, (point.weight, point.rate.value, point.rate.lower, point.rate.upper)))
