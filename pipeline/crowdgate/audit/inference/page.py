"""The page of an inference audit: its tables, and pictures for every secret."""

from collections.abc import Iterator, Sequence

from crowdgate.audit.inference.attacks import ATTACKS
from crowdgate.audit.inference.baselines import BASELINES
from crowdgate.audit.inference.findings import InferenceEstimate
from crowdgate.audit.inference.secret_case import GROUPS
from crowdgate.audit.inference.text import QUESTIONS, Inferred, listings
from crowdgate.kind.picture import Picture, PicturePoint, Series, curve
from crowdgate.kind.section import ANNEX, Section
from crowdgate.number_text import format_value

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
        ANNEX,
        Section(right, pictures=lambda: _pictures(found), listings=likely),
        Section(share, listings=[attacks]),
    ]


def _pictures(found: Inferred) -> list[Picture]:
    """Return pictures of precision against coverage beside the baselines, for every secret and group of targets."""
    pictures = []
    for name, _ in found.record.setting.secrets:
        for group in GROUPS:
            own = [each for each in found.findings.estimates if (each.secret, each.group) == (name, group)]
            if len(own) == 1:
                pictures.append(_at_one_coverage(name, group, own[0]))
            elif own:
                title, x = f"Guesses of {name} ({group})", "coverage: share of people for whom a guess is made"
                series = tuple(_series(name, own))
                pictures.append(Picture(f"{name} {group}", title, x, "precision", series, (), "log", "near"))
    return pictures


def _at_one_coverage(name: str, group: str, own: InferenceEstimate) -> Picture:
    """Return a picture of one coverage: the attack and the baselines below one another."""
    rate = own.precision
    points = (
        PicturePoint("attack", *map(float, (rate.value, rate.lower, rate.upper))),
        PicturePoint("baseline, of the same people", float(own.base_of_these.value)),
        PicturePoint("baseline, of as many", float(own.base.value)),
    )
    whom = "everybody" if own.predicted == 1 else f"a share of {format_value(own.predicted)} of people"
    title = f"Guesses of {name} ({group}), for {whom}"
    return Picture(f"{name} {group}", title, "guesses", "precision", (Series(name, points),), value_scale="near")


def _series(name: str, own: Sequence[InferenceEstimate]) -> Iterator[Series]:
    rates = (each.precision for each in own)
    judged = zip(own, rates, strict=True)
    points = (PicturePoint(each.predicted, *map(float, (at.value, at.lower, at.upper))) for each, at in judged)
    yield Series(f"attack on {name}, with its confidence limits", tuple(points), "joined")
    yield curve("baseline, of the same people", ((each.predicted, float(each.base_of_these.value)) for each in own))
    yield curve("baseline, of as many", ((each.predicted, float(each.base.value)) for each in own))
