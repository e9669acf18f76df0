"""The decision and the charge of a whole release, compared with what the policy states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.accounting.discrete_laws import DiscreteLaplace
from crowdgate.gate import verdict
from crowdgate.kind.stated_laws import Contradiction, NoiseDraws, StatedDraw
from crowdgate.ledger.ledger import Spend, State
from crowdgate.releases.slot_day import waiver_day

if TYPE_CHECKING:
    from crowdgate.candidate import Candidate
    from crowdgate.gate import Verdict
    from crowdgate.kind.run import CountedTable, JudgedCandidate, ReservedRun, Result, Run
    from crowdgate.noise import CountNoise

OTHER_GATES = Contradiction("Other gates were judged than the policy states.")
OTHER_VERDICT = Contradiction("A gate has another verdict than its measure gives.")
OTHER_DECISION = Contradiction("The release was published or withheld otherwise than its gates decide.")
OTHER_CHARGE = Contradiction("The ledger was charged otherwise than the policy states.")
UNPAID = Contradiction("A charged gate read the table without the noise of its stated cost.")


@dataclass(frozen=True)
class NoisyCount:
    """One count that a gate asked for: the exact one, its sensitivity, the epsilon, and the noisy one."""

    count: int
    sensitivity: int
    epsilon: Fraction
    noisy: int


def recording(noise: CountNoise, into: list[NoisyCount]) -> CountNoise:
    """Return a function that draws as `noise` does, and records each draw."""

    def drawn(count: int, sensitivity: int, epsilon: Fraction) -> int:
        noisy = noise(count, sensitivity, epsilon)
        into.append(NoisyCount(count, sensitivity, epsilon, noisy))
        return noisy

    return drawn


def judged_again(
    reserved: ReservedRun, found: CountedTable, judged: JudgedCandidate, counts: Sequence[NoisyCount]
) -> Iterator[StatedDraw]:
    """Yield the noise of charged gates, and a contradiction for each gate whose verdict is not that of its measure at
    the same noisy counts."""
    gates = [(rule, measure) for rule, measure in reserved.run.plan.gates if measure.of_candidate is not None]
    own = [each for each in judged.verdicts if each.rule in [rule for rule, _ in gates]]
    if [each.rule for each in own] != [rule for rule, _ in gates]:
        yield OTHER_GATES
        return
    used = [*counts]
    candidate = _measured(reserved, found, judged.candidate)
    day = waiver_day(reserved.run.slot, reserved.charge.line)
    for (rule, measure), stated in zip(gates, own, strict=True):
        asked: list[Fraction] = []

        def again(_: int, __: int, epsilon: Fraction, asked: list[Fraction] = asked) -> int:
            asked.append(epsilon)
            return used.pop(0).noisy if used else 0

        assert measure.of_candidate is not None, "it reads a candidate"
        value = measure.of_candidate(replace(candidate, noise=again), rule)
        if verdict(rule, measure, value, candidate.static, day) != stated:
            yield OTHER_VERDICT
        if asked != ([] if rule.charge is None or (value is None and not asked) else [rule.charge.epsilon]):
            yield UNPAID
    if used:
        yield UNPAID
    for each in counts:
        law = DiscreteLaplace(each.sensitivity / each.epsilon)
        yield NoiseDraws("noise of gates", law, np.array([each.noisy - each.count], dtype=np.int64))


def _measured(reserved: ReservedRun, found: CountedTable, made: Candidate) -> Candidate:
    register = reserved.run.register
    at_levels = None if register is None else register.at(made.static.levels)
    return replace(made, input=found.input, register=at_levels)


def decided(verdicts: Sequence[Verdict], result: Result) -> Iterator[Contradiction]:
    """Yield a contradiction unless the release was withheld exactly where a blocking gate did not pass."""
    firm = any(each.blocks and each.rule.waiver is None for each in verdicts)
    failed = any(each.withholds for each in verdicts)
    if (result.outcome == "withheld") != (failed or not firm):
        yield OTHER_DECISION


def charged(run: Run, *, void: bool, withheld: bool) -> Iterator[Contradiction]:
    """Yield a contradiction unless the ledger of this release alone holds one charge, of the stated cost. It is `void`
    only where gates withheld the release before the table was read."""
    plan, state = run.plan, State.VOID if void else State.WITHHELD if withheld else State.PUBLISHED
    stated = plan.guarantee if plan.series is None else plan.series
    held = [(each.release_id, each.spend, each.state) for each in run.ledger.entries()]
    cost = Spend(stated.epsilon, stated.delta)
    total = run.ledger.spent(plan.bundle.contract.population)
    if held != [(run.id, cost, state)] or total != (Spend(Fraction(0), Fraction(0)) if void else cost):
        yield OTHER_CHARGE
