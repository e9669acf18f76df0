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
"""Significant digits of measured numbers that are neither whole nor a ratio."""
_DRIFT = 1e-11
"""Largest relative difference of a measure between two machines: their logarithms differ in the last bits, and sums of
10^4 such terms stay below this (1e-16 each)."""


class Outcome(StrEnum):
    """The outcome of a gate."""

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


class GateReach(StrEnum):
    """The possible outcomes of a gate under the mechanism: both, or only one."""

    OPEN = "open"
    CANNOT_FAIL = "cannot fail"
    CANNOT_PASS = "cannot pass"


@dataclass(frozen=True)
class WrittenMeasurement:
    """A measurement as text: exact numbers in full, others in nine digits with the limits rounded outwards."""

    value: str
    low: str
    high: str

    @classmethod
    def of(cls, measured: Measurement) -> WrittenMeasurement:
        """Return the measurement as text."""
        ends = ((measured.value, Rounding.NEAREST), (measured.lower, Rounding.DOWN), (measured.upper, Rounding.UP))
        return cls(*(_written_figure(number, rounding) for number, rounding in ends))

    def matches(self, measured: Measurement) -> bool:
        """Return whether this is the text of `measured`, on this machine or on one whose floats differ in the last
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
    """The format of numbers for people: `stated` for those of a policy, `measured` for a figure (True: a lower
    bound), and the word for the limit of a figure by which its gate is judged."""

    stated: Callable[[Fraction], str]
    measured: Callable[[str, bool], str]
    limit: str = "unfavourable end"


def _conservative_text(figure: str, least: bool) -> str:
    """Return a figure as text, rounded to the side on which the gate is harder to pass: down if `least`, else up."""
    rounding = Rounding.DOWN if least else Rounding.UP
    return figure if figure.lstrip("-").isalpha() else bound_number(Fraction(figure), rounding)


def _nearest_figure_text(figure: str, _: bool) -> str:
    return figure if figure.lstrip("-").isalpha() else nearest_number(Fraction(figure))


NUMBERS = NumberFormat(stated_number, _conservative_text, "confidence limit")
NUMBERS_OF_FORMAT_2 = NumberFormat(stated_number, _conservative_text)
"""The format of releases of format 2, and of the first ones of format 3."""
NEAREST = NumberFormat(nearest_number, _nearest_figure_text)
"""The format of releases of format 1: four digits, to the nearest."""


@dataclass(frozen=True)
class Verdict:
    """The outcome of one gate: the rule, the class of data that its measure reads, and the measurement (None: not
    possible). `public` verdicts may be shown to anybody; the others are written only to the private record. A `waived`
    failure does not withhold the release."""

    rule: GateRule
    reads: MeasureClass
    outcome: Outcome
    shown: WrittenMeasurement | None
    why: str | None = None
    """The missing input, if nothing could be measured, for the person who runs the release."""
    waived: bool = False

    @property
    def gate(self) -> str:
        """The gate in one phrase: measure, options and limit."""
        return gate_text(self.rule)

    @property
    def measure(self) -> str:
        """The name of the measure."""
        return self.rule.measure

    @property
    def blocks(self) -> bool:
        """True if any outcome but a pass withholds the release."""
        return self.rule.severity == "block"

    @property
    def withholds(self) -> bool:
        """True if the gate withholds the release."""
        return self.blocks and self.outcome is not Outcome.PASS and not self.waived

    @property
    def ended(self) -> str:
        """The outcome in words, with the approver of a waived failure."""
        waiver = self.rule.waiver
        return f"{self.outcome}, {waiver_text(waiver)}" if self.waived and waiver is not None else str(self.outcome)

    @property
    def public(self) -> bool:
        """True if the verdict may be shown to anybody."""
        return self.reads is not MeasureClass.CONFIDENTIAL

    @property
    def reason(self) -> str:
        """The measured number and its limit, in words."""
        return self.reason_text(NUMBERS)

    def reason_text(self, write: NumberFormat) -> str:
        """Return the reason, with numbers in the format `write`."""
        if self.shown is None or self.outcome is Outcome.INCONCLUSIVE:
            return "it could not be measured" if self.why is None else f"it could not be measured: {self.why}"
        limit = "at most 0" if _is_excess(self.rule) else limit_text(self.rule, write)
        return f"{self._figures(self.shown, write)}, must be {limit}"

    @property
    def measured(self) -> str:
        """The measured number, in words."""
        if self.shown is None or self.outcome is Outcome.INCONCLUSIVE:
            return self.reason
        return f"measured {self._figures(self.shown, NUMBERS)}"

    def _figures(self, shown: WrittenMeasurement, write: NumberFormat) -> str:
        """Return the value, with its unfavourable limit if that differs."""
        least = self.rule.at_most is None
        end = shown.low if least else shown.high
        worst = write.measured(end, least)
        known = write is not NEAREST and _same_number(shown.value, end)
        value = worst if known else write.measured(shown.value, least)
        beside = "" if worst == value else f" ({write.limit} {worst})"
        return f"{value}{beside}{' more than that share allows' if _is_excess(self.rule) else ''}"


def _same_number(figure: str, end: str) -> bool:
    """Return whether both are one number, rounded to the nearest and outwards."""
    if figure.lstrip("-").isalpha() or end.lstrip("-").isalpha():
        return figure == end
    number, outer = Fraction(figure), Fraction(end)
    return bool(abs(number - outer) * 10 ** (DIGITS - 1) <= abs(outer))


def part_name(rule: GateRule) -> str:
    """Return the name of the part of the guarantee that pays for a charged gate: no two gates on one number have equal
    names."""
    of = "" if rule.of is None else f" of {rule.of}"
    return f"gate {rule.measure}{of}{_options_text(rule, NUMBERS)}"


def _options_text(rule: GateRule, write: NumberFormat) -> str:
    stated = ", ".join(f"{name} {write.stated(value)}" for name, value in sorted(rule.options.items()))
    return f" with {stated}" if stated else ""


def limit_text(rule: GateRule, write: NumberFormat = NUMBERS) -> str:
    """Return the limit as the policy states it."""
    if rule.at_most is not None:
        return f"at most {write.stated(rule.at_most)}"
    return f"at least {'none' if rule.at_least is None else write.stated(rule.at_least)}"


def gate_text(rule: GateRule, write: NumberFormat = NUMBERS) -> str:
    """Return the gate in one phrase, e.g. `released_rows at least 100000`."""
    return f"{measure_text(rule, write)} {limit_text(rule, write)}"


def measure_text(rule: GateRule, write: NumberFormat = NUMBERS) -> str:
    """Return the measure with its options in one phrase, without the limit."""
    over = "" if rule.over is None else f" over {', '.join(rule.over)}"
    of = "" if rule.of is None else f" of {rule.of}"
    return f"{rule.measure}{of}{over}{_options_text(rule, write)}"


def gate_notes(rule: GateRule) -> list[str]:
    """Return the stated reason and reference of the gate, and its waiver, each in a phrase."""
    waiver = None if rule.waiver is None else waiver_text(rule.waiver)
    told = (("reason", rule.reason), ("reference", rule.reference))
    return [*(f"{name}: {said}" for name, said in told if said is not None), *([] if waiver is None else [waiver])]


def waiver_text(waiver: Waiver) -> str:
    """Return the approver, the last day and the reason of a waiver, in a phrase."""
    return f"waived by {waiver.approved_by} until {waiver.expires}: {waiver.reason}"


def is_waived(rule: GateRule, measure: Measure, outcome: Outcome, day: str) -> bool:
    """Return whether a gate has a failure that is waived on this day. An inconclusive outcome is never waived."""
    holds = rule.waiver is not None and day <= rule.waiver.expires
    return holds and outcome is Outcome.FAIL and rule.severity == "block" and measure.waivable


def verdict(
    rule: GateRule, measure: Measure, measured: Measurement | None, static: Static | None = None, day: str | None = None
) -> Verdict:
    """Return the verdict of one gate on a measurement; if there is none, public facts give the reason. Waivers are
    tested for `day` (YYYY-MM-DD); without a day none is valid."""
    shown = None if measured is None else WrittenMeasurement.of(measured)
    why = None if measured or measure.why is None or static is None else measure.why(static, rule)
    outcome = judge(rule, measured)
    return Verdict(rule, measure.reads, outcome, shown, why, day is not None and is_waived(rule, measure, outcome, day))


def judge(rule: GateRule, measurement: Measurement | None) -> Outcome:
    """Return the outcome at the unfavourable limit of the measurement."""
    end = None if measurement is None else _unfavourable(rule, measurement)
    if measurement is None or end is None or not (isfinite(end) and isfinite(measurement.value)):
        return Outcome.INCONCLUSIVE
    return Outcome.PASS if _holds(rule, end) else Outcome.FAIL


def reach(rule: GateRule, span: Range) -> GateReach:
    """Return the possible outcomes of a gate whose measure takes values in `span`: all pass, none passes, or both
    occur."""
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
    """Return whether the release is withheld: some blocking gate did not pass and is not waived, or all blocking gates
    have a waiver."""
    firm = any(verdict.blocks and verdict.rule.waiver is None for verdict in verdicts)
    return not firm or any(verdict.withholds for verdict in verdicts)
