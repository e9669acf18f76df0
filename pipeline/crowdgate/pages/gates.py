"""Gates on pages: the verdicts, and the distance of each measurement from its limit in successive releases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import isclose, isfinite
from typing import TYPE_CHECKING

from crowdgate.gate import Outcome, gate_notes, gate_text, limit_text
from crowdgate.kind.picture import Limit, Picture, PicturePoint, Series
from crowdgate.kind.rule_row import ADVISES, BLOCKS, RuleBar, RuleRow, RuleState
from crowdgate.kind.section import Section
from crowdgate.measures import MEASURES, Aspect, MeasureClass
from crowdgate.measures.options import effective_options
from crowdgate.number_text import FIGURE_DOWN, FIGURE_UP

if TYPE_CHECKING:
    from crowdgate.gate import Verdict, WrittenMeasurement
    from crowdgate.history.ended_run import EndedRun

MOST = 24
"""The greatest number of past releases in a picture: the last ones."""
ROUNDED = 1e-8
"""Confidence limits are written in nine digits, rounded outwards: one nearer than this to the number is the number
itself.
"""
READS = {
    MeasureClass.STATIC: "public figures, before any data are read",
    MeasureClass.OUTPUT: "the data to be published",
    MeasureClass.CHARGED: "the table, through noise (charged)",
    MeasureClass.CONFIDENTIAL: "confidential data",
}
LIMIT_AT = 0.7
"""The place of a limit on a bar, as a share of its length."""
NEAR = 0.1
"""A figure nearly failed if it is within this share of its limit."""
FEWEST_RUNS = 3
"""The least number of runs of which a series is drawn."""


def gate_section(told: EndedRun) -> Iterator[Section]:
    """Yield the rules of a run, failed ones first: outcome, figure and limit, what each is decided on and its
    effect. A held run judged none."""
    verdicts, heading = told.verdicts or (), "Rules"
    if not verdicts and told.outcome == "held":
        return
    if not verdicts:
        yield Section(heading, [f"No verdict of a rule is known{f': {told.why}' if told.why else ''}."])
        return
    yield Section(heading, rules=[_rule_row(each) for each in verdicts])


def _rule_row(verdict: Verdict) -> RuleRow:
    """Return a verdict as a row of the table of rules."""
    effect = BLOCKS if verdict.blocks else ADVISES
    bar = _bar(verdict)
    state: RuleState = "fail" if verdict.outcome is Outcome.FAIL else "inconclusive"
    if verdict.outcome is Outcome.PASS:
        state = "near" if bar is not None and _can_vary(verdict) and _is_near(bar) else "pass"
    outcome = f"{verdict.ended}, nearly failed" if state == "near" else verdict.ended
    return RuleRow(
        state, outcome, _label(verdict), verdict.gate, verdict.reason, READS[verdict.reads], effect, bar,
        tuple(_notes(verdict)),
    )  # fmt: skip


def _label(verdict: Verdict) -> str:
    """Return the measure of a verdict in words."""
    return MEASURES[verdict.measure].label if verdict.measure in MEASURES else verdict.measure


def _bar(verdict: Verdict) -> RuleBar | None:
    """Return the places of the judged figure and of the limit on a bar; None if there is no figure, or no positive
    limit to compare it with."""
    limit, shown = _limit(verdict), verdict.shown
    if shown is None or verdict.outcome is Outcome.INCONCLUSIVE or limit <= 0:
        return None
    least = verdict.rule.at_most is None
    figure = _number_of(shown.low if least else shown.high)
    if not isfinite(figure):
        return None
    return RuleBar(min(1.0, max(0.0, LIMIT_AT * figure / limit)), LIMIT_AT, least)


def _can_vary(verdict: Verdict) -> bool:
    """Return whether the figure is other than the guarantee itself, and could be beyond its limit at all."""
    measure = MEASURES.get(verdict.measure)
    if measure is None or measure.aspect is Aspect.PROMISE:
        return False
    least, most = measure.range
    return least < verdict.rule.at_least if verdict.rule.at_least is not None else _limit(verdict) < most


def _is_near(bar: RuleBar) -> bool:
    """Return whether a figure that passed is within the share NEAR of its limit."""
    small, large = sorted((bar.figure, bar.limit))
    return bar.figure not in (0, 1) and small >= (1 - NEAR) * large


def _notes(verdict: Verdict) -> list[str]:
    """Return a gate's reason, reference and waiver as phrases; of a waiver that did not decide, with the reason why
    not."""
    rule = verdict.rule
    if rule.waiver is None or verdict.waived:
        return gate_notes(rule)
    held = "was not needed" if verdict.outcome is Outcome.PASS else "did not hold"
    waiver = f"its waiver by {rule.waiver.approved_by} until {rule.waiver.expires} {held}: {rule.waiver.reason}"
    return [*gate_notes(rule.model_copy(update={"waiver": None})), waiver]


def margins(past: Sequence[EndedRun]) -> list[Picture]:
    """Return a picture for each gate of the last run that has verdicts, except gates on the guarantee: its measurements
    in the last MOST runs of `past`, and its limit (0 for an excess, which is measured beyond the limit). A gate has
    none with fewer than FEWEST_RUNS finite measurements: the table of rules shows the last one."""
    every = next((each.verdicts for each in reversed(past) if each.verdicts), ())
    last = [each for each in every if not _repeats_guarantee(each)]
    made = (_margin(at, verdict, past[-MOST:]) for at, verdict in enumerate(last, start=1))
    return [each for each in made if each is not None]


def _repeats_guarantee(verdict: Verdict) -> bool:
    """Return True if the gate's figure is the guarantee itself, which never varies from run to run."""
    return verdict.measure in MEASURES and MEASURES[verdict.measure].aspect is Aspect.PROMISE


def _margin(at: int, verdict: Verdict, past: Sequence[EndedRun]) -> Picture | None:
    found = ((each.release_id.partition("/")[2], _same_measurement(verdict, each)) for each in past)
    points = tuple(_point(run, shown) for run, shown in found if shown and isfinite(_number_of(shown.value)))
    if len(points) < FEWEST_RUNS:
        return None
    limit, words = _limit(verdict), f"limit ({limit_text(verdict.rule)})"
    known = MEASURES.get(verdict.measure)
    value = verdict.measure.replace("_", " ") if known is None else known.label
    return Picture(
        f"gate {at}", gate_text(verdict.rule), "run (version and slot)", value,
        (Series("measured, with the confidence limits that are judged", points),), (Limit(words, limit),),
        format=FIGURE_DOWN if verdict.rule.at_most is None else FIGURE_UP, across=True,
    )  # fmt: skip


def _is_excess(verdict: Verdict) -> bool:
    return verdict.measure in MEASURES and MEASURES[verdict.measure].excess


def _limit(verdict: Verdict) -> float:
    rule = verdict.rule
    if _is_excess(verdict):
        return 0.0
    return float(rule.at_most if rule.at_most is not None else rule.at_least or 0)


def _same_measurement(verdict: Verdict, run: EndedRun) -> WrittenMeasurement | None:
    """Return the measurement in a run of the same number that the verdict's gate measures; None if the run lacks it."""
    found = same_verdict(verdict, run)
    return None if found is None else found.shown


def same_verdict(verdict: Verdict, run: EndedRun) -> Verdict | None:
    """Return the verdict in a run on the same number that the verdict's gate measures; None if the run lacks it."""
    return next((each for each in run.verdicts or () if _number(each) == _number(verdict)), None)


def meets_limit(verdict: Verdict, figure: Fraction) -> bool:
    """Return whether a figure, at its unfavourable confidence limit, meets the limit of a verdict's rule."""
    if _is_excess(verdict):
        return figure <= 0
    rule = verdict.rule
    return figure <= rule.at_most if rule.at_most is not None else figure >= (rule.at_least or 0)


def _number(verdict: Verdict) -> tuple[object, ...]:
    """Return a key of the number that a verdict's gate measures: measure, columns and options; for an excess also the
    limit."""
    rule, over = verdict.rule, verdict.rule.over
    limit = rule.at_most if _is_excess(verdict) else None
    return (
        rule.measure,
        rule.of,
        limit,
        None if over is None else frozenset(over),
        tuple(sorted(effective_options(rule.options).items())),
    )


def _point(run: str, shown: WrittenMeasurement) -> PicturePoint:
    value, *ends = map(_number_of, (shown.value, shown.low, shown.high))
    low, high = (None if isclose(end, value, rel_tol=ROUNDED) or not isfinite(end) else end for end in ends)
    return PicturePoint(run, value, low, high)


def _number_of(text: str) -> float:
    top, _, bottom = text.partition("/")
    return float(top) / float(bottom or 1)


def opposing_gates(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield, in words, each gate that withheld the release, with its measurement, then each gate whose failure was
    waived."""
    yield from withholding_gates(verdicts)
    yield from (f"{each.gate}: {each.ended}" for each in verdicts if each.waived)


def withholding_gates(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield, in words, each gate that withheld the release, with its measurement."""
    yield from (f"{_label(each)}: {each.reason} ({gate_text(each.rule)})" for each in withholding(verdicts))


def withholding(verdicts: Sequence[Verdict]) -> Iterator[Verdict]:
    """Yield the verdicts that withheld the release."""
    yield from (each for each in verdicts if each.withholds)
