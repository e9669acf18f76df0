"""The page of an inference audit: its tables, and a chart for every secret."""

from collections.abc import Sequence

from crowdgate.audit.inference.attacks import ATTACKS
from crowdgate.audit.inference.baselines import BASELINES
from crowdgate.audit.inference.findings import InferenceEstimate
from crowdgate.audit.inference.secret_case import GROUPS
from crowdgate.audit.inference.text import QUESTIONS, Inferred, listings
from crowdgate.kind.section import Section
from crowdgate.report.chart import PlotLine, draw_lines
from crowdgate.report.svg import SvgPicture

SEEN = "Attacks see that and a release; baselines see that and the same table without the person."


def sections(found: Inferred) -> list[Section]:
    """Return the sections of an inference audit's page: answers to the four questions that Francis and Wagner ask."""
    setting, (*likely, attacks) = found.record.setting, listings(found)
    carried_out, learned, right, share = QUESTIONS
    attacked = f"Of everybody in one table it is known: {', '.join(setting.known)}; never what is asked. {SEEN}"
    secrets = [f"{name}, at the level {level}" for name, level in setting.secrets]
    return [
        Section(carried_out, [attacked], further=True),
        Section("", ["Attacks:"], [f"{name}: {summary}" for name, summary, _ in ATTACKS], further=True),
        Section("", ["Baselines:"], [f"{name}: {summary}" for name, summary, _ in BASELINES], further=True),
        Section(learned, points=secrets, further=True),
        Section(right, charts=True, listings=likely),
        Section(share, listings=[attacks]),
    ]


def charts(found: Inferred) -> list[SvgPicture]:
    """Return charts of precision against coverage beside the baselines, for every secret and group of targets."""
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
            f"attack on {name}, with its confidence limits",
            tuple((each.predicted, float(each.precision.value)) for each in own),
            tuple((float(each.precision.lower), float(each.precision.upper)) for each in own),
        ),
        PlotLine(
            "baseline, of the same people", tuple((each.predicted, float(each.base_of_these.value)) for each in own)
        ),
        PlotLine("baseline, of as many", tuple((each.predicted, float(each.base.value)) for each in own)),
    ]
