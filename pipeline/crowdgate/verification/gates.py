"""Gates of a manifest: every verdict is measured and judged again, with the measures that made it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

from crowdgate.candidate import Candidate, Measurement, OutputType, Static
from crowdgate.gate import gate_text, is_waived, judge, verdict
from crowdgate.kind.facts import static_before_data
from crowdgate.kind.kind import AnyKind
from crowdgate.limits import MOST_CLASSES, MOST_MEASURED_AGAIN
from crowdgate.manifest import GateFields, Manifest
from crowdgate.measures import MEASURES, Measure, MeasureClass
from crowdgate.measures.options import limit_fits, wrong_options
from crowdgate.policy.policy import GateRule

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan


UNJUDGED = {"value": None, "low": None, "high": None, "outcome": "inconclusive", "waived": None}
"""Values that turn a gate of a manifest into one without a verdict, so that only fields remain which a policy
states."""


def gate_problems(said: Manifest, kind: AnyKind, candidate: Candidate) -> Iterator[str]:
    """Yield the problems of the verdicts: a blocking gate that did not pass, or a verdict that differs from the
    measurement.
    """
    static = static_with_audits(said, candidate)
    yield from _unread_counts(said, static)
    if not any(gate.severity == "block" and gate.waiver is None for gate in said.verdicts):
        yield "the release has no blocking gate without a waiver, and must have one"
    if sum(_classes(gate, static) for gate in said.verdicts) > MOST_MEASURED_AGAIN:
        yield f"gates over more than {MOST_MEASURED_AGAIN} classes together are not measured again"
        return
    for gate in said.verdicts:
        rule = gate.rule
        for problem in _problems(gate, rule, kind, static, candidate, said):
            yield f"{gate.measure}: {problem}"
        if gate.verdict.withholds:
            yield f"{gate_text(rule)}: this blocking gate did not pass, so nothing should have been published"


def _unread_counts(said: Manifest, static: Static) -> Iterator[str]:
    """Yield the public counts in a manifest that no gate reads: nothing would compare them with anything."""
    over = [gate for gate in said.verdicts if gate.measure in MEASURES and MEASURES[gate.measure].over]
    read = {name for gate in over for name in gate.over or static.levels}
    for name in sorted({*said.facts.margins} - read):
        yield f"the public counts of {name!a} are read by no gate"
    for joint in said.facts.joint or ():
        if not read & {column.name for column in joint.columns}:
            yield f"the joint public counts of {joint.columns[0].name!a} and others are read by no gate"
    named = {frozenset(gate.over or static.levels) for gate in over}
    for classes in said.facts.classes or ():
        if frozenset(classes.over) not in named:
            yield f"the class sizes by {classes.over[0]!a} and others are read by no gate"


def static_with_audits(said: Manifest, candidate: Candidate) -> Static:
    """Return the public facts that static gates of the manifest were judged by, with the audits of the candidate."""
    return replace(static_before_data(said), audits=candidate.static.audits)


def policy_problems(said: Manifest, plan: Plan) -> Iterator[str]:
    """Yield each difference between a release and the plan of a policy, in words: other files, gates, limits or
    waivers."""
    if said.policy_digest != plan.bundle.digest:
        yield "the release was made from other files than the policy, contract, levels, margins or budget that you gave"
    yield from _approval_problems(said, plan)
    rules = ((rule, measure) for rule, measure in plan.gates if measure.reads is not MeasureClass.CONFIDENTIAL)
    stated = [GateFields.of_verdict(verdict(rule, measure, None)) for rule, measure in rules]
    for gate in said.verdicts:
        unjudged = gate.model_copy(update=UNJUDGED)
        if unjudged in stated:
            stated.remove(unjudged)
        else:
            yield (
                f"{gate_text(gate.rule)}: the release has this gate; the policy has none with the same limit, waiver "
                "and reasons"
            )
    for gate in stated:
        yield (
            f"{gate_text(gate.rule)}: the policy has this gate, and the release has none with the same limit, "
            "waiver and reasons"
        )


def _approval_problems(said: Manifest, plan: Plan) -> Iterator[str]:
    """Yield a problem for each approval by somebody whom the policy does not list, and for too few approvals."""
    rule, stated = plan.bundle.policy.spec.approval, said.facts.approvals or ()
    listed = {} if rule is None else {each.key_id: each.name for each in rule.by}
    for each in stated:
        if listed.get(each.key) != each.name:
            yield f"{each.name!a} approved the release, whom the policy does not list with this key"
    each_one = rule is not None and rule.of == "each" and rule.before == "charge"
    cheap = rule is not None and rule.over is not None and said.charged_epsilon <= rule.over
    if rule is not None and each_one and not cheap and len({each.key for each in stated}) < rule.at_least:
        yield f"the policy asks for {rule.at_least} approvals before the charge, and the release states {len(stated)}"


def _classes(gate: GateFields, static: Static) -> int:
    """Return the number of classes (combinations of values) that a gate's expectation from public counts takes, or an
    equivalent effort; 0 for gates without such an expectation."""
    measure = MEASURES.get(gate.measure)
    if measure is None or not measure.over:
        return 0
    classes = prod(len(static.levels[name]) if name in static.levels else 0 for name in gate.over or static.levels)
    return measure.effort(classes) if classes <= MOST_CLASSES else 0


def _problems(
    gate: GateFields, rule: GateRule, kind: AnyKind, static: Static, candidate: Candidate, said: Manifest
) -> Iterator[str]:
    measure = MEASURES.get(gate.measure)
    if measure is None or gate.reads != measure.reads or gate.reads == "confidential":
        yield "there is no public measure of this name and class"
        return
    if measure.shape not in kind.shapes or not _is_well_formed(rule, measure) or not _of_input(rule, measure, said):
        yield "the manifest's gate on this measure has a limit, option or charge that such a gate can't have"
        return
    again, shown = measurement(gate.value, rule, measure, static, candidate), gate.verdict.shown
    if (again is None) != (shown is None) or (again is not None and shown and not shown.matches(again)):
        yield "the value in the manifest differs from the value measured again on the release"
    if judge(rule, again) is not gate.verdict.outcome:
        yield "the manifest's outcome of this gate does not follow from its value and limit"
    if is_waived(rule, measure, gate.verdict.outcome, said.release.slot[:10]) is not gate.verdict.waived:
        yield "the manifest says wrongly whether this gate was waived: its waiver says otherwise"


def _is_well_formed(rule: GateRule, measure: Measure) -> bool:
    """Return True if a gate has exactly one limit, and states options, `over`, `of`, a charge and a waiver only as its
    measure allows."""
    return (
        (rule.at_most is None) != (rule.at_least is None)
        and set(measure.needs) <= set(rule.options) <= set(measure.options)
        and not any(wrong_options(rule, measure))
        and (rule.over is None or (measure.over and 0 < len(rule.over) == len(set(rule.over))))
        and (rule.of is not None) == measure.of
        and (rule.charge is not None) == (measure.of_noisy is not None)
        and limit_fits(rule, measure)
        and (rule.waiver is None or (rule.severity == "block" and measure.waivable))
    )


def _of_input(rule: GateRule, measure: Measure, said: Manifest) -> bool:
    """Return True for a gate on the input only if its column was read and, for a measure of several rows, the privacy
    unit is a person; True for any other gate."""
    if measure.shape is not OutputType.INPUT:
        return True
    read = () if said.estimand is None else (*said.estimand.dropped, *said.estimand.invalid)
    truncates = said.guarantee.unit == "person" or not measure.several_rows
    return truncates and (rule.of is None or rule.of in read)


def measurement(
    noisy: str | None, rule: GateRule, measure: Measure, static: Static, candidate: Candidate
) -> Measurement | None:
    """Return a gate's measurement on a published release (None: nothing can be measured). A charged gate is not
    measured again: its measurement follows from the number `noisy` in the manifest."""
    if measure.of_static is not None:
        return measure.of_static(static, rule)
    if measure.of_noisy is not None:
        return None if noisy is None else measure.of_noisy(candidate.static, rule, Fraction(noisy))
    return None if measure.of_candidate is None else measure.of_candidate(candidate, rule)
