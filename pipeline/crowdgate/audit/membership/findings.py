"""Findings of a membership audit from its rates: recall and precision with distribution-free limits over releases,
beside those that the guarantee allows.

A limit passes on the upper confidence limit of every judged point; no correction is needed, since all of them must be
low. A failure has one level in all. Half of it is for a greater precision than the limit, over all claimed shares. A
quarter is for points above what the guarantee allows, over all points and both forms (Holm 1979), and a quarter for
canaries.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from crowdgate.accounting.audit_power import holm
from crowdgate.accounting.bets import mean_limits, mean_p
from crowdgate.accounting.membership import least_precision, true_positive_lines
from crowdgate.accounting.numbers import Number, exp_up, up
from crowdgate.arrays import Floats
from crowdgate.audit.common.audit import Options
from crowdgate.audit.common.findings import (
    NOTHING_PROVEN,
    ControlResult,
    Findings,
    control_reasons,
    outcome_of,
    too_few_releases,
)
from crowdgate.audit.common.levels import ALPHA, level
from crowdgate.audit.membership.canary_findings import CanaryFindings, canary_findings
from crowdgate.audit.membership.record import (
    MembershipPoint,
    MembershipRecord,
    MembershipResults,
    MembershipSetting,
)
from crowdgate.audit.membership.releases_needed import membership_releases
from crowdgate.candidate import Measurement
from crowdgate.number_text import decimal
from crowdgate.risk.membership import Rates, precision

LEAST_FOUND = 20
"""Least number of members found for a judged precision: with fewer it depends on single people."""
MOST_EPSILON = Fraction(5, 2)
"""The greatest epsilon that a control's releases can refute."""
_OFF = 2e-9
"""Relative error allowed for sums of floats."""
Line = tuple[float, float]
"""(intercept, slope) of an upper bound of the true positive rate, linear in the false positive rate."""


@dataclass(frozen=True)
class TradeoffBound:
    """Upper bound of an attacker's true positive rate, from one form of the privacy guarantee: the lowest of some lines
    over the false positive rate."""

    name: str
    lines: tuple[Line, ...]

    def allowed(self, fpr: float) -> float:
        """Return the greatest true positive rate that the guarantee allows at this false positive rate."""
        return min(1.0, *(intercept + slope * fpr for intercept, slope in self.lines))


EPSILON_FORM, CAP_FORM = "epsilon", "sampling"


def tradeoff_bounds(
    costs: Iterable[tuple[Number, Number]], cap: tuple[Number, Number, Number] | None, n: int
) -> tuple[TradeoffBound, ...]:
    """Return the bounds of the true positive rate (tpr) by the false positive rate (fpr): tpr <= e^epsilon fpr + delta
    at each of the points `costs`; and, if a sample caps the tpr, a bound from `cap`: the sampling rate, and epsilon and
    delta of the outputs that are not computed on the sample."""
    lines = ((up(Fraction(delta)), exp_up(up(Fraction(epsilon)))) for epsilon, delta in costs)
    own = TradeoffBound(EPSILON_FORM, tuple(lines))
    return (own,) if cap is None else (own, TradeoffBound(CAP_FORM, true_positive_lines(cap[0], n, *cap[1:])))


def setting_tradeoff_bounds(setting: MembershipSetting, n: int) -> tuple[TradeoffBound, ...]:
    """Return the bounds of the true positive rate that the guarantee of an audit's setting implies for tables of n
    units."""
    return tradeoff_bounds(setting.known_costs, setting.cap, n)


@dataclass(frozen=True)
class MembershipEstimate:
    """Estimate for one claimed share of the population: the share of the members that is found (`tpr`, recall) and the
    share of the others that is claimed (`fpr`). For each form of the guarantee, `p` is the p-value of its holding, and
    `refutable` the least constant true positive rate that this many releases would have refuted (None: none)."""

    claimed: float
    attack: str
    tpr: Measurement
    fpr: Measurement
    p: dict[str, float]
    refutable: dict[str, float | None]

    @property
    def lift(self) -> float:
        """True positive rate minus false positive rate of the attack at this claimed share."""
        return float(self.tpr.value) - float(self.fpr.value)

    def precision(self, skew: Number) -> Measurement:
        """Return the share of right claims if there are `skew` non-members for each member, with confidence limits that
        follow from those of the true positive rate, which determines the false positive rate."""
        tpr, fpr = ((float(rate.lower), float(rate.upper)) for rate in (self.tpr, self.fpr))
        ends = Rates(tpr, fpr).precision(skew)
        return Measurement(precision(self.tpr.value, self.fpr.value, skew), *ends)

    def allowed(self, setting: MembershipSetting, skew: Number) -> float:
        """Return the greatest precision that the guarantee allows at this estimate's recall, with `skew` non-members
        for each member."""
        found = self.tpr.value or 1.0
        return least_precision(setting.known_costs, found, skew)


def estimates(
    played: MembershipResults, every: Sequence[TradeoffBound], alpha: Fraction, refuting: Fraction
) -> tuple[MembershipEstimate, ...]:
    """Return the estimates for a mechanism, one for each claimed share of the population, with confidence limits at
    level alpha. `every` are the bounds that the guarantee implies, and `refuting` is the level of their refutation."""
    each = refuting / max(1, len(every) * len(played.points))
    return tuple(_estimate(played, point, every, alpha, each) for point in played.points)


def _estimate(
    played: MembershipResults, point: MembershipPoint, every: Sequence[TradeoffBound], alpha: Fraction, each: Fraction
) -> MembershipEstimate:
    rates, tpr = np.array(point.tpr), _true_positive_rate(played, point, alpha)
    fpr = Measurement(*(played.fpr(point.claimed, float(end)) for end in (tpr.value, tpr.upper, tpr.lower)))
    return MembershipEstimate(
        claimed=point.claimed, attack=point.attack, tpr=tpr, fpr=fpr,
        p={form.name: _p_value(played, point.claimed, form, rates) for form in every},
        refutable={form.name: _refutable_rate(played, point.claimed, form, each) for form in every},
    )  # fmt: skip


def _true_positive_rate(played: MembershipResults, point: MembershipPoint, alpha: Fraction) -> Measurement:
    """Return the mean share of the members that is found, with limits at level alpha."""
    rates, (least, most) = np.array(point.tpr), played.possible_rates(point.claimed)
    value, width = float(rates.mean()), most - least
    if width <= _OFF:  # the rate is fixed if everybody is claimed
        return Measurement(value, value, value)
    low, high = mean_limits(np.clip((rates - least) / width, 0, 1), alpha)
    return Measurement(value, max(0.0, least + width * (low - _OFF)), min(1.0, least + width * (high + _OFF)))


def exceeds_limit(played: MembershipResults, setting: MembershipSetting, alpha: Fraction) -> bool:
    """Return True if a greater precision than the limit is proven at the judged skew and recall, at level alpha over
    all claimed shares (Bonferroni)."""
    for point in played.points:
        found = float(_true_positive_rate(played, point, alpha / len(played.points)).lower)
        proven = precision(found, played.fpr(point.claimed, found), setting.skew) if found else 0
        if found >= setting.recall and proven > setting.limit:
            return True
    return False


def _p_value(played: MembershipResults, claimed: float, form: TradeoffBound, rates: Floats) -> float:
    """Return the p-value of the hypothesis that a bound (`form`) holds, from the distances of the true positive rates
    above its line that is lowest for the blind attacker, in units of the greatest possible distance below."""
    intercept, slope = min(form.lines, key=lambda line: line[0] + line[1] * claimed)
    if not math.isfinite(slope):
        return 1.0
    least, seen = played.possible_rates(claimed)[0], rates.tolist()
    above = {tpr: tpr - intercept - slope * played.fpr(claimed, tpr) for tpr in {least, *seen}}  # many are alike
    return mean_p([above[tpr] for tpr in seen], above[least]) if above[least] < 0 else 1.0


def _refutable_rate(played: MembershipResults, claimed: float, form: TradeoffBound, alpha: Fraction) -> float | None:
    """Return the least true positive rate, the same in every release, that would refute a bound (`form`) at level
    alpha, by bisection; None if no rate would."""
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
    """Return the estimates that refute the guarantee at level alpha over all tests (Holm-adjusted), each with the name
    of the refuted bound."""
    tests = [(each, name) for each in found for name in each.p]
    adjusted = holm([each.p[name] for each, name in tests])
    return [test for test, p in zip(tests, adjusted, strict=True) if p <= alpha]


@dataclass(frozen=True)
class MembershipControlResult(ControlResult):
    """Result of a control, with the true and false positive rates at the claimed share where their difference is
    greatest."""

    tpr: float
    fpr: float


@dataclass(frozen=True)
class MembershipFindings(Findings):
    """Findings on the policy's mechanism. `judged` is the point with the greatest upper limit of precision at the
    policy's skew, among the points that may have the judged recall (None: there is no such point); `precision` is its
    precision. `canaries` are the findings on canaries (None: none were planted). `ceiling` is the precision of an
    attacker who sees the policy's attributes of every row (None: unknown, as in earlier records)."""

    estimates: tuple[MembershipEstimate, ...]
    broken: tuple[tuple[MembershipEstimate, str], ...]
    judged: MembershipEstimate | None
    precision: Measurement | None
    controls: tuple[MembershipControlResult, ...]
    canaries: CanaryFindings | None = None
    ceiling: float | None = None


def findings_of(record: MembershipRecord) -> MembershipFindings:
    """Return the findings of a finished membership audit, computed from its record."""
    setting, own, alpha = record.setting, record.policy_results, level(record.attempt)
    # one level in all: half of it for the limit, a quarter for members and for canaries
    canaries = canary_findings(own.canaries, setting, alpha / 4)
    every = estimates(own, setting_tradeoff_bounds(setting, own.n), alpha, alpha / 4)
    against = tuple(refuting_points(every, alpha / 4))
    most = worst_estimate(every, setting.n, setting.skew, setting.recall)
    precise = None if most is None else most.precision(setting.skew)
    judged = tuple(_control_result(each, setting) for each in record.controls if each.must != "show")
    broken = bool(against) or (canaries is not None and canaries.refuted is not None)
    found = broken or exceeds_limit(own, setting, alpha / 2)
    holds = precise is not None and precise.upper <= setting.limit and not broken
    ceiling = ceiling_of(record)
    reasons = tuple(_reasons(record, judged, most))
    if holds and ceiling is not None and ceiling <= setting.limit:
        reasons = (*reasons, could_not_fail(ceiling, setting))
    if not (holds or found or reasons):
        needed = partial(membership_releases, setting)
        reasons = tuple(too_few_releases(needed, setting.releases, record.attempt)) or (NOTHING_PROVEN,)
    return MembershipFindings(
        outcome=outcome_of(reasons, holds), reasons=reasons, estimates=every, broken=against, judged=most,
        precision=precise, controls=judged, canaries=canaries, ceiling=ceiling,
    )  # fmt: skip


def ceiling_of(record: MembershipRecord) -> float | None:
    """Return the greatest precision of an attacker who sees the policy's attributes of every row, unchanged, as
    `greatest_precision` does; None if this was not played."""
    shown = [each for each in record.controls if each.must == "show"]
    return greatest_precision(shown, record.setting.skew, record.setting.recall) if shown else None


def greatest_precision(shown: Sequence[MembershipResults], skew: Fraction, recall: Fraction) -> float:
    """Return the greatest mean precision of attacks on these mechanisms at this skew, with at least this recall; 0 if
    the recall is not reached."""
    found = [0.0]
    for played in shown:
        means = [(point.claimed, float(np.mean(point.tpr))) for point in played.points]
        found += [precision(tpr, played.fpr(claimed, tpr), skew) for claimed, tpr in means if tpr >= recall]
    return max(found)


def could_not_fail(ceiling: float, setting: MembershipSetting) -> str:
    """Return the reason why an audit with this ceiling is no evidence for its limit."""
    return (
        "this audit could not have failed by its limit: an attacker who sees every row unchanged is right in"
        f" {decimal(ceiling, 3)} of the claims, and the limit is {decimal(setting.limit, 4)}; write a smaller limit or"
        " recall"
    )


def worst_estimate(
    every: Sequence[MembershipEstimate], n: int, skew: Number, recall: Fraction
) -> MembershipEstimate | None:
    """Return the estimate with the greatest upper limit of precision, with `skew` non-members for each member, among
    those whose recall may reach `recall`. None if there is none, or if fewer than LEAST_FOUND of n members would be
    found."""
    judged = [each for each in every if each.tpr.upper >= recall]
    if not judged or recall * n < LEAST_FOUND:
        return None
    return max(judged, key=lambda each: float(each.precision(skew).upper))


def _control_result(played: MembershipResults, setting: MembershipSetting) -> MembershipControlResult:
    """Return a control's result from its releases. Its level is .05 at any attempt, since controls refute nothing about
    the policy."""
    epsilon = min(setting.known_epsilon, MOST_EPSILON)
    every = estimates(played, tradeoff_bounds([(epsilon, setting.known_delta)], setting.cap, played.n), ALPHA, ALPHA)
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
    """Yield the reasons why a membership audit is inconclusive, as clauses."""
    yield from control_reasons(judged)
    if not record.policy_results.points:
        yield "nothing that is released is read by an attack on membership"
    elif most is None:
        yield f"no attack found a share of {float(record.setting.recall):g} of the members"


def measurement(record: MembershipRecord, said: MembershipFindings, _: str, options: Options) -> Measurement | None:
    """Return the audit's precision if a gate's options are the audit's own skew and recall; None otherwise."""
    asked = (record.setting.skew, record.setting.recall) == (options["skew"], options["recall"])
    return said.precision if asked else None
