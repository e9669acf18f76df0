"""Holding a release that a gate would almost surely withhold: it ends before the charge, so it costs nothing.

A gate holds a release if its past measurements exclude that it passes with the probability that the policy asks for.
"Exclude" is a test: if the gate does pass with this probability, it holds the next release with probability at most
LEVEL, all gates of the policy together. The forecast must be below the probability as well, as it knows of levels that
change from run to run and the test does not.

The tests are, for the distances d of past measurements beyond the gate's limit:

- several runs of a measure whose spread is steady: Student's t of the mean of d, with the noncentral distribution at
  the probability asked for (Johnson, Welch 1940, "Applications of the non-central t-distribution");
- several runs of other measures: all of n runs failed, which has probability at most (1 - chance)^n;
- one run, the last: the law of its noise (Laplace), or for a count of released classes, a sum of independent
  indicators, the bounds of Cantelli and Chernoff.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from fractions import Fraction
from math import exp, log, sqrt
from statistics import NormalDist, mean, stdev
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.forecast.chances.from_past_runs import (
    WHOLE,
    PastMeasurements,
    odds_from_past_runs,
    past_measurements,
    stated_limit,
)
from crowdgate.gate import gate_text
from crowdgate.measures import MeasureClass

if TYPE_CHECKING:
    from crowdgate.history.past_runs import PastRun
    from crowdgate.kind.plan import Plan
    from crowdgate.measures import Measure
    from crowdgate.policy.policy import GateRule

LEVEL = 0.01
"""The greatest probability of holding a release whose gates all pass with the probability asked for."""
_POINTS = 2000
_SPREADS = 12


def holding_gates(plan: Plan, past: Sequence[PastRun], stopping: Container[int]) -> tuple[str, ...]:
    """Return the gates that hold the next release of a policy, each in a phrase with the runs that it rests on.

    `stopping` are the ids of the rules that would withhold it; all of them read public or paid figures. A gate that is
    known to fail beforehand is left out: the release ends by it before the charge anyway.
    """
    chance = float(plan.bundle.policy.spec.spend.chance_at_least)
    gates = [gate for gate in plan.gates if id(gate[0]) in stopping and gate[1].of_static is None]
    return tuple(_held(plan, past, gates, chance))


def _held(
    plan: Plan, past: Sequence[PastRun], gates: Sequence[tuple[GateRule, Measure]], chance: float
) -> Iterator[str]:
    for rule, measure in gates:
        found = past_measurements(plan, rule, measure, past)
        if found.ends and excluded(plan, rule, measure, found, chance, LEVEL / len(gates)):
            yield f"{gate_text(rule)} would pass with a probability below {chance:g}, by {found.words(rule)}"


def excluded(plan: Plan, rule: GateRule, measure: Measure, past: PastMeasurements, chance: float, level: float) -> bool:
    """Return whether past measurements exclude, at this level, that a gate passes with probability `chance`.

    A run that failed to measure it excludes nothing.
    """
    if past.unmeasured:
        return False
    if len(past.ends) > 1:
        odds = odds_from_past_runs(plan, rule, measure, past)
        if odds is None or (measure.steady and odds.high >= chance):
            return False
    beyond = [float(_beyond(rule, end)) for end in past.ends]
    return beyond[-1] > 0 and any(p <= level / 2 for p in _p_values(plan, rule, measure, past, beyond, chance))


def _beyond(rule: GateRule, end: Fraction) -> Fraction:
    """Return how far a measurement is beyond the gate's limit, positive if it fails."""
    return stated_limit(rule) - end if rule.at_most is None else end - stated_limit(rule)


def _p_values(
    plan: Plan, rule: GateRule, measure: Measure, past: PastMeasurements, beyond: Sequence[float], chance: float
) -> Iterator[float]:
    """Yield the greatest probabilities of measurements at least so far beyond the limit, if the gate passes with
    probability `chance`: by all runs, and by the last one alone."""
    if len(beyond) > 1:
        yield _of_means(beyond, past, chance) if measure.steady else _of_failures(beyond, chance)
    if measure.reads is MeasureClass.CHARGED and past.half:
        yield _of_noise(beyond[-1], float(past.half), chance)
    alone = plan.bundle.contract.unit.rows == 1  # rows of one person are sampled together
    if measure.counts_indicators and alone and rule.at_least is not None:
        yield _of_indicators(float(past.ends[-1]), float(rule.at_least), chance)


def _of_means(beyond: Sequence[float], past: PastMeasurements, chance: float) -> float:
    floor = WHOLE if all(end.denominator == 1 for end in past.ends) else 0.0
    spread, far = max(stdev(beyond), floor), mean(beyond)
    if far <= 0:
        return 1.0
    if spread == 0:
        return _of_failures(beyond, chance)
    return above_noncentral_t(sqrt(len(beyond)) * far / spread, len(beyond) - 1, _shift(len(beyond), chance))


def _shift(runs: int, chance: float) -> float:
    """Return the noncentrality of Student's t where the next measurement passes with probability `chance`."""
    return -sqrt(runs) * NormalDist().inv_cdf(chance)


def _of_failures(beyond: Sequence[float], chance: float) -> float:
    return (1 - chance) ** len(beyond) if min(beyond) > 0 else 1.0


def _of_noise(far: float, half: float, chance: float) -> float:
    """Return the p-value of one measurement with Laplace noise, `half` of whose 95 % limits' distance is log(10)
    scales: the unknown number is where the next measurement passes with probability `chance`."""
    scale = half / log(10)
    quantile = log(2 * chance) if chance <= 0.5 else -log(2 * (1 - chance))
    apart = far / scale + quantile
    return exp(-apart) / 2 if apart > 0 else 1 - exp(apart) / 2


def _of_indicators(seen: float, limit: float, chance: float) -> float:
    """Return the p-value of one count of independent events below a limit.

    A count of variance v at most its mean m reaches the limit with probability at least `chance` only if limit - m is
    at most sqrt(v (1 - chance) / chance) (Cantelli). A count of at most `seen` has probability at most that of
    Chernoff's bound, exp(m' - m) (m / m')^m' at m' = `seen`.
    """
    odds = (1 - chance) / chance
    root = (-sqrt(odds) + sqrt(odds + 4 * limit)) / 2  # of m + sqrt(odds m) = limit
    least = root * root
    if seen >= least:
        return 1.0
    return exp(seen - least + (seen * log(least / seen) if seen else 0.0))


def above_noncentral_t(t: float, freedom: int, shift: float) -> float:
    """Return P(T >= t) for Student's noncentral t with `freedom` degrees of freedom and noncentrality `shift`.

    T = (Z + shift) / U, where freedom U^2 has the chi-squared law. Midpoint rule over the logarithm of U, with a
    relative error below 1e-3 for probabilities above 1e-9 (measured against another library).
    """
    low, high = -3 - 40 / freedom, log(1 + _SPREADS / sqrt(2 * freedom))
    at = np.exp(low + (np.arange(_POINTS) + 0.5) * (high - low) / _POINTS)
    logs = freedom * (np.log(at) - at * at / 2)
    weights = np.exp(logs - logs.max())
    tails = np.array([NormalDist().cdf(shift - t * u) for u in at])
    return float((weights * tails).sum() / weights.sum())
