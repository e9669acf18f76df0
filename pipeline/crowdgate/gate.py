"""Gates: a measure, a limit, and the three outcomes pass, fail and inconclusive. Inconclusive blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING

from crowdgate.candidate import Measurement, Number, Range, Static
from crowdgate.measures import MEASURES, Measure, MeasureClass
from crowdgate.number_text import Rounding, bound_number, exact_text, nearest_number, rounded_text, stated_number

if TYPE_CHECKING:
    from crowdgate.policy.policy import GateRule, Waiver

DIGITS = 9
"""Of measured numbers that are neither whole nor a ratio."""
_DRIFT = 1e-11
"""How far the same measure may come out apart on two machines, relatively: their logarithms differ in the last bits,
and sums of 10^4 such terms stay below this (1e-16 each)."""


class Outcome(StrEnum):
    """What a gate says."""

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


class GateReach(StrEnum):
    """Whether a gate can decide anything under the mechanism."""

    OPEN = "open"
    CANNOT_FAIL = "cannot fail"
    CANNOT_PASS = "cannot pass"


@dataclass(frozen=True)
class WrittenMeasurement:
    """A measurement as it is written: exact numbers in full, others in nine digits with the ends rounded outwards."""

    value: str
    low: str
    high: str

    @classmethod
    def of(cls, measured: Measurement) -> WrittenMeasurement:
        """The measurement in text."""
        ends = ((measured.value, Rounding.NEAREST), (measured.lower, Rounding.DOWN), (measured.upper, Rounding.UP))
        return cls(*(_written_figure(number, rounding) for number, rounding in ends))

    def matches(self, measured: Measurement) -> bool:
        """Whether this is what `measured` is written as, on this machine or on one whose floats differ in the last
        bits."""
        near = [WrittenMeasurement.of(each) for each in _drifted(measured)]
        return all(getattr(self, name) in {getattr(each, name) for each in near} for name in ("value", "low", "high"))


def _drifted(measured: Measurement) -> Iterator[Measurement]:
    ends = (measured.value, measured.lower, measured.upper)
    for factor in (1 - _DRIFT, 1.0, 1 + _DRIFT):
        yield Measurement(*(number * factor if isinstance(number, float) else number for number in ends))


def _written_figure(number: Number, rounding: Rounding) -> str:
    if isinstance(number, float):
        return rounded_text(number, DIGITS, rounding)
    return exact_text(Fraction(number))


@dataclass(frozen=True)
class NumberFormat:
    """How numbers are written for people: `stated` those of a policy, `measured` a figure (least: it must not be
    smaller)."""

    stated: Callable[[Fraction], str]
    measured: Callable[[str, bool], str]


def _conservative_text(figure: str, least: bool) -> str:
    """Rounded to the side on which the gate is harder to pass."""
    rounding = Rounding.DOWN if least else Rounding.UP
    return figure if figure.lstrip("-").isalpha() else bound_number(Fraction(figure), rounding)


def _nearest_figure_text(figure: str, _: bool) -> str:
    return figure if figure.lstrip("-").isalpha() else nearest_number(Fraction(figure))


NUMBERS = NumberFormat(stated_number, _conservative_text)
NEAREST = NumberFormat(nearest_number, _nearest_figure_text)
"""As releases of format 1 wrote them: four digits, to the nearest."""


@dataclass(frozen=True)
class Verdict:
    """The outcome of one gate: the rule, what its measure reads, and what was measured (None: it could not be).
    `public` verdicts may be shown to anybody; the others stay in the private record. A failure that is `waived` does
    not withhold."""

    rule: GateRule
    reads: MeasureClass
    outcome: Outcome
    shown: WrittenMeasurement | None
    why: str | None = None
    """What is missing where it could not be measured, for whoever runs it."""
    waived: bool = False

    @property
    def gate(self) -> str:
        """The gate in one phrase."""
        return gate_text(self.rule)

    @property
    def measure(self) -> str:
        """What is measured."""
        return self.rule.measure

    @property
    def blocks(self) -> bool:
        """Whether anything but a pass withholds the release."""
        return self.rule.severity == "block"

    @property
    def withholds(self) -> bool:
        """Whether it withholds the release."""
        return self.blocks and self.outcome is not Outcome.PASS and not self.waived

    @property
    def ended(self) -> str:
        """The outcome in words, and by whom a failure was waived."""
        waiver = self.rule.waiver
        return f"{self.outcome}, {waiver_text(waiver)}" if self.waived and waiver is not None else str(self.outcome)

    @property
    def public(self) -> bool:
        """Whether anybody may see it."""
        return self.reads is not MeasureClass.CONFIDENTIAL

    @property
    def reason(self) -> str:
        """What was measured, and what it must be, in words."""
        return self.reason_text(NUMBERS)

    def reason_text(self, write: NumberFormat) -> str:
        """The reason, with numbers written so."""
        if self.shown is None or self.outcome is Outcome.INCONCLUSIVE:
            return "it could not be measured" if self.why is None else f"it could not be measured: {self.why}"
        limit = "at most 0" if _is_excess(self.rule) else limit_text(self.rule, write)
        return f"{self._figures(self.shown, write)}, must be {limit}"

    @property
    def measured(self) -> str:
        """What was measured, in words."""
        if self.shown is None or self.outcome is Outcome.INCONCLUSIVE:
            return self.reason
        return f"measured {self._figures(self.shown, NUMBERS)}"

    def _figures(self, shown: WrittenMeasurement, write: NumberFormat) -> str:
        """The value, and its unfavourable end where that differs."""
        least = self.rule.at_most is None
        end = shown.low if least else shown.high
        worst = write.measured(end, least)
        known = write is NUMBERS and _same_number(shown.value, end)
        value = worst if known else write.measured(shown.value, least)
        beside = "" if worst == value else f" (unfavourable end {worst})"
        return f"{value}{beside}{' more than that share allows' if _is_excess(self.rule) else ''}"


def _same_number(figure: str, end: str) -> bool:
    """Whether they are one number, rounded to the nearest and outwards."""
    if figure.lstrip("-").isalpha() or end.lstrip("-").isalpha():
        return figure == end
    number, outer = Fraction(figure), Fraction(end)
    return bool(abs(number - outer) * 10 ** (DIGITS - 1) <= abs(outer))


def part_name(rule: GateRule) -> str:
    """The name of the part of the guarantee that pays for a charged gate: no two gates on one number are the same."""
    of = "" if rule.of is None else f" of {rule.of}"
    return f"gate {rule.measure}{of}{_options_text(rule, NUMBERS)}"


def _options_text(rule: GateRule, write: NumberFormat) -> str:
    stated = ", ".join(f"{name} {write.stated(value)}" for name, value in sorted(rule.options.items()))
    return f" with {stated}" if stated else ""


def limit_text(rule: GateRule, write: NumberFormat = NUMBERS) -> str:
    """The limit as the policy states it."""
    if rule.at_most is not None:
        return f"at most {write.stated(rule.at_most)}"
    return f"at least {'none' if rule.at_least is None else write.stated(rule.at_least)}"


def gate_text(rule: GateRule, write: NumberFormat = NUMBERS) -> str:
    """The gate in one phrase, e.g. `released_rows at least 100000`."""
    return f"{measure_text(rule, write)} {limit_text(rule, write)}"


def measure_text(rule: GateRule, write: NumberFormat = NUMBERS) -> str:
    """What the gate measures in one phrase, without the limit."""
    over = "" if rule.over is None else f" over {', '.join(rule.over)}"
    of = "" if rule.of is None else f" of {rule.of}"
    return f"{rule.measure}{of}{over}{_options_text(rule, write)}"


def gate_notes(rule: GateRule) -> list[str]:
    """Why there is the gate, where that was decided, and its waiver, each in a phrase."""
    waiver = None if rule.waiver is None else waiver_text(rule.waiver)
    told = (("reason", rule.reason), ("reference", rule.reference))
    return [*(f"{name}: {said}" for name, said in told if said is not None), *([] if waiver is None else [waiver])]


def waiver_text(waiver: Waiver) -> str:
    """By whom, until when and why a failure is put up with."""
    return f"waived by {waiver.approved_by} until {waiver.expires}: {waiver.reason}"


def is_waived(rule: GateRule, measure: Measure, outcome: Outcome, day: str) -> bool:
    """Whether a gate ended in a failure that is waived on that day. What could not be measured is never."""
    holds = rule.waiver is not None and day <= rule.waiver.expires
    return holds and outcome is Outcome.FAIL and rule.severity == "block" and measure.waivable


def verdict(
    rule: GateRule, measure: Measure, measured: Measurement | None, static: Static | None = None, day: str | None = None
) -> Verdict:
    """The verdict of one gate on what was measured; of what could not be, public facts say why. Waivers hold if they do
    on that day (YYYY-MM-DD), and without one none does."""
    shown = None if measured is None else WrittenMeasurement.of(measured)
    why = None if measured or measure.why is None or static is None else measure.why(static, rule)
    outcome = judge(rule, measured)
    return Verdict(rule, measure.reads, outcome, shown, why, day is not None and is_waived(rule, measure, outcome, day))


def judge(rule: GateRule, measurement: Measurement | None) -> Outcome:
    """The outcome at the unfavourable end of the measurement."""
    end = None if measurement is None else _unfavourable(rule, measurement)
    if measurement is None or end is None or not (isfinite(end) and isfinite(measurement.value)):
        return Outcome.INCONCLUSIVE
    return Outcome.PASS if _holds(rule, end) else Outcome.FAIL


def reach(rule: GateRule, span: Range) -> GateReach:
    """Whether every value that the measure can take passes, or none does."""
    low, high = span
    best, worst = (low, high) if rule.at_most is not None else (high, low)
    if not _holds(rule, best):
        return GateReach.CANNOT_PASS
    return GateReach.CANNOT_FAIL if _holds(rule, worst) else GateReach.OPEN


def _unfavourable(rule: GateRule, measurement: Measurement) -> Number | None:
    return measurement.upper if rule.at_most is not None else measurement.lower


def _is_excess(rule: GateRule) -> bool:
    return rule.measure in MEASURES and MEASURES[rule.measure].excess


def _holds(rule: GateRule, value: Number) -> bool:
    if _is_excess(rule):
        return value <= 0
    if rule.at_most is not None:
        return value == value and (value <= rule.at_most)
    return rule.at_least is not None and value >= rule.at_least


def is_withheld(verdicts: Sequence[Verdict]) -> bool:
    """Whether the release is withheld: some blocking gate did not pass and is not waived, or all that block have a
    waiver."""
    firm = any(verdict.blocks and verdict.rule.waiver is None for verdict in verdicts)
    return not firm or any(verdict.withholds for verdict in verdicts)
