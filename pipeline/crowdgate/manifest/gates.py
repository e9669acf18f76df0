"""A gate in a manifest: the rule, the measurement, and the outcome, in fields from which the text is made."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from crowdgate.gate import Outcome, Verdict, WrittenMeasurement
from crowdgate.manifest.values import Exact, Figure, Label, ManifestFields
from crowdgate.measures import MeasureClass
from crowdgate.policy.policy import Charge, GateRule, Waiver
from crowdgate.policy.values import Line, day


class WaiverFields(ManifestFields):
    """A waiver of a failure: reason, approver, and last day."""

    reason: Line
    """The reason why a failure was waived."""
    approved_by: Line
    """The person who approved the waiver."""
    expires: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"), AfterValidator(day)]
    """The last day of the waiver."""


class GateFields(ManifestFields):
    """One gate.

    `at_most` or `at_least` is its limit. `class` is what its measure reads: public facts (static), released data
    (output), or the table through noise (charged), at a privacy cost of epsilon `charge`. It blocks the release or
    advises. `over` are the columns that it is about (without it all), `of` the sensitive one, `with` further
    parameters. `low` and `high` are one-sided 95 % confidence limits, rounded outwards (the value itself when it is
    exact); without them nothing could be measured. `stated_reason` and `reference` give the reason for the gate,
    `waiver` the approver of a waiver and its last day. `waived`: the gate failed, and the waiver held on the day of the
    slot. (From format 2 on.)
    """

    measure: Label
    """The name of the measure."""
    over: Annotated[tuple[Label, ...], Field(max_length=1000)] | None = None
    """The columns that the gate is about; without it all."""
    of: Label | None = None
    """The one column that the gate is about."""
    options: Annotated[dict[Label, Exact] | None, Field(alias="with", max_length=20)] = None
    """Options of the measure."""
    at_most: Exact | None = None
    """The greatest number that passes."""
    at_least: Exact | None = None
    """The least number that passes."""
    charge: Exact | None = None
    """The privacy cost epsilon of a noisy measurement."""
    severity: Literal["block", "advise"]
    """The effect of anything but a pass: `block` withholds the release, `advise` does not."""
    reads: Annotated[Literal["static", "output", "charged", "confidential"], Field(alias="class")]
    """The class of the measure: what it reads."""
    value: Figure | None = None
    """The measured value. It is absent where nothing could be measured."""
    low: Figure | None = None
    """The lower confidence limit, rounded outwards."""
    high: Figure | None = None
    """The upper confidence limit, rounded outwards."""
    outcome: Literal["pass", "fail", "inconclusive"]
    """The outcome of the gate."""
    stated_reason: Line | None = None
    """The reason for the gate."""
    reference: Line | None = None
    """The place where the gate was decided."""
    waiver: WaiverFields | None = None
    """The waiver of a failure: approver and last day."""
    waived: Literal[True] | None = None
    """Present, and true, if the gate failed and was waived."""

    @classmethod
    def of_verdict(cls, verdict: Verdict) -> "GateFields":
        """Return the fields that state a gate and its verdict."""
        rule, shown = verdict.rule, verdict.shown
        stated = {
            "measure": rule.measure, "over": None if rule.over is None else tuple(rule.over), "of": rule.of,
            "with": dict(rule.options) or None, "at_most": rule.at_most, "at_least": rule.at_least,
            "charge": None if rule.charge is None else rule.charge.epsilon, "severity": rule.severity,
            "class": str(verdict.reads), "outcome": str(verdict.outcome),
            "stated_reason": rule.reason, "reference": rule.reference, "waived": verdict.waived or None,
            "waiver": None if rule.waiver is None else rule.waiver.model_dump(),
        }  # fmt: skip
        measured = {} if shown is None else {"value": shown.value, "low": shown.low, "high": shown.high}
        return cls.model_validate({**stated, **measured})

    @property
    def rule(self) -> GateRule:
        """The gate as a policy states it: measure, limit, severity, options, charge and waiver."""
        return GateRule.model_construct(
            measure=self.measure, over=None if self.over is None else list(self.over), of=self.of,
            options=dict(self.options or {}), at_most=self.at_most, at_least=self.at_least,
            charge=None if self.charge is None else Charge.model_construct(epsilon=self.charge),
            severity=self.severity, reason=self.stated_reason, reference=self.reference,
            waiver=None if self.waiver is None else Waiver.model_construct(**self.waiver.model_dump()),
        )  # fmt: skip

    @property
    def verdict(self) -> Verdict:
        """The verdict that the gate's fields state."""
        known = self.value is not None and self.low is not None and self.high is not None
        shown = WrittenMeasurement(self.value or "", self.low or "", self.high or "") if known else None
        reads, outcome = MeasureClass(self.reads), Outcome(self.outcome)
        return Verdict(self.rule, reads, outcome, shown, waived=self.waived is not None)

    @property
    def since_format_2(self) -> bool:
        """True if the gate has fields that a manifest of format 1 lacks."""
        return any(each is not None for each in (self.stated_reason, self.reference, self.waiver, self.waived))
