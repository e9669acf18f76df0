"""One current gate on one past release: the verdict on its recorded figures, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import nan
from typing import TYPE_CHECKING, Any

from crowdgate.candidate import Candidate, Measurement, Static
from crowdgate.gate import Outcome, Verdict, WrittenMeasurement, gate_text, is_waived, judge, verdict
from crowdgate.history.recorded_verdicts import recorded_verdict, serves_limit
from crowdgate.kind.kind import AnyKind
from crowdgate.manifest import GateFields, Manifest
from crowdgate.measures import Measure, MeasureClass
from crowdgate.policy.policy import GateRule
from crowdgate.verification.gates import measurement, static_with_audits

if TYPE_CHECKING:
    from crowdgate.verification.steps import Verification

UNTOLD = "the release was withheld, and its private record is not at hand"
UNSEEN = "it reads confidential figures (use --private)"


@dataclass(frozen=True)
class ReplayedGate:
    """The verdict of a gate on a past release, or why it is unknown. It holds no figures of confidential measures."""

    rule: GateRule
    reads: MeasureClass
    verdict: Verdict | None
    why: str | None = None

    @property
    def withholds(self) -> bool | None:
        """True if the gate would have withheld the release or advised against it; None if unknown.

        A failure that is waived on the day of the verdict does not count.
        """
        return None if self.verdict is None else self.verdict.outcome is not Outcome.PASS and not self.verdict.waived

    @property
    def words(self) -> str:
        """The measured number beside the limit, in words, or why there is no verdict; no figures of confidential
        measures."""
        if self.verdict is None:
            return self.why or ""
        return self.verdict.reason if self.reads is not MeasureClass.CONFIDENTIAL else "its figures are not shown"

    def to_json(self) -> dict[str, Any]:
        """Return the gate with its outcome on the past release as an object of JSON."""
        stated = {"gate": gate_text(self.rule), "class": str(self.reads), "severity": self.rule.severity}
        shown = None if self.verdict is None or self.reads is MeasureClass.CONFIDENTIAL else self.verdict.shown
        figures = {name: None if shown is None else getattr(shown, name) for name in ("value", "low", "high")}
        outcome = "not known" if self.verdict is None else str(self.verdict.outcome)
        waives = self.verdict is not None and self.verdict.waived
        return {**stated, "outcome": outcome, "waived": waives, **figures, "why": self.why}


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
    why = None if own and _same_measurement(rule, own) else _unmeasurable(rule, measure, shown, own)
    if why is not None:
        return ReplayedGate(rule, measure.reads, None, why)
    noisy = None if own is None else own.value
    found = measurement(noisy, _at_recorded_charge(rule, own), measure, shown.static, shown.candidate)
    return ReplayedGate(rule, measure.reads, verdict(rule, measure, found, shown.static, day))


def gate_on_recorded(rule: GateRule, measure: Measure, record: Sequence[GateFields] | None, day: str) -> ReplayedGate:
    """Judge the gate on the verdicts in a private record (None: unavailable) of a run of that day.

    For a withheld release nothing else is available.
    """
    if record is None:
        return ReplayedGate(rule, measure.reads, None, UNTOLD)
    own = recorded_verdict(rule, record)
    if own is None or not serves_limit(rule, measure, own):
        return ReplayedGate(rule, measure.reads, None, "it was not measured then")
    shown = own.verdict.shown
    outcome = Outcome(own.outcome) if _same_measurement(rule, own) else judge(rule, _measurement(shown))
    waives = is_waived(rule, measure, outcome, day)
    return ReplayedGate(rule, measure.reads, Verdict(rule, measure.reads, outcome, shown, waived=waives))


def confidential_gate(rule: GateRule, measure: Measure) -> ReplayedGate:
    """Return a gate on confidential figures without a verdict: the figures are not accessed."""
    return ReplayedGate(rule, measure.reads, None, UNSEEN)


def _same_measurement(rule: GateRule, own: GateFields) -> bool:
    """Return True if the recorded gate has the same limit as the current one."""
    return (rule.at_most, rule.at_least) == (own.at_most, own.at_least)


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


def _measurement(shown: WrittenMeasurement | None) -> Measurement | None:
    """Return the measurement that a record states (None: it states none); its confidence limits were rounded
    outwards."""
    return None if shown is None else Measurement(*map(_figure, (shown.value, shown.low, shown.high)))


def _figure(text: str) -> Fraction | float:
    return nan if text.lstrip("-").isalpha() else Fraction(text)
