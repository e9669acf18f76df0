"""Probability that the next release passes each gate of a policy, and all that block together.

Gates that read no data are known beforehand. Other gates are forecast from past runs, if at least ENOUGH of them are
comparable. Otherwise public counts are used, if the kind of release knows the measure's distribution from them. Without
counts, LEAST_RUNS of the past runs suffice. If that is missing, too, the probability is unknown: a number without a
basis is worse than none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from crowdgate.forecast.chances.from_past_runs import (
    PastMeasurements,
    distances_by_run,
    odds_from_past_runs,
    past_measurements,
)
from crowdgate.forecast.chances.holding_gate import HoldingGate
from crowdgate.gate import GateReach, Outcome, gate_text, is_waived, verdict
from crowdgate.history.past_runs import PastRun, past_runs
from crowdgate.kind.pass_probability import PassProbability
from crowdgate.measures import MeasureClass
from crowdgate.number_text import CHANCE, format_value
from crowdgate.planning.budget_left import facts_at_next
from crowdgate.planning.gate_verdicts import audit_questions, gate_reach

if TYPE_CHECKING:
    from crowdgate.candidate import Audits, Static
    from crowdgate.kind.plan import Plan
    from crowdgate.measures import Measure
    from crowdgate.planning.budget_left import LedgerStatus
    from crowdgate.planning.open_ledger import OpenedLedger
    from crowdgate.policy.policy import GateRule
    from crowdgate.publish.register import Register

ENOUGH = 3
BEFOREHAND = "known beforehand"
PASSES, FAILS = PassProbability(1.0, 1.0, 1.0), PassProbability(0.0, 0.0, 0.0)
ByCounts = Callable[["GateRule", "Measure", "Static"], tuple[PassProbability, str] | None]
"""A function that returns the probability from public counts, and their description; None if they do not determine it.
"""

Simulated = Callable[["GateRule", "Measure"], str | None]
"""A function that returns how many simulated releases pass a gate, in words; None if none are simulated."""


@dataclass(frozen=True)
class GateChance:
    """The probability `odds` that one gate passes in the next release (None: unknown), and its basis, or why it is
    unknown.

    A gate that `stops` withholds the release unless it passes: it blocks, and its failure is not waived. `beyond` is
    the distance beyond its limit by past run, if past runs forecast it.
    """

    rule: GateRule
    odds: PassProbability | None
    basis: str
    stops: bool
    beyond: Mapping[str, float] = field(default_factory=dict)

    @property
    def gate(self) -> str:
        """The gate in one phrase, e.g. `released_rows at least 100000`."""
        return gate_text(self.rule)

    def probability(self) -> str:
        """Return the probability of passing with its basis, or "unknown" with the reason, for a gate that can pass and
        fail."""
        reason = self.basis.removeprefix("unknown: ")
        return f"unknown ({reason})" if self.odds is None else f"{odds_text(self.odds)}, {self.basis}"

    def to_json(self) -> dict[str, Any]:
        """Return the gate's probability, its basis, and its effect as an object of JSON."""
        return {"gate": self.gate, **odds_json(self.odds), "basis": self.basis, "stops": self.stops}


@dataclass(frozen=True)
class Chances:
    """The probability of each gate in the next release, except gates on confidential figures. `refused`: the ledger
    would refuse the release. `holds` are the gates that hold it before the charge (see `hold`)."""

    gates: tuple[GateChance, ...]
    refused: bool
    holds: tuple[HoldingGate, ...] = ()

    @property
    def step_if_held(self) -> str:
        """The next step if gates hold the release, with their limits."""
        limits = " and ".join(f"“{each.gate}”" for each in self.holds)
        return f"change the limit in {limits}, or charge the release anyway if the table has changed: --anyway REASON."

    @property
    def untold(self) -> int:
        """The number of gates that can stop the release and have an unknown probability."""
        return sum(each.odds is None for each in self._stopping)

    @property
    def all(self) -> PassProbability | None:
        """The probability that the next release is published; None if it is unknown for a gate that can withhold the
        release, unless another such gate can't pass.

        The value is that of the same draws for all gates; the limits hold for any dependence (Frechet 1935).
        """
        told = [each.odds for each in self._stopping if each.odds is not None]
        if self.refused or FAILS in told:
            return FAILS
        if self.untold:
            return None
        from crowdgate.forecast.chances.joint import GateDraw, joint_probability

        low = max(0.0, 1 - sum(1 - each.low for each in told))
        drawn = [GateDraw(each.odds, each.beyond) for each in self._stopping if each.odds is not None]
        return PassProbability(min(self.at_most, max(low, joint_probability(drawn))), low, self.at_most)

    @property
    def at_most(self) -> float:
        """Upper bound on the probability that the next release is published: the least upper limit among gates of known
        probability that can withhold it, 0 if the ledger refuses it."""
        told = [each.odds.high for each in self._stopping if each.odds is not None]
        return 0.0 if self.refused else min(told, default=1.0)

    @property
    def _stopping(self) -> list[GateChance]:
        return [each for each in self.gates if each.stops]

    def publication(self) -> str:
        """Return the probability that the next release is published, in a clause."""
        found = self.all
        if self.refused:
            return "impossible: the next release is refused"
        if self.holds:
            return f"the next release is held before the charge: {'; '.join(map(str, self.holds))}"
        if found is not None:
            return f"probability {odds_text(found)}"
        gates = "1 gate has no estimate" if self.untold == 1 else f"{self.untold} gates have no estimate"
        bound = f", at most {format_value(self.at_most, CHANCE)} by the others" if self.at_most < 1 else ""
        return f"probability unknown ({gates}){bound}"

    def to_json(self) -> dict[str, Any]:
        """Return the probability of publication and that of each gate as an object of JSON."""
        whole = {**odds_json(self.all), "at_most": self.at_most, "gates_not_told": self.untold}
        return {
            "release": whole,
            "gates": [each.to_json() for each in self.gates],
            "held_by": list(map(str, self.holds)),
        }


@dataclass(frozen=True, eq=False)
class NextRelease:
    """The facts about the next release before it is made.

    These are public facts with the recorded audits, the public register (None: the policy names none, or its table is
    unreadable here, which `register_fault` says), and past runs (None: unknown).
    """

    plan: Plan
    static: Static
    register: Register | None
    past: Sequence[PastRun] | None
    counts: ByCounts
    simulated: Simulated
    register_fault: str | None = None

    def reach(self, rule: GateRule, measure: Measure) -> GateReach:
        """Return the reach of a gate from the next release on: it can't fail, can't pass, or is open."""
        return gate_reach(self.static, rule, measure, self.register)

    def open_gates(self) -> Sequence[tuple[GateRule, Measure]]:
        """Return the gates on which data decide: they can pass and can fail."""
        read = (each for each in self.plan.gates if each[1].of_static is None)
        return [(rule, measure) for rule, measure in read if self.reach(rule, measure) is GateReach.OPEN]

    def outcome(self, rule: GateRule, measure: Measure) -> Outcome | None:
        """Return the outcome of a gate that reads public facts only; None for gates that read data."""
        if measure.of_static is None:
            return None
        return verdict(rule, measure, measure.of_static(self.static, rule)).outcome

    def waived(self, rule: GateRule, measure: Measure, day: str) -> bool:
        """Return True if a failure of the gate is waived on this day (YYYY-MM-DD). A failed measurement never is."""
        if not is_waived(rule, measure, Outcome.FAIL, day):
            return False
        unusable = measure.register and self.register is not None and not self.register.usable
        return not unusable and self.outcome(rule, measure) is not Outcome.INCONCLUSIVE


def next_release(
    plan: Plan,
    opened: OpenedLedger,
    standing: LedgerStatus,
    counts: ByCounts = lambda *_: None,
    simulated: Simulated = lambda *_: None,
) -> NextRelease:
    """Return the facts about the next release of a policy with this status in its ledger."""
    register, fault = (None, None) if plan.bundle.register is None else _register(plan)
    static = replace(facts_at_next(plan, standing.left), audits=_audits(plan))
    known = NextRelease(plan, static, register, None, counts, simulated, fault)
    return replace(known, past=past_runs(plan, opened, {rule.measure for rule, _ in known.open_gates()}))


def chances(found: NextRelease, standing: LedgerStatus, day: str) -> Chances:
    """Return the probability of each gate in the next release; `day` (YYYY-MM-DD) is the day up to which waivers must
    hold."""
    told = [each for each in found.plan.gates if each[1].reads is not MeasureClass.CONFIDENTIAL]
    past = {id(gate[0]): past_measurements(found.plan, *gate, found.past or ()) for gate in found.open_gates()}
    gates = tuple(_gate(found, *each, past.get(id(each[0])), day) for each in told)
    refused = standing.refused is not None or found.register_fault is not None
    return Chances(gates, refused, _holds(found, gates, past))


def _holds(
    found: NextRelease, gates: Sequence[GateChance], past: Mapping[int, PastMeasurements]
) -> tuple[HoldingGate, ...]:
    """Return the gates that hold the next release: those that can't pass under the mechanism, and those of which past
    runs exclude that they pass."""
    if not found.plan.bundle.policy.spec.spend.chance_at_least:
        return ()
    read = {id(rule) for rule, measure in found.plan.gates if measure.of_static is None}
    never = tuple(
        HoldingGate(each.gate, "can't pass")
        for each in gates
        if each.stops and each.odds is FAILS and id(each.rule) in read
    )
    if never or not found.past:
        return never
    from crowdgate.forecast.chances.hold import holding_gates

    stopping = {id(each.rule) for each in gates if each.stops}
    return holding_gates(found.plan, {rule: each for rule, each in past.items() if rule in stopping})


def _gate(found: NextRelease, rule: GateRule, measure: Measure, past: PastMeasurements | None, day: str) -> GateChance:
    odds, basis, beyond = _odds(found, rule, measure, past)
    stops = rule.severity == "block" and not found.waived(rule, measure, day)
    return GateChance(rule, odds, basis if odds else f"unknown: {basis}", stops, beyond)


def _odds(
    of: NextRelease, rule: GateRule, measure: Measure, found: PastMeasurements | None
) -> tuple[PassProbability | None, str, Mapping[str, float]]:
    """Return the probability of a gate (None: unknown), its basis, and how far past runs were beyond its limit;
    `found` are the past measurements of an open gate."""
    plan, static = of.plan, of.static
    outcome = of.outcome(rule, measure)
    if outcome is not None:
        return PASSES if outcome is Outcome.PASS else FAILS, BEFOREHAND, {}
    if found is None:
        return PASSES if of.reach(rule, measure) is GateReach.CANNOT_FAIL else FAILS, BEFOREHAND, {}
    odds = odds_from_past_runs(plan, rule, measure, found)
    by_counts = None if odds is not None and len(found.ends) >= ENOUGH else of.counts(rule, measure, static)
    if by_counts is not None:
        return by_counts[0], f"from {by_counts[1]}", {}
    if odds is not None:
        return odds, f"from {found.words(rule)}", distances_by_run(rule, measure, found)
    reason = "its ledger can't be read here" if of.past is None else found.words(rule)
    return None, "; ".join(each for each in (reason, of.simulated(rule, measure)) if each is not None), {}


def _audits(plan: Plan) -> Audits:
    if not audit_questions(plan):
        return {}
    from crowdgate.audit.common.stored_records import now
    from crowdgate.audit.evidence import evidence_here

    return evidence_here(plan, now().isoformat()).audits


def odds_json(odds: PassProbability | None) -> dict[str, Any]:
    """Return a probability and its limits as a dictionary with the keys `chance`, `low` and `high`, all None if it is
    unknown."""
    return {name: None if odds is None else getattr(odds, of) for name, of in
            (("chance", "value"), ("low", "low"), ("high", "high"))}  # fmt: skip


def odds_text(odds: PassProbability) -> str:
    """Return a probability as text, with its limits if they differ."""
    value, low, high = (format_value(each, CHANCE) for each in (odds.value, odds.low, odds.high))
    return value if low == high else f"{value} ({low} to {high})"


def _register(plan: Plan) -> tuple[Register | None, str | None]:
    """Return the public register of a policy, counted at its levels, and the reason if its table is unreadable here."""
    from crowdgate.planning.register_counts import register_or_fault

    return register_or_fault(plan)
