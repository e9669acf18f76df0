"""Probability that a gate passes, from past measurements of its measure.

A gate is judged at the unfavourable confidence limit of the measurement, so the forecast is for that limit. Its
distribution is at least as wide as the known measurement error: that of its own interval (a one-sided 95 % confidence
limit is 1.63 standard deviations away for Laplace noise, 1.64 for Normal noise), for released rows that of sampling,
and for whole numbers that of rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log, sqrt
from statistics import mean, stdev
from typing import TYPE_CHECKING

from crowdgate.forecast.chances.next_value import predictive_distribution
from crowdgate.gate import NEAREST, limit_text
from crowdgate.history.past_runs import PastRun
from crowdgate.history.recorded_verdicts import recorded_verdict, serves_limit
from crowdgate.kind.forecast import PassProbability
from crowdgate.measures import MEASURES, MeasureClass

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan
    from crowdgate.manifest import GateFields
    from crowdgate.measures import Measure
    from crowdgate.policy.policy import GateRule

LEAST_RUNS = 2
HALF = Fraction(1, 2)
WHOLE = sqrt(1 / 12)
"""The standard deviation of rounding to whole numbers."""
ROUNDED = Fraction(1, 10**8)
"""Confidence limits are written in nine digits, rounded outwards: one nearer than this to the number is the number
itself.
"""
SMALL = 0.01
"""Least standard deviation of the next measurement, as a share of the standard deviation of past ones: a floor that
excludes nothing."""
ENDS_APART = sqrt(2) / log(10)
"""The standard deviation of Laplace noise, divided by the distance from its median to its confidence limit."""


@dataclass(frozen=True)
class PastMeasurements:
    """Past measurements of a gate's measure, oldest first: `ends`, the confidence limit by which each run is judged,
    and `half`, half the width of the widest confidence interval.

    Other runs are counted only: `other` had other settings or did not measure it, `unmeasured` failed to measure it,
    `crashed` crashed or are still running.
    """

    ends: tuple[Fraction, ...]
    half: Fraction
    other: int
    unmeasured: int
    crashed: int

    def words(self, rule: GateRule) -> str:
        """Return in words the number of past runs, their measurements, and the gate's limit."""
        runs = "1 past run" if len(self.ends) == 1 else f"{len(self.ends)} past runs"
        numbers = ", ".join(NEAREST.measured(str(end), False) for end in self.ends)
        limit = "at most 0 more than the share" if _excess(rule) else limit_text(rule)
        shown = f"{runs}: {numbers} against {limit}" if self.ends else "no comparable past run"
        beside = (
            (self.other, "not comparable"),
            (self.unmeasured, "not measured"),
            (self.crashed, "crashed or still running"),
        )
        return "; ".join([shown, *(f"{count} {what}" for count, what in beside if count)])


def past_measurements(plan: Plan, rule: GateRule, measure: Measure, past: Sequence[PastRun]) -> PastMeasurements:
    """Return the measurements of a gate's measure in past runs, and the numbers of runs that can't be compared."""
    ended = [each for each in past if not each.crashed]
    found = [_comparable(plan, rule, measure, each) for each in ended]
    known = [each for each in found if each is not None]
    numbers = [ends for each in known if (ends := _confidence_limits(rule, each)) is not None]
    return PastMeasurements(
        ends=tuple(end for end, _, _ in numbers),
        half=max(((high - low) / 2 for _, low, high in numbers), default=Fraction(0)),
        other=len(ended) - len(known),
        unmeasured=len(known) - len(numbers),
        crashed=len(past) - len(ended),
    )


def odds_from_past_runs(
    plan: Plan, rule: GateRule, measure: Measure, found: PastMeasurements
) -> PassProbability | None:
    """Return the probability that the gate passes in the next run; None with fewer than two past measurements, or if a
    comparable run failed to measure it."""
    if len(found.ends) < LEAST_RUNS or found.unmeasured:
        return None
    wide = found.half > ROUNDED * max(map(abs, found.ends))
    least = max(ENDS_APART * float(found.half) if wide else 0.0, _sampling_deviation(plan, measure, found))
    odds = odds_of_next(rule, found.ends, least)
    return odds if measure.steady else _limited_by_runs(odds, len(found.ends))


def _limited_by_runs(odds: PassProbability, runs: int) -> PassProbability:
    """Return a probability and its limits, clipped to the range from a to 1 - a. Here a = (1/2) / (runs + 1), Jeffreys'
    estimate if none of so many runs passed."""
    least = 0.5 / (runs + 1)
    return PassProbability(*(min(1 - least, max(least, each)) for each in (odds.value, odds.low, odds.high)))


def odds_of_next(rule: GateRule, ends: Sequence[Fraction], least: float) -> PassProbability:
    """Return the probability that the next confidence limit meets the gate's limit. `ends` are the past confidence
    limits, and `least` is the known standard deviation of the measurement.

    Equal numbers that are not whole show nothing about their spread: then the probability is (k + 1/2) / (n + 1), where
    k of the n runs met the gate's limit (Jeffreys' rule).
    """
    whole = all(end.denominator == 1 for end in ends)
    if not whole and not least and len({*ends}) == 1:
        chance = (len(ends) * _meets_limit(rule, ends[0]) + 0.5) / (len(ends) + 1)
        return PassProbability(chance, chance, chance)
    numbers = [float(end) for end in ends]
    law = predictive_distribution(numbers, max(least, WHOLE if whole else SMALL * stdev(numbers)))
    limit, least_end = stated_limit(rule), rule.at_most is None
    if whole:  # half way to the next whole number
        limit = ceil(limit) - HALF if least_end else floor(limit) + HALF
    return law.at_most(float(limit)).against if least_end else law.at_most(float(limit))


def _comparable(plan: Plan, rule: GateRule, measure: Measure, ran: PastRun) -> GateFields | None:
    own = recorded_verdict(rule, ran.verdicts)
    if own is None or not serves_limit(rule, measure, own) or not ran.is_comparable(plan, measure):
        return None
    price = None if rule.charge is None else rule.charge.epsilon
    return own if own.charge == price or measure.reads is not MeasureClass.CHARGED else None


def _confidence_limits(rule: GateRule, own: GateFields) -> tuple[Fraction, Fraction, Fraction] | None:
    """Return the confidence limit by which a recorded gate is judged, then its lower and its upper one; None if they
    are no numbers."""
    low, high = map(_figure, (own.low, own.high))
    return None if low is None or high is None else (low if rule.at_most is None else high, low, high)


def _figure(text: str | None) -> Fraction | None:
    return None if text is None or text.lstrip("-").isalpha() else Fraction(text)


def _sampling_deviation(plan: Plan, measure: Measure, found: PastMeasurements) -> float:
    """Return the standard deviation of the measured number that Bernoulli sampling causes; 0 if the measure does not
    state it."""
    if measure.deviation is None:
        return 0.0
    return measure.deviation(mean(map(float, found.ends)), float(plan.protection.figures.beta))


def stated_limit(rule: GateRule) -> Fraction:
    limit = rule.at_least if rule.at_most is None else rule.at_most
    return Fraction(0) if _excess(rule) or limit is None else limit


def _meets_limit(rule: GateRule, end: Fraction) -> bool:
    return end >= stated_limit(rule) if rule.at_most is None else end <= stated_limit(rule)


def _excess(rule: GateRule) -> bool:
    return MEASURES[rule.measure].excess
