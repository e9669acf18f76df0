"""The page of an inference audit: its tables, and a chart for every secret."""

from collections.abc import Mapping, Sequence
from typing import Any

from crowdgate.audit.inference.attacks import ATTACKS
from crowdgate.audit.inference.baselines import BASELINES
from crowdgate.audit.inference.findings import InferenceEstimate
from crowdgate.audit.inference.secret_case import GROUPS
from crowdgate.audit.inference.text import QUESTIONS, Inferred, listings
from crowdgate.report.chart import PlotLine, draw_lines
from crowdgate.report.html import SvgPicture


def page_fields(found: Inferred) -> Mapping[str, Any]:
    """Values of the page's template."""
    *likely, attacks = listings(found)
    described = {
        "Attacks": [(name, summary) for name, summary, _ in ATTACKS],
        "Baselines": [(name, summary) for name, summary, _ in BASELINES],
    }
    return {
        "questions": QUESTIONS, "likely": likely, "attacks": attacks, "described": described.items(),
        "known": found.record.setting.known, "secrets": found.record.setting.secrets,
    }  # fmt: skip


def pictures(found: Inferred) -> list[SvgPicture]:
    """Precision against coverage beside the baselines, for every secret and group of targets."""
    pictures = []
    for name, _ in found.record.setting.secrets:
        for group in GROUPS:
            own = [each for each in found.findings.estimates if (each.secret, each.group) == (name, group)]
            if own:
                x = f"coverage: share of people for whom a guess is made ({group})"
                pictures.append(draw_lines(_lines(name, own), x, "precision", "near"))
    return pictures


def _lines(name: str, own: Sequence[InferenceEstimate]) -> list[PlotLine]:
    return [
        PlotLine(
            f"attack on {name}, with its ends",
            tuple((each.predicted, float(each.precision.value)) for each in own),
            tuple((float(each.precision.lower), float(each.precision.upper)) for each in own),
        ),
        PlotLine(
            "baseline, of the same people", tuple((each.predicted, float(each.base_of_these.value)) for each in own)
        ),
        PlotLine("baseline, of as many", tuple((each.predicted, float(each.base.value)) for each in own)),
    ]
