"""One current gate on one published release, measured with its figures, or the reason why it can't be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crowdgate.candidate import Candidate, Static
from crowdgate.gate import verdict
from crowdgate.history.recorded_verdicts import recorded_verdict, serves_limit
from crowdgate.kind.kind import AnyKind
from crowdgate.manifest import GateFields, Manifest
from crowdgate.measures import Measure, MeasureClass
from crowdgate.policy.policy import GateRule
from crowdgate.review.replay.gate_on_recorded_verdicts import ReplayedGate, same_limit
from crowdgate.verification.gates import measurement, static_with_audits

if TYPE_CHECKING:
    from crowdgate.verification.steps import Verification


@dataclass(frozen=True, eq=False)
class ReleaseEvidence:
    """Evidence for gates in a published, verified release: its manifest, kind, candidate and public facts."""

    said: Manifest
    kind: AnyKind
    candidate: Candidate
    static: Static

    @classmethod
    def of(cls, found: Verification) -> ReleaseEvidence:
        """Return the manifest, kind, candidate and facts that a successful verification has read."""
        candidate = found.candidate
        return cls(found.manifest, found.kind, candidate, static_with_audits(found.manifest, candidate))


def gate_on_published(rule: GateRule, measure: Measure, shown: ReleaseEvidence, day: str) -> ReplayedGate:
    """Judge a current gate on a published release, with the figures of that release; `day` is the day of its own
    verdicts."""
    own = recorded_verdict(rule, shown.said.verdicts)
    why = None if own and same_limit(rule, own) else _unmeasurable(rule, measure, shown, own)
    if why is not None:
        return ReplayedGate(rule, measure.reads, None, why)
    noisy = None if own is None else own.value
    found = measurement(noisy, _at_recorded_charge(rule, own), measure, shown.static, shown.candidate)
    return ReplayedGate(rule, measure.reads, verdict(rule, measure, found, shown.static, day))


def _unmeasurable(rule: GateRule, measure: Measure, shown: ReleaseEvidence, own: GateFields | None) -> str | None:
    """Return the reason why the gate can't be judged on the release, in words; None if it can."""
    released, counted = shown.candidate.static.levels, shown.static.levels
    if measure.shape not in shown.kind.shapes:
        return "it does not speak of such a release"
    if measure.reads is MeasureClass.CHARGED:
        return (
            None if own is not None and serves_limit(rule, measure, own) else "it was not paid for then at this number"
        )
    if measure.asks is not None and measure.asks not in shown.static.audits:
        return "no audit was published with the release"
    if measure.register and shown.candidate.register is None:
        return "no counts of a register were published with the release"
    if rule.of is not None and rule.of not in released:
        return f"{rule.of} was not released"
    names = set(rule.over or released) if measure.over else set()
    if (measure.over and not names) or not names <= counted.keys():
        return "the release shows no public counts of what this gate speaks of"
    return None


def _at_recorded_charge(rule: GateRule, own: GateFields | None) -> GateRule:
    """Return the current gate with the privacy cost at which the recorded gate measured its number."""
    charge = None if own is None else own.rule.charge
    return rule if rule.charge is None else rule.model_copy(update={"charge": charge})
