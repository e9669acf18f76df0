"""The chance that a gate passes by what past runs showed of its measure.

A gate is judged at the unfavourable end of what is measured, so it is that end of which the next is foretold. Its law
is at least as wide as the measuring is known to be: by its own interval (a one-sided 95 % end lies 1.63 standard
deviations away for Laplace noise, 1.64 for Normal noise), for released rows by the coins, for whole numbers by
what rounding takes away.
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
"""Standard deviation of what rounding to whole numbers takes away."""
ROUNDED = Fraction(1, 10**8)
"""Ends are written in nine digits, rounded outwards: nearer ones are the number itself."""
SMALL = 0.01
"""Of the spread of the past: a floor that excludes nothing."""
ENDS_APART = sqrt(2) / log(10)
"""Standard deviation of Laplace noise, in parts of the distance from its middle to the end of its interval."""


@dataclass(frozen=True)
class PastMeasurements:
    """What past runs showed of a gate's measure, oldest first: the ends that are judged, and half of the widest
    interval. Runs that are not among them: `other` had other settings, or did not measure it; of some nothing could be
    measured (`unmeasured`), some `crashed`, or run still."""

    ends: tuple[Fraction, ...]
    half: Fraction
    other: int
    unmeasured: int
    crashed: int

    def words(self, rule: GateRule) -> str:
        """What they showed, beside the limit."""
        runs = "1 past run" if len(self.ends) == 1 else f"{len(self.ends)} past runs"
        numbers = ", ".join(NEAREST.measured(str(end), False) for end in self.ends)
        limit = "at most 0 more than the share" if _excess(rule) else limit_text(rule)
        shown = f"{runs}: {numbers} against {limit}" if self.ends else "no past run that can be compared"
        beside = (
            (self.other, "not comparable"),
            (self.unmeasured, "not measured"),
            (self.crashed, "crashed or still running"),
        )
        return "; ".join([shown, *(f"{count} {what}" for count, what in beside if count)])


def past_measurements(plan: Plan, rule: GateRule, measure: Measure, past: Sequence[PastRun]) -> PastMeasurements:
    """What past runs showed of a gate that is decided on data."""
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
    """The chance; None of less than two runs, or where a comparable one could not measure it."""
    if len(found.ends) < LEAST_RUNS or found.unmeasured:
        return None
    wide = found.half > ROUNDED * max(map(abs, found.ends))
    least = max(ENDS_APART * float(found.half) if wide else 0.0, _sampling_deviation(plan, measure, found))
    odds = odds_of_next(rule, found.ends, least)
    return odds if measure.steady else _limited_by_runs(odds, len(found.ends))


def _limited_by_runs(odds: PassProbability, runs: int) -> PassProbability:
    """No surer than so many runs make by counting those that kept a limit (Jeffreys' rule)."""
    least = 0.5 / (runs + 1)
    return PassProbability(*(min(1 - least, max(least, each)) for each in (odds.value, odds.low, odds.high)))


def odds_of_next(rule: GateRule, ends: Sequence[Fraction], least: float) -> PassProbability:
    """The chance that the next end keeps the limit. Numbers that are all the same and not whole tell nothing of how far
    they may move: then those that kept it are counted, by Jeffreys' rule (k + 1/2) / (n + 1)."""
    whole = all(end.denominator == 1 for end in ends)
    if not whole and not least and len({*ends}) == 1:
        chance = (len(ends) * _meets_limit(rule, ends[0]) + 0.5) / (len(ends) + 1)
        return PassProbability(chance, chance, chance)
    numbers = [float(end) for end in ends]
    law = predictive_distribution(numbers, max(least, WHOLE if whole else SMALL * stdev(numbers)))
    limit, least_end = _limit(rule), rule.at_most is None
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
    """The end that is judged, and both ends; None where they are no numbers."""
    low, high = map(_figure, (own.low, own.high))
    return None if low is None or high is None else (low if rule.at_most is None else high, low, high)


def _figure(text: str | None) -> Fraction | None:
    return None if text is None or text.lstrip("-").isalpha() else Fraction(text)


def _sampling_deviation(plan: Plan, measure: Measure, found: PastMeasurements) -> float:
    """The standard deviation by sampling, where the measure knows it."""
    if measure.deviation is None:
        return 0.0
    return measure.deviation(mean(map(float, found.ends)), float(plan.protection.figures.beta))


def _limit(rule: GateRule) -> Fraction:
    limit = rule.at_least if rule.at_most is None else rule.at_most
    return Fraction(0) if _excess(rule) or limit is None else limit


def _meets_limit(rule: GateRule, end: Fraction) -> bool:
    return end >= _limit(rule) if rule.at_most is None else end <= _limit(rule)


def _excess(rule: GateRule) -> bool:
    return MEASURES[rule.measure].excess
