"""What a membership audit's rates come to: recall and precision with limits over releases, whatever their law, beside
what the guarantee allows.

A limit passes on the upper end of every point that is judged, which hold together as they are; that a point is above
what the guarantee allows is claimed at one level over all points and both forms (Holm 1979).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from crowdgate.accounting.audit_power import holm
from crowdgate.accounting.bets import mean_limits, mean_p
from crowdgate.accounting.membership import greatest_precision, true_positive_lines
from crowdgate.accounting.numbers import Number, exp_up, up
from crowdgate.arrays import Floats
from crowdgate.audit.common.audit import Options
from crowdgate.audit.common.findings import ControlResult, Findings, control_reasons, outcome_of, too_few_releases
from crowdgate.audit.common.levels import ALPHA, level
from crowdgate.audit.membership.record import MembershipPoint, MembershipRecord, MembershipResults, MembershipSetting
from crowdgate.audit.membership.releases_needed import membership_releases
from crowdgate.candidate import Measurement
from crowdgate.risk.membership import Rates, precision

LEAST_FOUND = 20
"""Members, at least, who are found where a precision is judged: of fewer it is a matter of single people."""
MOST_EPSILON = Fraction(5, 2)
"""The greatest epsilon that a control's releases can refute."""
_OFF = 2e-9
"""Of a scale: sums of floats are off by their last bits."""
Line = tuple[float, float]
"""(intercept, slope): what bounds the true positive rate by the false one."""


@dataclass(frozen=True)
class TradeoffBound:
    """One form of the guarantee: at every point the true positive rate is at most the lowest of these lines."""

    name: str
    lines: tuple[Line, ...]

    def allowed(self, fpr: float) -> float:
        """The greatest true positive rate beside that false one."""
        return min(1.0, *(intercept + slope * fpr for intercept, slope in self.lines))


EPSILON_FORM, CAP_FORM = "epsilon", "sampling"


def tradeoff_bounds(
    epsilon: Number, delta: Number, cap: tuple[Number, Number, Number] | None, n: int
) -> tuple[TradeoffBound, ...]:
    """tpr <= e^epsilon fpr + delta; and, where all comes from a sample but what is told beside it, the sampling cap
    (`cap`: the rate of the sample, and epsilon and delta of what is told beside it)."""
    own = TradeoffBound(EPSILON_FORM, ((up(Fraction(delta)), exp_up(up(Fraction(epsilon)))),))
    return (own,) if cap is None else (own, TradeoffBound(CAP_FORM, true_positive_lines(cap[0], n, *cap[1:])))


def setting_tradeoff_bounds(setting: MembershipSetting, n: int) -> tuple[TradeoffBound, ...]:
    """Of what is attacked, in tables of n units."""
    return tradeoff_bounds(setting.known_epsilon, setting.known_delta, setting.cap, n)


@dataclass(frozen=True)
class MembershipEstimate:
    """One share of the population that is claimed: what share of the members is found (`tpr`, recall) and what share of
    the others is claimed (`fpr`). For each form of the guarantee the p-value of its holding, and the least constant
    true positive rate that so many releases would have refuted (None: none)."""

    claimed: float
    attack: str
    tpr: Measurement
    fpr: Measurement
    p: dict[str, float]
    refutable: dict[str, float | None]

    @property
    def lift(self) -> float:
        """By how much more of the members than of the others is claimed."""
        return float(self.tpr.value) - float(self.fpr.value)

    def precision(self, skew: Number) -> Measurement:
        """How often a claim is right where there are so many non-members for each member. One rate gives the other, so
        that the ends are those of the true positive rate."""
        tpr, fpr = ((float(rate.lower), float(rate.upper)) for rate in (self.tpr, self.fpr))
        ends = Rates(tpr, fpr).precision(skew)
        return Measurement(precision(self.tpr.value, self.fpr.value, skew), *ends)

    def allowed(self, setting: MembershipSetting, skew: Number) -> float:
        """The greatest precision that the guarantee allows at this recall."""
        found = self.tpr.value or 1.0
        return greatest_precision(setting.known_epsilon, setting.known_delta, found, skew)


def estimates(
    played: MembershipResults, every: Sequence[TradeoffBound], alpha: Fraction
) -> tuple[MembershipEstimate, ...]:
    """All that can be estimated of a mechanism."""
    each = alpha / max(1, len(every) * len(played.points))
    return tuple(_estimate(played, point, every, alpha, each) for point in played.points)


def _estimate(
    played: MembershipResults, point: MembershipPoint, every: Sequence[TradeoffBound], alpha: Fraction, each: Fraction
) -> MembershipEstimate:
    rates, (least, most) = np.array(point.tpr), played.possible_rates(point.claimed)
    value, width = float(rates.mean()), most - least
    lower, upper = value, value  # who claims everybody leaves nothing open
    if width > _OFF:
        low, high = mean_limits(np.clip((rates - least) / width, 0, 1), alpha)
        lower, upper = max(0.0, least + width * (low - _OFF)), min(1.0, least + width * (high + _OFF))
    tpr = Measurement(value, lower, upper)
    fpr = Measurement(*(played.fpr(point.claimed, float(end)) for end in (value, tpr.upper, tpr.lower)))
    return MembershipEstimate(
        claimed=point.claimed, attack=point.attack, tpr=tpr, fpr=fpr,
        p={form.name: _p_value(played, point.claimed, form, rates) for form in every},
        refutable={form.name: _refutable_rate(played, point.claimed, form, each) for form in every},
    )  # fmt: skip


def _p_value(played: MembershipResults, claimed: float, form: TradeoffBound, rates: Floats) -> float:
    """The p-value of the form: by what the rates are above the line that is lowest for who claims blindly, in units of
    the farthest that they can be below."""
    intercept, slope = min(form.lines, key=lambda line: line[0] + line[1] * claimed)
    if not math.isfinite(slope):
        return 1.0

    def above(tpr: float) -> float:
        return tpr - intercept - slope * played.fpr(claimed, tpr)

    lowest = above(played.possible_rates(claimed)[0])
    return mean_p([above(tpr) for tpr in rates], lowest) if lowest < 0 else 1.0


def _refutable_rate(played: MembershipResults, claimed: float, form: TradeoffBound, alpha: Fraction) -> float | None:
    """By bisection: a rate that is higher in every release is refuted sooner."""
    low, high = played.possible_rates(claimed)

    def seen(tpr: float) -> bool:
        return _p_value(played, claimed, form, np.full(played.releases, tpr)) <= alpha

    if not seen(high):
        return None
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if seen(middle) else (middle, high)
    return high


def refuting_points(found: Sequence[MembershipEstimate], alpha: Fraction) -> list[tuple[MembershipEstimate, str]]:
    """The points of which it is claimed that they are above what a form of the guarantee allows."""
    tests = [(each, name) for each in found for name in each.p]
    adjusted = holm([each.p[name] for each, name in tests])
    return [test for test, p in zip(tests, adjusted, strict=True) if p <= alpha]


@dataclass(frozen=True)
class MembershipControlResult(ControlResult):
    """Result of a control: both rates where it is seen best."""

    tpr: float
    fpr: float


@dataclass(frozen=True)
class MembershipFindings(Findings):
    """What was found of the policy's mechanism. `judged` is the point, of those with the recall that is judged, whose
    precision may be greatest at the policy's skew (None: there is no such point), and `precision` is that."""

    estimates: tuple[MembershipEstimate, ...]
    broken: tuple[tuple[MembershipEstimate, str], ...]
    judged: MembershipEstimate | None
    precision: Measurement | None
    controls: tuple[MembershipControlResult, ...]


def findings_of(record: MembershipRecord) -> MembershipFindings:
    """The findings of a finished audit."""
    setting, alpha = record.setting, level(record.attempt)
    every = estimates(record.policy_results, setting_tradeoff_bounds(setting, record.policy_results.n), alpha)
    against = tuple(refuting_points(every, alpha))
    most = worst_estimate(every, setting.n, setting.skew, setting.recall)
    precise = None if most is None else most.precision(setting.skew)
    judged = tuple(_control_result(each, setting) for each in record.controls)
    holds = precise is not None and precise.upper <= setting.limit and not against
    silent = precise is not None and precise.lower <= setting.limit < precise.upper and not against
    reasons = tuple(_reasons(record, judged, most))
    if silent and not reasons:
        needed = partial(membership_releases, setting)
        reasons = tuple(too_few_releases(needed, setting.releases, record.attempt))
    return MembershipFindings(
        outcome=outcome_of(reasons, holds), reasons=reasons,
        estimates=every, broken=against, judged=most, precision=precise, controls=judged,
    )  # fmt: skip


def worst_estimate(
    every: Sequence[MembershipEstimate], n: int, skew: Number, recall: Fraction
) -> MembershipEstimate | None:
    """Of all points that may have that recall, in tables of n units, the one whose precision may be greatest at a skew;
    None where there is no such point, or too few members would be found."""
    judged = [each for each in every if each.tpr.upper >= recall]
    if not judged or recall * n < LEAST_FOUND:
        return None
    return max(judged, key=lambda each: float(each.precision(skew).upper))


def _control_result(played: MembershipResults, setting: MembershipSetting) -> MembershipControlResult:
    """Of a control at level .05, whatever the attempt: nothing is claimed of the policy by it."""
    epsilon = min(setting.known_epsilon, MOST_EPSILON)
    every = estimates(played, tradeoff_bounds(epsilon, setting.known_delta, setting.cap, played.n), ALPHA)
    names = {name for _, name in refuting_points(every, ALPHA)}
    best = max(every, key=lambda each: each.lift)
    works = {
        "break epsilon": EPSILON_FORM in names,
        "break the cap": CAP_FORM in names,
        "hold": not names and all(abs(each.lift) <= _OFF for each in every),
    }[played.must]
    return MembershipControlResult(played.mechanism, played.must, works, float(best.tpr.value), float(best.fpr.value))


def _reasons(
    record: MembershipRecord, judged: Sequence[MembershipControlResult], most: MembershipEstimate | None
) -> Iterator[str]:
    """Why nothing can be concluded."""
    yield from control_reasons(judged)
    if not record.policy_results.points:
        yield "nothing that is released is read by an attack on membership"
    elif most is None:
        yield f"no attack found a share of {float(record.setting.recall):g} of the members"


def measurement(record: MembershipRecord, said: MembershipFindings, _: str, options: Options) -> Measurement | None:
    """The precision, at the audit's own skew and recall: it looked for no other claims."""
    asked = (record.setting.skew, record.setting.recall) == (options["skew"], options["recall"])
    return said.precision if asked else None
