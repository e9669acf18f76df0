"""Gates on pages: the verdicts, and the distance of each measurement from its limit in successive releases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isclose, isfinite
from typing import TYPE_CHECKING

from crowdgate.gate import Outcome, gate_notes, gate_text, limit_text
from crowdgate.kind.picture import Limit, Picture, PicturePoint, Series
from crowdgate.kind.section import Section, table_section
from crowdgate.measures import MEASURES, Aspect, MeasureClass
from crowdgate.measures.options import effective_options

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
    MeasureClass.OUTPUT: "what would be published",
    MeasureClass.CHARGED: "the table, through noise that is paid for",
    MeasureClass.CONFIDENTIAL: "confidential data: it only advises",
}


def gate_section(told: EndedRun) -> Iterator[Section]:
    """Yield the verdict of each gate in a run: outcome, measurement, what it reads and its effect; then its notes."""
    verdicts, heading = told.verdicts or (), "Verdicts of the rules"
    if not verdicts:
        yield Section(heading, [f"No verdict of a rule is known{f': {told.why}' if told.why else ''}."])
        return
    columns = ("rule", "outcome", "measured", "reads", "then it")
    rows = (
        (each.gate, each.ended, each.reason, READS[each.reads], "blocks" if each.blocks else "advises")
        for each in verdicts
    )
    yield table_section(heading, columns, rows)
    yield Section(points=[f"{each.gate}: {note}" for each in verdicts for note in _notes(each)])


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
    none with fewer than two finite measurements: the table of gates shows a single one."""
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
    if len(points) < 2:
        return None
    limit, words = _limit(verdict), f"limit ({limit_text(verdict.rule)})"
    known = MEASURES.get(verdict.measure)
    value = verdict.measure.replace("_", " ") if known is None else known.label
    return Picture(
        f"gate {at}", gate_text(verdict.rule), "run (version and slot)", value,
        (Series("measured, with the confidence limits that are judged", points),), (Limit(words, limit),), across=True,
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
    return next((each.shown for each in run.verdicts or () if _number(each) == _number(verdict)), None)


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
    for each in verdicts:
        if each.withholds:
            yield f"{each.gate}: {each.reason}"
