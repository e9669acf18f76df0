"""The page of an audit of singling out: its tables, and a picture of success against weight."""

from fractions import Fraction

from crowdgate.audit.singling_out.findings import RateAtWeight, baseline_of
from crowdgate.audit.singling_out.text import SingledOut, listings
from crowdgate.kind.picture import Limit, Picture, PicturePoint, Series, curve
from crowdgate.kind.section import ANNEX, Section

STEPS = 24
"""Number of steps of the baseline's curve."""
RATES = "At the judged weight. Rates are over all trials; their confidence limits are exact, each one-sided."
JUDGED = (
    "Mechanisms with a known result: they must be caught, or they must hold. A control that must be caught is judged"
    " by nine tenths of the trials, where it was farthest above its baseline in the other tenth (any: whatever the"
    " weight). Tables are given with the units of each."
)


def sections(found: SingledOut) -> list[Section]:
    """Return the sections of a singling-out audit's page: pictures, attackers, and controls if some were played."""
    attackers, *controls = listings(found)
    return [
        Section(pictures=lambda: [_forest(found)]),
        ANNEX,
        Section(pictures=lambda: [_picture(found)]),
        Section("Attackers", [RATES], listings=[attackers]),
        *(Section("Controls", [JUDGED], listings=[each]) for each in controls),
    ]


def _forest(found: SingledOut) -> Picture:
    """Return a forest plot: for each attacker a line with the success at the judged weight, its confidence limits and
    the baseline, and the limit."""
    setting, looking = found.record.setting, [line for line in found.findings.lines if not line.idle]
    judged = [(line.attacker, line.points[0]) for line in looking]
    rates = tuple(PicturePoint(name, *map(float, (at.rate.value, at.rate.lower, at.rate.upper))) for name, at in judged)
    limit = Limit("limit", found.findings.baseline + float(setting.limit))
    series = (
        Series("success, with confidence limits", rates),
        curve("baseline", ((name, at.baseline) for name, at in judged), "marked"),
    )
    title = "Success of each attacker at the judged weight"
    return Picture("forest", title, "attacker", "isolations, share of trials", series, (limit,))


def _picture(found: SingledOut) -> Picture:
    """Return a picture of the best attacker's success against the greatest weight of a predicate, with confidence
    intervals, the baseline, and the limit."""
    setting, looking = found.record.setting, [line for line in found.findings.lines if not line.idle]
    best = max(looking, key=lambda line: max(point.excess.value for point in line.points), default=None)
    attackers = [] if best is None else [Series(best.attacker, tuple(map(_point, best.points)))]
    least, most = float(min(setting.weights)), float(max(setting.weights))
    shown = [Fraction(least * (most / least) ** (at / STEPS)) for at in range(STEPS + 1)]
    base = [(float(weight), baseline_of(setting, setting.n, weight)) for weight in shown]
    limit = (float(setting.weight), found.findings.baseline + float(setting.limit))
    return Picture(
        "success", "Success of the best attacker, with the baseline and the limit", "greatest weight of a predicate",
        "isolations, share of trials", (*attackers, curve("baseline", base), curve("limit", [limit], "chosen")), (),
        "log", "log",
    )  # fmt: skip


def _point(point: RateAtWeight) -> PicturePoint:
    return PicturePoint(*map(float, (point.weight, point.rate.value, point.rate.lower, point.rate.upper)))
