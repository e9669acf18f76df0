"""Gates before a release: when each is decided, whether it can decide anything, and static verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.gate import GateReach, Verdict, reach, verdict
from crowdgate.measures import MEASURES, Measure, MeasureClass

if TYPE_CHECKING:
    from crowdgate.candidate import AuditQuestion, Static
    from crowdgate.kind.plan import Plan
    from crowdgate.policy.policy import GateRule
    from crowdgate.publish.register import Register


def judge_static(plan: Plan, static: Static, day: str) -> list[Verdict]:
    """Return the verdicts of the gates that read no data, with the waivers that hold on `day` (YYYY-MM-DD)."""
    return [
        verdict(rule, measure, measure.of_static(static, rule), static, day)
        for rule, measure in plan.gates
        if measure.of_static is not None
    ]


def gate_reach(static: Static, rule: GateRule, measure: Measure, register: Register | None = None) -> GateReach:
    """Return whether a gate can pass, fail, or both at a release with these public facts. No gate passes on a register
    without usable records.
    """
    if measure.register and register is not None and not register.usable:
        return GateReach.CANNOT_PASS
    if measure.of_noisy is None and reach(rule, measure.range) is GateReach.CANNOT_PASS:
        return GateReach.CANNOT_PASS  # also where the measure may have no value
    return reach(rule, measure.reach(static, rule))


def decision_time(measure: Measure) -> str:
    """Return the words that say when a gate on this measure is decided: before data are read, on the output, or on the
    table.
    """
    against = " and the public register" if measure.register else ""
    by = " by a recorded audit" if measure.asks is not None else ""
    return {
        MeasureClass.STATIC: f"decided{by} before any data is read",
        MeasureClass.OUTPUT: f"decided{by and f'{by} and'} on what would be published{against}",
        MeasureClass.CHARGED: "decided on the table, through noise that the policy's epsilon pays",
        MeasureClass.CONFIDENTIAL: "shown in the private record only",
    }[measure.reads]


def any_withholds(verdicts: list[Verdict]) -> bool:
    """Return whether any verdict withholds the release."""
    return any(found.withholds for found in verdicts)


def audit_question(rule: GateRule) -> AuditQuestion | None:
    """Return the question of the recorded audit that a gate is judged by; None for other gates."""
    return MEASURES[rule.measure].asks if rule.measure in MEASURES else None


def audit_questions(plan: Plan) -> list[AuditQuestion]:
    """Return the audit questions by which a policy's gates are judged, each once."""
    return list(dict.fromkeys(question for rule, _ in plan.gates if (question := audit_question(rule)) is not None))
