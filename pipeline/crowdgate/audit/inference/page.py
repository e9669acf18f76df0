"""An inference audit as a page: Markdown, or the same as HTML with a chart for every secret."""

from collections.abc import Sequence
from pathlib import Path

from crowdgate import report
from crowdgate.audit.common.text import OUTCOMES, facts_of
from crowdgate.audit.inference.findings import InferenceEstimate
from crowdgate.audit.inference.games import Inferred
from crowdgate.audit.inference.secret_case import GROUPS
from crowdgate.audit.inference.text import QUESTIONS, STARRED, attack_summaries, inference_listings, inference_text
from crowdgate.report.chart import PlotLine, draw_lines
from crowdgate.report.html import PICTURES, SvgPicture
from crowdgate.report.page_files import write_as

TEMPLATE = "report/inference.md.j2"


def write_inference_page(found: Inferred, path: Path) -> None:
    """Write a new file: Markdown if its name ends in .md, HTML if in .html. Raises as `write_as`."""
    write_as(
        path, f"Inference audit of {found.record.setting.policy}", inference_markdown(found), lambda: _pictures(found)
    )


def inference_markdown(found: Inferred) -> str:
    """The page as Markdown."""
    setting = found.record.setting
    *likely, attacks = inference_listings(found)
    first, _, *others = inference_text(found)
    values = {
        "title": f"{setting.policy}, version {setting.version}", "first": first,
        "outcome": OUTCOMES[found.findings.outcome],
        "words": others, "starred": STARRED, "questions": QUESTIONS, "pictures": PICTURES, "likely": likely,
        "attacks": attacks,
        "described": attack_summaries(), "known": setting.known, "secrets": setting.secrets,
        "notes": [(each.mechanism, each.note) for each in found.record.played if each.must != "judged"],
        "facts": facts_of(found.record),
    }  # fmt: skip
    return report.markdown(TEMPLATE, values)


def _pictures(found: Inferred) -> list[SvgPicture]:
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
