"""Gates: a measure, a limit, and the three outcomes pass, fail and inconclusive. Inconclusive blocks."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite

from crowdgate.candidate import Measurement, Number, Range
from crowdgate.policy.policy import GateRule


class Outcome(StrEnum):
    """What a gate says."""

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


class Reach(StrEnum):
    """Whether a gate can decide anything under the mechanism."""

    OPEN = "open"
    CANNOT_FAIL = "cannot fail"
    CANNOT_PASS = "cannot pass"


@dataclass(frozen=True)
class Verdict:
    """The outcome of one gate. `public` verdicts may be shown to anybody; the others stay in the private record."""

    gate: str
    measure: str
    outcome: Outcome
    blocks: bool
    public: bool
    value: str
    limit: str
    reason: str


def limit_words(rule: GateRule) -> str:
    """The limit as the policy states it."""
    return (
        f"at most {number_words(rule.at_most)}"
        if rule.at_most is not None
        else f"at least {number_words(rule.at_least)}"
    )


def gate_words(rule: GateRule) -> str:
    """The gate in one phrase, e.g. `released_rows at least 100000`."""
    over = "" if rule.over is None else f" over {', '.join(rule.over)}"
    of = "" if rule.of is None else f" of {rule.of}"
    stated = ", ".join(f"{name} {number_words(value)}" for name, value in rule.options.items())
    options = f" with {stated}" if stated else ""
    return f"{rule.measure}{of}{over}{options} {limit_words(rule)}"


def number_words(value: Number | None) -> str:
    """A number for people: whole ones in full, others with four significant digits."""
    if value is None:
        return "none"
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else f"{number:.4g}"


def judge(rule: GateRule, measurement: Measurement | None) -> tuple[Outcome, str]:
    """The outcome at the unfavourable end of the measurement, and the reason in words."""
    end = None if measurement is None else _unfavourable(rule, measurement)
    if measurement is None or end is None or not (isfinite(end) and isfinite(measurement.value)):
        return Outcome.INCONCLUSIVE, "it could not be measured"
    value, worst = number_words(measurement.value), number_words(end)
    bound = "" if worst == value else f" (unfavourable end {worst})"
    stated = f"{value}{bound}, must be {limit_words(rule)}"
    return (Outcome.PASS if _holds(rule, end) else Outcome.FAIL), stated


def reach(rule: GateRule, span: Range) -> Reach:
    """Whether every value that the measure can take passes, or none does."""
    low, high = span
    best, worst = (low, high) if rule.at_most is not None else (high, low)
    if not _holds(rule, best):
        return Reach.CANNOT_PASS
    return Reach.CANNOT_FAIL if _holds(rule, worst) else Reach.OPEN


def _unfavourable(rule: GateRule, measurement: Measurement) -> Number | None:
    return measurement.upper if rule.at_most is not None else measurement.lower


def _holds(rule: GateRule, value: Number) -> bool:
    if rule.at_most is not None:
        return value == value and (value <= rule.at_most)
    return rule.at_least is not None and value >= rule.at_least


def blocked(verdicts: Sequence[Verdict]) -> bool:
    """Whether the release is withheld: some blocking gate did not pass, or there is none."""
    blocking = [verdict for verdict in verdicts if verdict.blocks]
    return not blocking or any(verdict.outcome is not Outcome.PASS for verdict in blocking)
