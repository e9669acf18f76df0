"""Probability that a gate passes, from past measurements of its measure.

A gate is judged at the unfavourable confidence limit of the measurement, so the forecast is for that limit. Its limits
are a 95 % confidence interval of the probability if the table stays as it is, by the measure's own law (`laws`). They
are widened to the models of change that past runs do not exclude (`next_value`). Its value is the mean over that law
and these models, by their posterior probabilities.

Known errors of measurement: a charged count has the noise of its charge, another number at least the deviation of its
own interval (a one-sided 95 % confidence limit is 1.63 standard deviations away for Laplace noise, 1.64 for Normal
noise), released rows that of sampling, and whole numbers that of rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log, sqrt
from statistics import mean, stdev
from typing import TYPE_CHECKING

from crowdgate.forecast.chances.laws import (
    FrequencyLaw,
    Law,
    SpreadLaw,
    confidence_limits,
    constant_law,
    spread_law,
)
from crowdgate.forecast.chances.next_value import predictive_distribution
from crowdgate.gate import DIGITS, NUMBERS, limit_text
from crowdgate.history.past_runs import PastRun
from crowdgate.kind.pass_probability import PassProbability
from crowdgate.measures import MEASURES, MeasureClass
from crowdgate.measures.charged_counts import ALPHA
from crowdgate.noise import laplace_quantile

if TYPE_CHECKING:
    from crowdgate.arrays import Floats
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
FEW_VALUES = 1.0
"""The standard deviation below which whole numbers take few values and are not nearly Normal."""
RECENT = 50
"""The number of last runs in which changes are sought; older ones show nothing of the change to the next run."""
MOST_SHOWN = 12
"""The greatest number of past measurements that a line shows."""
UNLIKELY = 0.05
"""The posterior probability below which a model of change does not widen the limits."""
SURE = 1e-4
"""The least probability: no number of past runs gives more certainty."""


@dataclass(frozen=True)
class PastMeasurements:
    """Past measurements of a gate's measure, oldest first: `ends`, the confidence limit by which each run is judged,
    and `half`, half the width of the widest confidence interval.

    Other runs are counted only: `other` of the policy's name had other settings or did not measure it, `unmeasured`
    failed to measure it, `crashed` crashed or are still running.
    """

    ends: tuple[Fraction, ...]
    half: Fraction
    other: int
    unmeasured: int
    crashed: int
    runs: tuple[str, ...] = ()
    """The ids of the runs with these measurements."""

    def words(self, rule: GateRule) -> str:
        """Return in words the number of past runs, their measurements, and the gate's limit."""
        runs = "1 past run" if len(self.ends) == 1 else f"{len(self.ends)} past runs"
        numbers = ", ".join(self._shown(rule))
        limit = "at most 0 more than the share" if _excess(rule) else limit_text(rule)
        shown = f"{runs}: {self._what(rule)}{numbers} against {limit}" if self.ends else "no comparable past run"
        beside = (
            (self.other, "not comparable"),
            (self.unmeasured, "not measured"),
            (self.crashed, "crashed or still running"),
        )
        return "; ".join([shown, *(f"{count} {what}" for count, what in beside if count)])

    def _what(self, rule: GateRule) -> str:
        """Return what the measurements are: confidence limits, or (empty) the figures themselves."""
        if self.half * 10 ** (DIGITS - 1) <= max(map(abs, self.ends)):  # limits of a figure are rounded outwards
            return ""
        side = "lower" if rule.at_most is None else "upper"
        return f"{side} confidence limit{'' if len(self.ends) == 1 else 's'} "

    def _shown(self, rule: GateRule) -> list[str]:
        """Return the last measurements as text, after an ellipsis if there are more."""
        last = [NUMBERS.measured(str(end), rule.at_most is None) for end in self.ends[-MOST_SHOWN:]]
        return last if len(last) == len(self.ends) else ["...", *last]


def past_measurements(plan: Plan, rule: GateRule, measure: Measure, past: Sequence[PastRun]) -> PastMeasurements:
    """Return the measurements of a gate's measure in past runs, and the numbers of runs that can't be compared."""
    ended = [each for each in past if not each.crashed]
    found = [(each, _comparable(plan, rule, measure, each)) for each in ended]
    known = [(ran, each) for ran, each in found if each is not None]
    numbers = [(ran.release_id, ends) for ran, each in known if (ends := _confidence_limits(rule, each)) is not None]
    return PastMeasurements(
        ends=tuple(end for _, (end, _, _) in numbers),
        half=max(((high - low) / 2 for _, (_, low, high) in numbers), default=Fraction(0)),
        other=sum(ran.own for ran, each in found if each is None),
        unmeasured=len(known) - len(numbers),
        crashed=len(past) - len(ended),
        runs=tuple(run for run, _ in numbers),
    )


def distances_by_run(rule: GateRule, measure: Measure, found: PastMeasurements) -> dict[str, float]:
    """Return how far each measurement is beyond the gate's limit by the run's id, except for noise of a charge, which
    is independent of everything else."""
    if measure.reads is MeasureClass.CHARGED:
        return {}
    return dict(zip(found.runs, map(float, distances(rule, found.ends)), strict=True))


def odds_from_past_runs(
    plan: Plan, rule: GateRule, measure: Measure, found: PastMeasurements
) -> PassProbability | None:
    """Return the probability that the gate passes in the next run; None without a law of the measure (see `law_of`), or
    if a comparable run failed to measure it."""
    law = None if found.unmeasured else law_of(plan, rule, measure, found)
    if law is None:
        return None
    low, high = confidence_limits(law)
    unchanged = min(max(law.value, low), high)
    models = _models_of_change(plan, rule, measure, found)
    if models is None:
        return _within(unchanged, low, high)
    likely, each = models
    each[0] = min(max(each[0], low), high) if isinstance(law, FrequencyLaw) else unchanged
    changes = each[1:][likely[1:] >= UNLIKELY].tolist()
    value = float(likely @ each)
    if not measure.steady:
        value = _limited_by_runs(value, len(found.ends))
    return _within(value, min(low, *changes, 1.0), max(high, *changes, 0.0))


def next_measurement(
    plan: Plan, rule: GateRule, measure: Measure, past: Sequence[PastRun]
) -> tuple[float, float, float] | None:
    """Return the mean of past measurements, and the 95 % prediction limits of the next one if the table stays as it is;
    None unless there are two or more, with a steady spread."""
    found = past_measurements(plan, rule, measure, past)
    law = None if found.unmeasured else law_of(plan, rule, measure, found)
    if not isinstance(law, SpreadLaw):
        return None
    center, far = mean(map(float, found.ends)), law.prediction_distance
    least, most = measure.range
    return center, max(float(least), center - far), min(float(most), center + far)


def _within(value: float, low: float, high: float) -> PassProbability:
    value, low, high = (min(1 - SURE, max(SURE, each)) for each in (value, min(low, value), max(high, value)))
    return PassProbability(value, low, high)


def _limited_by_runs(value: float, runs: int) -> float:
    """Return a probability clipped to the range from a to 1 - a. Here a = (1/2) / (runs + 1), Jeffreys' estimate if
    none of so many runs passed."""
    least = 0.5 / (runs + 1)
    return min(1 - least, max(least, value))


def law_of(plan: Plan, rule: GateRule, measure: Measure, found: PastMeasurements) -> Law | None:
    """Return the law of past measurements of a table that stays as it is. None without measurements, or with a single
    one whose own law does not suffice."""
    if _is_noisy(measure, found):
        return constant_law(_noise_units(rule, measure, found.ends), _noise_scale(rule, measure, found))
    if len(found.ends) < LEAST_RUNS:
        return None
    beyond = [float(each) for each in distances(rule, found.ends)]
    least = max(known_deviation(plan, measure, found), WHOLE if _whole(found.ends) else 0.0)
    if measure.steady and (least or len({*beyond}) > 1) and not _is_far_from_normal(plan, measure, found):
        return spread_law(beyond, least)
    return FrequencyLaw(sum(each <= 0 for each in beyond), len(beyond))


def _is_far_from_normal(plan: Plan, measure: Measure, found: PastMeasurements) -> bool:
    """Return True for a number of rows that one suppressed class moves farther than sampling does, and for whole
    numbers that take few values."""
    sampled, known = _sampling_deviation(plan, measure, found), known_deviation(plan, measure, found)
    if measure.deviation is not None and sampled < plan.protection.figures.least_class - 1:
        return True
    return _whole(found.ends) and max(stdev(map(float, found.ends)), known) < FEW_VALUES


def _models_of_change(
    plan: Plan, rule: GateRule, measure: Measure, found: PastMeasurements
) -> tuple[Floats, Floats] | None:
    """Return for each model of change, the first without change, its posterior probability and the probability that the
    gate passes; None for a single run, or for equal numbers whose spread is unknown."""
    if len(found.ends) < LEAST_RUNS:
        return None
    recent = found.ends[-RECENT:]
    if _is_noisy(measure, found):
        units, scale = _noise_units(rule, measure, recent), _noise_scale(rule, measure, found)
        unchanged = constant_law(units, scale).log_evidence
        law = predictive_distribution([float(each) for each in units], sqrt(2) * scale, unchanged)
        return law.likely, law.below(float(HALF))
    beyond = [float(each) for each in distances(rule, recent)]
    least = max(known_deviation(plan, measure, found), WHOLE if _whole(recent) else SMALL * stdev(beyond))
    if not least:
        return None
    law = predictive_distribution(beyond, least)
    return law.likely, law.below(0)


def distances(rule: GateRule, ends: Sequence[Fraction]) -> list[Fraction]:
    """Return how far each measurement is beyond the gate's limit, positive if it fails. The limit of whole numbers is
    half way to the next one that fails."""
    limit, least_end = stated_limit(rule), rule.at_most is None
    if _whole(ends):
        limit = ceil(limit) - HALF if least_end else floor(limit) + HALF
    return [limit - end if least_end else end - limit for end in ends]


def _whole(ends: Sequence[Fraction]) -> bool:
    return all(end.denominator == 1 for end in ends)


def _is_noisy(measure: Measure, found: PastMeasurements) -> bool:
    """Return True if the measurements have the noise of a charge."""
    return measure.reads is MeasureClass.CHARGED and bool(found.half and found.ends)


def _noise_units(rule: GateRule, measure: Measure, ends: Sequence[Fraction]) -> list[int]:
    """Return how far each noisy number is beyond the gate's limit, in whole units of its noise: at most 0 if it
    passes."""
    parts, limit = _parts(rule, measure), stated_limit(rule)
    if rule.at_most is None:
        return [ceil(limit * parts) - round(end * parts) for end in ends]
    return [round(end * parts) - floor(limit * parts) for end in ends]


def _parts(rule: GateRule, measure: Measure) -> int:
    """Return the number of whole units of noise in 1: an excess over a share p / q is counted in parts of q."""
    return rule.at_most.denominator if measure.excess and rule.at_most is not None else 1


def _noise_scale(rule: GateRule, measure: Measure, found: PastMeasurements) -> float:
    """Return the scale of a charged count's noise in whole units. The sensitivity is the least one whose noise has
    limits as far apart as those of past measurements."""
    assert rule.charge is not None, "its measure is charged"
    epsilon, apart = rule.charge.epsilon, round(found.half * _parts(rule, measure))
    sensitivity = max(1, int(apart * epsilon / 3))
    while laplace_quantile(sensitivity, epsilon, ALPHA) < apart:
        sensitivity += 1
    return float(sensitivity / epsilon)


def known_deviation(plan: Plan, measure: Measure, found: PastMeasurements) -> float:
    """Return the least standard deviation that a measurement is known to have, by its interval or by sampling."""
    wide = found.half > ROUNDED * max(map(abs, found.ends))
    return max(ENDS_APART * float(found.half) if wide else 0.0, _sampling_deviation(plan, measure, found))


def _comparable(plan: Plan, rule: GateRule, measure: Measure, ran: PastRun) -> GateFields | None:
    from crowdgate.history.recorded_verdicts import recorded_verdict, serves_limit

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


def _excess(rule: GateRule) -> bool:
    return MEASURES[rule.measure].excess
