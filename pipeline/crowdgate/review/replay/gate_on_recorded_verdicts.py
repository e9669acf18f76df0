"""One current gate on the recorded verdicts of a past release: judged on their figures, or the reason why it can't be.

Only what was recorded is read, so neither the release nor its verification is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import nan
from typing import TYPE_CHECKING, Any

from crowdgate.candidate import Measurement
from crowdgate.gate import Outcome, Verdict, WrittenMeasurement, gate_text, is_waived, judge
from crowdgate.history.recorded_verdicts import recorded_verdict, serves_limit
from crowdgate.measures import MeasureClass

if TYPE_CHECKING:
    from crowdgate.manifest import GateFields
    from crowdgate.measures import Measure
    from crowdgate.policy.policy import GateRule

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
    outcome = Outcome(own.outcome) if same_limit(rule, own) else judge(rule, _measurement(shown))
    waives = is_waived(rule, measure, outcome, day)
    return ReplayedGate(rule, measure.reads, Verdict(rule, measure.reads, outcome, shown, waived=waives))


def confidential_gate(rule: GateRule, measure: Measure) -> ReplayedGate:
    """Return a gate on confidential figures without a verdict: the figures are not accessed."""
    return ReplayedGate(rule, measure.reads, None, UNSEEN)


def same_limit(rule: GateRule, own: GateFields) -> bool:
    """Return True if the recorded gate has the same limit as the current one."""
    return (rule.at_most, rule.at_least) == (own.at_most, own.at_least)


def _measurement(shown: WrittenMeasurement | None) -> Measurement | None:
    """Return the measurement that a record states (None: it states none); its confidence limits were rounded
    outwards."""
    return None if shown is None else Measurement(*map(_figure, (shown.value, shown.low, shown.high)))


def _figure(text: str) -> Fraction | float:
    return nan if text.lstrip("-").isalpha() else Fraction(text)
