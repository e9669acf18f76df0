"""Holding a release that a gate would almost surely withhold: it ends before the charge, so it costs nothing.

A gate holds a release if its past measurements exclude that it passes with the probability that the policy asks for.
"Exclude" is a test: if the gate does pass with this probability, it holds the next release with probability at most
LEVEL, all gates of the policy together. The forecast must be below the probability as well, as it knows of levels that
change from run to run and the test does not.

The tests are those by which the forecast has its confidence interval (`laws`): of all past runs, and of the last one
alone where its own law suffices, as levels may change from run to run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from crowdgate.forecast.chances.from_past_runs import (
    PastMeasurements,
    distances,
    law_of,
    odds_from_past_runs,
)
from crowdgate.forecast.chances.holding_gate import HoldingGate
from crowdgate.forecast.chances.laws import below_indicators
from crowdgate.gate import gate_text

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan
    from crowdgate.measures import Measure
    from crowdgate.policy.policy import GateRule

LEVEL = 0.01
"""The greatest probability of holding a release whose gates all pass with the probability asked for."""


def holding_gates(plan: Plan, past: Mapping[int, PastMeasurements]) -> tuple[HoldingGate, ...]:
    """Return the gates that hold the next release of a policy, each with the runs that it rests on.

    `past` are the past measurements of each gate that would withhold it and on which data decide, by the id of its
    rule; all of them are public or paid figures. A gate that is known to fail beforehand is not among them: the release
    ends by it before the charge anyway. Nor is one that can't fail.
    """
    gates = [(*gate, past[id(gate[0])]) for gate in plan.gates if id(gate[0]) in past]
    return tuple(_held(plan, gates, float(plan.bundle.policy.spec.spend.chance_at_least)))


def _held(
    plan: Plan, gates: Sequence[tuple[GateRule, Measure, PastMeasurements]], chance: float
) -> Iterator[HoldingGate]:
    for rule, measure, found in gates:
        if found.ends and excluded(plan, rule, measure, found, chance, LEVEL / len(gates)):
            below = f"would pass with a probability below {chance:g} (the policy's minimum)"
            yield HoldingGate(gate_text(rule), f"{below}, by {found.words(rule)}")


def excluded(plan: Plan, rule: GateRule, measure: Measure, past: PastMeasurements, chance: float, level: float) -> bool:
    """Return whether past measurements exclude, at this level, that a gate passes with probability `chance`.

    A run that failed to measure it excludes nothing.
    """
    if past.unmeasured or distances(rule, past.ends)[-1] <= 0:
        return False
    if len(past.ends) > 1:
        odds = odds_from_past_runs(plan, rule, measure, past)
        if odds is None or (measure.steady and odds.high >= chance):
            return False
    return any(p <= level / 2 for p in _p_values(plan, rule, measure, past, chance))


def _p_values(plan: Plan, rule: GateRule, measure: Measure, past: PastMeasurements, chance: float) -> Iterator[float]:
    """Yield the greatest probabilities of measurements at least so far beyond the limit, if the gate passes with
    probability `chance`: by all runs, and by the last one alone."""
    last = replace(past, ends=past.ends[-1:])
    for shown in (past, last) if len(past.ends) > 1 else (past,):
        law = law_of(plan, rule, measure, shown)
        if law is not None:
            yield law.above(chance)
    alone = plan.bundle.contract.unit.rows == 1  # rows of one person are sampled together
    if measure.counts_indicators and alone and rule.at_least is not None:
        yield below_indicators(float(past.ends[-1]), float(rule.at_least), chance)
