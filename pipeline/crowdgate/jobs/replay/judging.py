"""One gate of today on one release of the past: judged on what that release recorded, or the reason why it can't be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import nan
from typing import Any

from crowdgate.candidate import Candidate, Measurement, Static
from crowdgate.gate import Outcome, Shown, Verdict, gate_words, judge, verdict
from crowdgate.jobs.replay.numbers import fits, recorded
from crowdgate.kind.kind import AnyKind
from crowdgate.manifest import GateSaid, Manifest
from crowdgate.measures import Measure, MeasureClass
from crowdgate.policy.policy import GateRule
from crowdgate.verification.gates import known_first, measured
from crowdgate.verification.verify import Verification

UNSEEN = "it reads confidential figures, which --private looks at"


@dataclass(frozen=True)
class Replayed:
    """What a gate would have said, or why nobody can tell. Figures of confidential measures are not in it."""

    rule: GateRule
    reads: MeasureClass
    verdict: Verdict | None
    why: str | None = None

    @property
    def withholds(self) -> bool | None:
        """Whether it would have withheld, or advised against, the release; None where nobody can tell. A failure that
        is waived up to the day of its slot would not."""
        return None if self.verdict is None else self.verdict.outcome is not Outcome.PASS and not self.verdict.waived

    @property
    def words(self) -> str:
        """What was measured and what it must be."""
        if self.verdict is None:
            return self.why or ""
        return self.verdict.reason if self.reads is not MeasureClass.CONFIDENTIAL else "its figures are not shown"

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        stated = {"gate": gate_words(self.rule), "class": str(self.reads), "severity": self.rule.severity}
        shown = None if self.verdict is None or self.reads is MeasureClass.CONFIDENTIAL else self.verdict.shown
        figures = {name: None if shown is None else getattr(shown, name) for name in ("value", "low", "high")}
        outcome = "not known" if self.verdict is None else str(self.verdict.outcome)
        return {**stated, "outcome": outcome, **figures, "why": self.why}


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a published release that verifies shows."""

    said: Manifest
    kind: AnyKind
    candidate: Candidate
    static: Static

    @classmethod
    def of(cls, found: Verification) -> Evidence:
        """What a verification that ended well has read."""
        candidate = found.candidate
        return cls(found.said, found.kind, candidate, known_first(found.said, candidate))


def on_published(rule: GateRule, measure: Measure, shown: Evidence, private: Sequence[GateSaid] | None) -> Replayed:
    """The gate on a published release; a confidential one on its private record (None: nobody looks at it)."""
    if measure.reads is MeasureClass.CONFIDENTIAL:
        return _unseen(rule, measure) if private is None else on_recorded(rule, measure, private)
    own = recorded(rule, shown.said.verdicts)
    why = None if own and _as_measured(rule, own) else _unmeasurable(rule, measure, shown, own)
    if why is not None:
        return Replayed(rule, measure.reads, None, why)
    noisy = None if own is None else own.value
    found = measured(noisy, _as_charged(rule, own), measure, shown.static, shown.candidate)
    day = shown.said.release.slot[:10]
    return Replayed(rule, measure.reads, verdict(rule, measure, found, shown.static, day))


def on_recorded(rule: GateRule, measure: Measure, private: Sequence[GateSaid] | None) -> Replayed:
    """The gate on the verdicts of a private record: of a withheld release nothing else is left."""
    if private is None:
        return Replayed(
            rule, measure.reads, None, "the release was withheld: only its private record tells (--private)"
        )
    own = recorded(rule, private)
    if own is None or not fits(rule, measure, own):
        return Replayed(rule, measure.reads, None, "it was not measured then")
    if (rule.at_most, rule.at_least) == (own.at_most, own.at_least):
        outcome = Outcome(own.outcome)
    else:
        outcome = judge(rule, _measurement(own.verdict.shown))
    return Replayed(rule, measure.reads, Verdict(rule, measure.reads, outcome, own.verdict.shown))


def _unseen(rule: GateRule, measure: Measure) -> Replayed:
    return Replayed(rule, measure.reads, None, UNSEEN)


def _as_measured(rule: GateRule, own: GateSaid) -> bool:
    """Whether the gate was judged then by the same number, with the same limit."""
    return (rule.at_most, rule.at_least) == (own.at_most, own.at_least)


def _unmeasurable(rule: GateRule, measure: Measure, shown: Evidence, own: GateSaid | None) -> str | None:
    """Why the gate can't be judged on what the release shows; None where it can."""
    released, counted = shown.candidate.static.levels, shown.static.levels
    if measure.shape not in shown.kind.shapes:
        return "it does not speak of such a release"
    if measure.reads is MeasureClass.CHARGED:
        return None if own is not None and fits(rule, measure, own) else "it was not paid for then at this number"
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


def _as_charged(rule: GateRule, own: GateSaid | None) -> GateRule:
    """The gate at the price that its number was drawn for."""
    charge = None if own is None else own.rule.charge
    return rule if rule.charge is None else rule.model_copy(update={"charge": charge})


def _measurement(shown: Shown | None) -> Measurement | None:
    """A measurement that was written down: its ends were rounded outwards."""
    return None if shown is None else Measurement(*map(_figure, (shown.value, shown.low, shown.high)))


def _figure(text: str) -> Fraction | float:
    return nan if text.lstrip("-").isalpha() else Fraction(text)
