"""The page of a membership audit: its tables, and a picture of precision over recall."""

from fractions import Fraction

from crowdgate.audit.inference.text import QUESTIONS
from crowdgate.audit.membership.attacks import ATTACKS
from crowdgate.audit.membership.text import Claimed, attack_listing, point_listing, precision_listing
from crowdgate.kind.picture import Picture, curve
from crowdgate.kind.section import ANNEX, Section

LEARNED = "Membership in the table that a release was made of."
SCORED = (
    "Each attack scores every unit of the population by one release and claims a share of the population that is fixed"
    " beforehand. At each share the attack is reported that found most members in every tenth release; figures are of"
    " the others."
)
DRAWN = (1, 30, 240, 2400)
"""Skews in the picture, in addition to the policy's."""


def sections(found: Claimed) -> list[Section]:
    """Return the sections of a membership audit's page: answers to the four questions about every attack."""
    carried_out, learned, right, share = QUESTIONS
    judged, every = precision_listing(found, judged=True), precision_listing(found)
    return [
        Section(carried_out, points=[f"{name}: {summary}" for name, summary, _ in ATTACKS], further=True),
        Section("", [SCORED], further=True),
        Section(learned, [LEARNED], listings=[point_listing(found)]),
        ANNEX,
        Section(right, pictures=lambda: _pictures(found), listings=[judged, every]),
        Section(share, listings=[attack_listing(found)]),
    ]


def _pictures(found: Claimed) -> list[Picture]:
    """Return a picture of precision over recall, both axes logarithmic, with the precision that the guarantee allows;
    none if no attack finds a member."""
    setting, every = found.record.setting, [each for each in found.findings.estimates if each.tpr.value]
    series = []
    for skew in sorted({*map(Fraction, DRAWN), setting.skew}):
        measured = [(float(each.tpr.value), float(each.precision(skew).value)) for each in every]
        allowed = [(float(each.tpr.value), each.allowed(setting, skew)) for each in every]
        series += [curve(f"1:{skew}", measured), curve(f"1:{skew}, allowed", allowed, "dashed")]
    picture = Picture(
        "precision", "Precision by recall, for each number of other people per member",
        "recall: share of the members who are found", "precision", tuple(series), (), "log", "log",
    )  # fmt: skip
    return [picture] if every else []
