"""Findings of a membership audit in words and tables for people, and as JSON for programs."""

from collections.abc import Iterator
from dataclasses import asdict, replace
from fractions import Fraction
from typing import Any

from crowdgate.audit.common.audit import FinishedAudit
from crowdgate.audit.common.planted_faults import unseen_faults
from crowdgate.audit.common.text import ENDS, attempt_text, controls_text, measurement_cells, measurement_json
from crowdgate.audit.membership.canary_findings import CanaryPoint
from crowdgate.audit.membership.findings import (
    CAP_FORM,
    EPSILON_FORM,
    MOST_EPSILON,
    MembershipControlResult,
    MembershipEstimate,
    MembershipFindings,
    setting_tradeoff_bounds,
)
from crowdgate.audit.membership.record import MembershipRecord, MembershipSetting
from crowdgate.candidate import AuditQuestion
from crowdgate.gate import Outcome
from crowdgate.kind.listing import Listing, text_listing
from crowdgate.number_text import BOUND, Rounding, Value, decimal, exact_text, rounded, whole
from crowdgate.risk.membership import SKEWS

Claimed = FinishedAudit[MembershipRecord, MembershipFindings]
CLAIMED = ("claimed", ".3g")
ALLOWED = ("allowed (*)", BOUND)
POINTS = (CLAIMED, "attack", "members found", *ENDS, "others claimed", ALLOWED, ("seen from", BOUND))
RIGHT = (CLAIMED, "skew", "right", *ENDS, ALLOWED)
STARRED = (
    "(*) Limits that the guarantee sets without any experiment: on the members found, with so many others claimed,"
    " and on the precision at the same recall. The first is the lower of two where a sample is drawn, because"
    " members who are not in the sample are hardly distinguishable from others. Seen from is the least share that"
    " this audit would have refuted, if it were found in every release and fewer others were claimed."
)
UNSEEN = unseen_faults(AuditQuestion.MEMBERSHIP)
FORMS = {EPSILON_FORM: "its epsilon and delta", CAP_FORM: "its sampling rate"}


def verdict(found: Claimed) -> str:
    """Return one sentence that says whether a membership audit passed or failed."""
    said, setting = found.findings, found.record.setting
    if said.broken:
        names = " and ".join(FORMS[name] for name in dict.fromkeys(name for _, name in said.broken))
        return f"A guarantee is broken: more members are found than {names} allow."
    if (point := refuted_point(said)) is not None:
        return (
            f"The guarantee is broken: canaries show an epsilon of at least {_shown(point)} at delta"
            f" {decimal(point.delta)}, and {decimal(point.epsilon)} is stated."
        )
    assert said.precision is not None, "something was measured"
    share, limit = decimal(said.precision.upper, 3), decimal(setting.limit, 4)
    where = f"at {exact_text(setting.skew)} non-members per member"
    if said.outcome is Outcome.FAIL:
        return f"Not within the limit: {where}, more than {limit} of these claims are right (at most {share})."
    return f"Within the limit: {where}, at most {share} of these claims are right; the limit is {limit}."


def lines(found: Claimed) -> list[str]:
    """Return sentences with all that a reader must know to understand a membership audit's figures."""
    setting = found.record.setting
    blind = decimal(1 / (1 + Fraction(setting.skew)), 3)
    return [
        STARRED,
        "Members are those of the table, whether or not they are in a sample that is drawn of it.",
        f"{whole(setting.releases)} releases, each of a fresh table of n = {whole(setting.n)} of the"
        f" {whole(setting.population_size)} units of {setting.population}. All others are non-members, so that shares"
        " of a release are exact. An attacker knows the population and n, and all that is released about everybody."
        " Confidence limits are one-sided and hold for the mean over releases, whatever its distribution.",
        f"Judged at a recall of {decimal(setting.recall, 4)} or more, at 1:{exact_text(setting.skew)}; there, claiming"
        f" everybody is right in {blind}. Precision falls with the skew: at 1:1 it says little of anybody who is one of"
        " many.",
        _guarantee_text(setting),
        *_ceiling_text(found),
        *_canary_text(found),
        *_power_text(found),
        attempt_text(found.record),
        controls_text(found.findings.controls),
        *_unread_text(setting),
        "Other attacks may find more; only the guarantee bounds them all. The decision to publish or to withhold,"
        " which also reveals something, is not part of the game.",
    ]


def _guarantee_text(setting: MembershipSetting) -> str:
    known = f"epsilon {decimal(setting.known_epsilon)} and delta {decimal(setting.known_delta)}"
    known += " (and further points of the joint curve)" if setting.known_points else ""
    said = f"n is known, so that members and others differ by a replaced unit: {known} of all that is attacked."
    if setting.cap is None:
        return (
            f"{said} No sampling rate caps what can be found of the members: nothing is sampled, or a person's rows are"
            " one by one."
        )
    beside = f", with other released figures (epsilon {decimal(setting.cap[1])})," if setting.cap[1] else ""
    return f"{said} A sample at rate {decimal(setting.cap[0])}{beside} caps what can be found of the members."


def _ceiling_text(found: Claimed) -> Iterator[str]:
    if found.findings.ceiling is not None:
        yield (
            "An attacker who sees the policy's attributes of every row, unchanged, is right in"
            f" {decimal(found.findings.ceiling, 3)} of the claims, at the same recall."
        )


def refuted_point(said: MembershipFindings) -> CanaryPoint | None:
    """Return the first stated point that canaries refute; None if there is none."""
    return None if said.canaries is None else said.canaries.refuted


def _canary_text(found: Claimed) -> Iterator[str]:
    """Yield what canaries show at every stated point, and whether they could have refuted any."""
    shown, played = found.findings.canaries, found.record.policy_results.canaries
    if shown is None:
        return
    first = played[0]
    right = "; ".join(
        f"{each.attack}, {whole(each.right)} of {whole(each.guesses)} guesses are right" for each in played
    )
    yield (
        f"{whole(first.canaries)} canaries (simulated units, each in the table with probability one half) in"
        f" {whole(first.releases)} releases of a copy of the public population: {right}."
    )
    yield (
        "The guarantee is stated for adding or removing one unit. What canaries show of it, over all attacks and points"
        f" together: {'; '.join(map(_point_text, shown.points))}."
    )
    if shown.powerless:
        yield (
            "The canaries could not have refuted this: if all guesses were right, epsilon would be at least"
            f" {decimal(shown.points[0].ceiling, 3, Rounding.DOWN)} at delta {decimal(shown.points[0].delta)}."
        )


def _point_text(point: CanaryPoint) -> str:
    stated = f"{decimal(point.epsilon)} is stated"
    return f"at delta {decimal(point.delta)} epsilon is at least {_shown(point)}, and {stated}"


def _shown(point: CanaryPoint) -> str:
    return decimal(point.limit, 3, Rounding.DOWN)


def _unread_text(setting: MembershipSetting) -> Iterator[str]:
    if setting.unread:
        yield f"No attack reads what else is released: {', '.join(setting.unread)}."


def _power_text(found: Claimed) -> Iterator[str]:
    """Yield warnings if the audit could refute no form of the guarantee, or if its controls are judged at a smaller
    epsilon."""
    setting = found.record.setting
    seen = [each for each in found.findings.estimates if _refutable_share(each) is not None]
    if not seen:
        yield "So few releases can't refute anything that the guarantee forbids; use more."
    if setting.known_epsilon > MOST_EPSILON:
        most = decimal(MOST_EPSILON)
        yield f"Controls are judged at epsilon {most}: theirs are too few releases to refute a greater one."


def _refutable_share(each: MembershipEstimate) -> float | None:
    return min((rate for rate in each.refutable.values() if rate is not None), default=None)


def point_listing(found: Claimed) -> Listing:
    """Return a table of the true and false positive rates at every claimed share of the population."""
    title = "Members found, by the share of the population that is claimed to be in the table"
    bounds = setting_tradeoff_bounds(found.record.setting, found.record.setting.n)
    rows = (
        _point_row(each, min(form.allowed(float(each.fpr.value)) for form in bounds))
        for each in found.findings.estimates
    )
    return text_listing(title, POINTS, rows)


def _point_row(each: MembershipEstimate, allowed: float) -> list[Value]:
    return [each.claimed, each.attack, *measurement_cells(each.tpr), each.fpr.value, allowed, _refutable_share(each)]


def precision_listing(found: Claimed, *, judged: bool = False) -> Listing:
    """Return a table of the precision at every skew (non-members for each member), for all claimed shares or only for
    the judged one."""
    setting = found.record.setting
    own = [each for each in found.findings.estimates if not judged or each is found.findings.judged]
    rows = (
        (each.claimed, f"1:{exact_text(skew)}", *measurement_cells(each.precision(skew)), each.allowed(setting, skew))
        for each in own
        for skew in skews(setting)
    )
    which = "at the recall that is judged" if judged else "at every share that is claimed"
    return replace(text_listing(f"How often a claim is right, {which}", RIGHT, rows), further=not judged)


def skews(setting: MembershipSetting) -> list[Fraction]:
    """Return the numbers of non-members for each member at which precision is reported, with the policy's own."""
    return sorted({*map(Fraction, SKEWS), setting.skew})


def attack_listing(found: Claimed) -> Listing:
    """Return a table of the share of members that every attack found at each claimed share."""
    rows = ((name, *line) for name, line in found.record.policy_results.recall.items())
    titles = ("attack", *(rounded(each, 3) for each in found.record.setting.claimed))
    return replace(text_listing("All attacks: members found, by the share that is claimed", titles, rows), further=True)


def json_fields(found: Claimed) -> dict[str, Any]:
    """Return the fields that `--json` prints for a membership audit, by name."""
    said, setting = found.findings, found.record.setting
    return {
        "precision": None if said.precision is None else measurement_json(said.precision),
        "estimates": [_estimate(each, setting) for each in said.estimates],
        "ceiling": said.ceiling,
        "broken": [[each.claimed, name] for each, name in said.broken],
        "canaries": None if said.canaries is None else [_canary_point(each) for each in said.canaries.points],
        "controls": {each.control: _control(each) for each in said.controls},
    }


def _control(judged: MembershipControlResult) -> dict[str, Any]:
    return {"must": judged.must, "works": judged.works, "tpr": judged.tpr, "fpr": judged.fpr}


def _canary_point(point: CanaryPoint) -> dict[str, Any]:
    return {**asdict(point), "epsilon": exact_text(point.epsilon), "delta": exact_text(point.delta)}


def _estimate(each: MembershipEstimate, setting: MembershipSetting) -> dict[str, Any]:
    precisions = {
        exact_text(skew): {**measurement_json(each.precision(skew)), "allowed": each.allowed(setting, skew)}
        for skew in skews(setting)
    }
    return {
        "claimed": each.claimed,
        "attack": each.attack,
        "tpr": measurement_json(each.tpr),
        "fpr": measurement_json(each.fpr),
        "p": each.p,
        "refutable": each.refutable,
        "precision": precisions,
    }
