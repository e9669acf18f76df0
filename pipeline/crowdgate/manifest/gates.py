"""A gate in a manifest: the rule, what was measured, and the outcome, in fields. Words are made from them."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from crowdgate.gate import Outcome, Verdict, WrittenMeasurement
from crowdgate.manifest.values import Exact, Figure, Label, ManifestFields
from crowdgate.measures import MeasureClass
from crowdgate.policy.policy import Charge, GateRule, Waiver
from crowdgate.policy.values import day


class WaiverFields(ManifestFields):
    """Why and by whose approval a failure was put up with, and the last day on which it was."""

    reason: Annotated[Label, Field(min_length=1, max_length=1000)]
    """Why a failure was put up with."""
    approved_by: Annotated[Label, Field(min_length=1, max_length=1000)]
    """Who decided that."""
    expires: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"), AfterValidator(day)]
    """The last day on which it held."""


class GateFields(ManifestFields):
    """One gate.

    `at_most` or `at_least` is its limit. `class` is what its measure reads: public facts (static), released data
    (output), or the table through noise (charged), which took `charge` of epsilon. It blocks the release or advises.
    `over` are the columns that it speaks of (without it all), `of` the sensitive one, `with` further parameters.
    `low` and `high` are the ends of one-sided 95 % intervals, rounded outwards (the value itself when it is exact);
    without them nothing could be measured.

    `stated_reason` and `reference` say why there is the gate, `waiver` by whose approval a failure does not withhold
    up to which day; it failed, and on the day of the slot that held, if it was `waived`. (From format 2 on.)
    """

    measure: Label
    """What was measured."""
    over: Annotated[tuple[Label, ...], Field(max_length=1000)] | None = None
    """The columns that it speaks of; all without it."""
    of: Label | None = None
    """The column that it speaks of."""
    options: Annotated[dict[Label, Exact] | None, Field(alias="with", max_length=20)] = None
    """Options of the measure."""
    at_most: Exact | None = None
    """The greatest number that passes."""
    at_least: Exact | None = None
    """The least number that passes."""
    charge: Exact | None = None
    """What a noisy measurement took of epsilon."""
    severity: Literal["block", "advise"]
    """Whether it blocks the release or advises."""
    reads: Annotated[Literal["static", "output", "charged", "confidential"], Field(alias="class")]
    """What its measure reads."""
    value: Figure | None = None
    """What was measured. Nothing could be where it is not there."""
    low: Figure | None = None
    """The low end of what was measured, rounded outwards."""
    high: Figure | None = None
    """The high end of what was measured, rounded outwards."""
    outcome: Literal["pass", "fail", "inconclusive"]
    """What the gate said."""
    stated_reason: Annotated[Label, Field(min_length=1, max_length=1000)] | None = None
    """Why there is the gate."""
    reference: Annotated[Label, Field(min_length=1, max_length=1000)] | None = None
    """Where that was decided."""
    waiver: WaiverFields | None = None
    """By whose approval, and until when, a failure does not withhold."""
    waived: Literal[True] | None = None
    """There, and true, where it failed and was waived."""

    @classmethod
    def of_verdict(cls, verdict: Verdict) -> "GateFields":
        """The verdict as it is written."""
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
        """The gate as a policy states it."""
        return GateRule.model_construct(
            measure=self.measure, over=None if self.over is None else list(self.over), of=self.of,
            options=dict(self.options or {}), at_most=self.at_most, at_least=self.at_least,
            charge=None if self.charge is None else Charge.model_construct(epsilon=self.charge),
            severity=self.severity, reason=self.stated_reason, reference=self.reference,
            waiver=None if self.waiver is None else Waiver.model_construct(**self.waiver.model_dump()),
        )  # fmt: skip

    @property
    def verdict(self) -> Verdict:
        """The verdict that is written here."""
        known = self.value is not None and self.low is not None and self.high is not None
        shown = WrittenMeasurement(self.value or "", self.low or "", self.high or "") if known else None
        reads, outcome = MeasureClass(self.reads), Outcome(self.outcome)
        return Verdict(self.rule, reads, outcome, shown, waived=self.waived is not None)

    @property
    def since_format_2(self) -> bool:
        """Whether it says what a manifest of format 1 does not."""
        return any(each is not None for each in (self.stated_reason, self.reference, self.waiver, self.waived))
