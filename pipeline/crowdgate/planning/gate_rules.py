"""Rules about the gates of a policy: every problem of a gate, at its place in the file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from crowdgate.candidate import AuditQuestion, OutputType
from crowdgate.errors import Code, Problem, expected_names, nearest
from crowdgate.kind.plan import columns_read
from crowdgate.limits import MOST_JOINT_FIGURES
from crowdgate.measures import MEASURES, Measure, MeasureClass
from crowdgate.measures.base import SHARE
from crowdgate.measures.options import limit_fits, wrong_options
from crowdgate.measures.recorded_audits import membership_recall
from crowdgate.number_text import exact_text
from crowdgate.planning.bundle import kind_of, named_attributes, nearest_released, problem_at
from crowdgate.planning.sought_measures import SOUGHT
from crowdgate.policy.policy import AuditSpec, GateRule

if TYPE_CHECKING:
    from crowdgate.documents.yaml_text import Document, Location
    from crowdgate.kind.kind import Protection
    from crowdgate.policy.files import Bundle

A_MEASURE = "a measure"
LEAST_PERCENT = 2
"""The least limit of a share that certainly means percent."""
LISTED = "crowdgate check --explain CG104"
"""The command that lists all measures."""


def gate_problems(bundle: Bundle) -> Iterator[Problem]:
    gates = bundle.policy.spec.gates
    if not any(rule.severity == "block" and rule.waiver is None for rule in gates):
        found = "no gate blocks" if all(rule.waiver is None for rule in gates) else "no gate blocks without a waiver"
        yield problem_at(bundle, ("spec", "gates"), found, "at least one gate that can withhold the release")
    seen: Counter[tuple[object, ...]] = Counter()
    for i, rule in enumerate(gates):
        at: Location = ("spec", "gates", i)
        # a charged number is drawn and charged once, so it has one limit
        side = rule.charge is None and rule.at_most is None
        key = (rule.measure, rule.of, tuple(rule.over or ()), side, tuple(sorted(rule.options.items())))
        seen[key] += 1
        if seen[key] == 2:
            what = "" if rule.charge else " with the same kind of limit"
            yield problem_at(bundle, at, f"a second gate on {rule.measure}{what}", "one such gate", None, Code.TWICE)
        measure = MEASURES.get(rule.measure)
        if measure is None:
            yield from unknown_measures(bundle.document, [rule], i)
        else:
            yield from _rule_problems(bundle, at, rule, measure)


def unknown_measures(document: Document, rules: Sequence[GateRule], first: int = 0) -> Iterator[Problem]:
    """Yield a problem for each gate whose measure is unknown; `first` is the number of the first gate."""
    for i, rule in enumerate(rules, first):
        if rule.measure in MEASURES:
            continue
        why, instead = SOUGHT.get(rule.measure.casefold().replace("-", "_").replace(" ", "_"), (None, None))
        expected = why or expected_names(list(MEASURES), rule.measure, A_MEASURE, LISTED)
        meant = nearest(rule.measure, list(MEASURES)) if why is None else instead
        at: Location = ("spec", "gates", i, "measure")
        yield document.problem(at, f"unknown measure {rule.measure!r}", expected, meant, Code.UNKNOWN_NAME)


def _rule_problems(bundle: Bundle, at: Location, rule: GateRule, measure: Measure) -> Iterator[Problem]:
    kind = kind_of(bundle)
    if measure.shape not in kind.shapes:
        found = f"{rule.measure} does not measure a release by {kind.name}"
        fitting = [name for name, known in MEASURES.items() if known.shape in kind.shapes]
        yield problem_at(bundle, (*at, "measure"), found, expected_names(fitting, rule.measure, A_MEASURE, LISTED))
        return
    if measure.shape not in kind.shapes_of(bundle.policy.spec.mechanism):
        found = f"{rule.measure} compares weighted rows with margins, and the policy has no margins"
        yield problem_at(bundle, (*at, "measure"), found, "margins: {epsilon: ...} beside the attributes")
        return
    if measure.reads is MeasureClass.CHARGED and rule.charge is None:
        found = f"{rule.measure} reads the table and has no charge"
        part = "share" if bundle.policy.spec.by_shares else "epsilon"
        yield problem_at(bundle, at, found, f"charge: {{{part}: ...}}, a part of the policy's epsilon")
    if measure.reads is MeasureClass.CHARGED and bundle.contract.sample is not None:
        found = f"{rule.measure} would read an inherited sample a second time"
        yield problem_at(bundle, at, found, "no charged gate: one sample serves one release and nothing else")
    if measure.reads is not MeasureClass.CHARGED and rule.charge is not None:
        yield problem_at(bundle, (*at, "charge"), f"{rule.measure} costs nothing", "no charge")
    if measure.reads is MeasureClass.CONFIDENTIAL and rule.severity == "block":
        found = f"{rule.measure} is confidential, so a gate on it that blocks would reveal something about the data"
        yield problem_at(bundle, at, found, "severity: advise", "advise")
    for option in rule.options:
        if option not in measure.options:
            expected = f"one of {', '.join(measure.options)}" if measure.options else "no options"
            meant = nearest(option, measure.options)
            yield problem_at(bundle, (*at, "with", option), "unknown option", expected, meant, Code.UNKNOWN_KEY)
    for option in measure.needs:
        if option not in rule.options:
            yield problem_at(
                bundle, at, f"{rule.measure} without {option}", f"with: {{{option}: ...}}", None, Code.MISSING_KEY
            )
    for option, expected in wrong_options(rule, measure):
        yield problem_at(bundle, (*at, "with", option), "this value is out of range", expected, None, Code.VALUE)
    yield from _limit_problems(bundle, at, rule, measure)
    yield from _waiver_problems(bundle, at, rule, measure)
    yield from _membership_problems(bundle, at, rule, measure)
    yield from _input_problems(bundle, at, rule, measure)
    yield from _over_problems(bundle, at, rule, measure)
    yield from _of_problems(bundle, at, rule, measure)


def _limit_problems(bundle: Bundle, at: Location, rule: GateRule, measure: Measure) -> Iterator[Problem]:
    """Yield the problem of a limit that states another number than was meant: percent for a share, or thousands with a
    point, which are read as parts of one.
    """
    key = "at_least" if rule.at_most is None else "at_most"
    limit, place = rule.at_least if rule.at_most is None else rule.at_most, (*at, key)
    text = str(bundle.document.data["spec"]["gates"][at[-1]].get(key))
    thousands = re.fullmatch(r"([1-9][0-9]{0,2})\.([0-9]{3})", text)
    if limit is None:
        return
    if measure.range == SHARE and limit >= LEAST_PERCENT:
        share = exact_text(limit / 100) if limit <= 100 and limit.denominator == 1 else None
        line = None if share is None else bundle.document.text.replaced(place, share)
        found, expected = f"a limit of {text} for {rule.measure}, which is a share", "a number from 0 to 1"
        yield bundle.document.problem(place, found, expected, share, Code.GATE, corrected=line)
    elif measure.counts and thousands:
        found = f"{text}, a number with a point before three digits, for {rule.measure}"
        expected = f"{thousands[1]}{thousands[2]}, or {exact_text(limit)} if the point is a decimal one"
        yield bundle.document.problem(place, found, expected, None, Code.GATE)


def _waiver_problems(bundle: Bundle, at: Location, rule: GateRule, measure: Measure) -> Iterator[Problem]:
    if rule.waiver is not None and rule.severity != "block":
        yield problem_at(bundle, (*at, "waiver"), "a gate that advises withholds nothing", "no waiver")
    elif rule.waiver is not None and not measure.waivable:
        found = f"{rule.measure} says whether the guarantee holds, which nobody can waive"
        yield problem_at(bundle, (*at, "waiver"), found, "no waiver")


def _membership_problems(bundle: Bundle, at: Location, rule: GateRule, measure: Measure) -> Iterator[Problem]:
    """Yield problems of `skew` and `recall` of a gate that differ from the policy's: an audit of membership has one of
    each.
    """
    spec = bundle.policy.spec
    own = (spec.audit or AuditSpec()).membership
    for option, stated in (("skew", own.skew), ("recall", membership_recall(spec))):
        if measure.asks is AuditQuestion.MEMBERSHIP and stated not in (None, rule.options.get(option, stated)):
            found, meant = (
                f"the policy's audit of membership has a {option} of {exact_text(stated)}",
                exact_text(stated),
            )
            yield problem_at(
                bundle,
                (*at, "with", option),
                found,
                f"the same number as in audit: {{membership: {{{option}: ...}}}}",
                meant,
            )


def _input_problems(bundle: Bundle, at: Location, rule: GateRule, measure: Measure) -> Iterator[Problem]:
    if not limit_fits(rule, measure):
        expected = "at_most: a share from 0 to 1, in at most six decimals"
        yield problem_at(bundle, at, f"{rule.measure} needs a share as its limit", expected)
    if measure.several_rows and bundle.contract.unit.person is None:
        found = "every row is one person, so nobody has more rows than are used"
        yield problem_at(bundle, at, found, "this gate where the contract's privacyUnit is a person")
    elif measure.several_rows and bundle.contract.is_of_persons:
        found = "a person's values are made of all rows, so nobody has more rows than are used"
        yield problem_at(bundle, at, found, "this gate where the contract has no personValues")


def _of_problems(bundle: Bundle, at: Location, rule: GateRule, measure: Measure) -> Iterator[Problem]:
    released = named_attributes(bundle)
    if measure.shape is OutputType.INPUT and measure.of and rule.of is not None:
        return
    if rule.of is not None and not measure.of:
        yield problem_at(bundle, (*at, "of"), f"{rule.measure} is computed over all released attributes", "no `of`")
    elif measure.of and rule.of is None:
        which = (
            "a column that is read" if measure.shape is OutputType.INPUT else "a released attribute, the sensitive one"
        )
        yield problem_at(bundle, at, f"{rule.measure} needs `of`", f"of: {which}", None, Code.MISSING_KEY)
    elif rule.of is not None and rule.of not in released:
        found, expected = f"{rule.of!r} is not released", "a released attribute"
        yield problem_at(bundle, (*at, "of"), found, expected, nearest_released(bundle, rule.of), Code.UNKNOWN_NAME)


def _over_problems(bundle: Bundle, at: Location, rule: GateRule, measure: Measure) -> Iterator[Problem]:
    released = named_attributes(bundle)
    if rule.over is not None and not measure.over:
        yield problem_at(bundle, (*at, "over"), f"{rule.measure} is computed over all released attributes", "no `over`")
        return
    for i, name in enumerate(rule.over or ()):
        if name not in released:
            found, meant = f"{name!r} is not released", nearest_released(bundle, name)
            yield problem_at(bundle, (*at, "over", i), found, "a released attribute", meant, Code.UNKNOWN_NAME)
    if len(set(rule.over or ())) != len(rule.over or ()):
        yield problem_at(bundle, (*at, "over"), "an attribute is listed twice", "each attribute once", None, Code.TWICE)
    if measure.over:
        contract, joint = bundle.contract.by_name, {name for each in bundle.contract.joint for name in each.levels}
        for name in rule.over or released:
            if name in contract and contract[name].margins is None and name not in joint:
                yield problem_at(
                    bundle, at, f"{name!r} has no public margins", "margins in the contract, or `over` without it"
                )


def unread_problems(bundle: Bundle, protection: Protection) -> Iterator[Problem]:
    """Yield a problem for each gate on an input column that the release does not read."""
    read = columns_read(bundle.contract, protection)
    for i, rule in enumerate(bundle.policy.spec.gates):
        known = rule.measure in MEASURES and MEASURES[rule.measure].shape is OutputType.INPUT
        if known and rule.of is not None and MEASURES[rule.measure].of and rule.of not in read:
            at, found = ("spec", "gates", i, "of"), f"{rule.of!r} is not read by this release"
            yield problem_at(
                bundle,
                at,
                found,
                expected_names(read, rule.of, "a column that is read", "the contract"),
                nearest(rule.of, read),
                Code.UNKNOWN_NAME,
            )


def joint_problems(bundle: Bundle, protection: Protection) -> Iterator[Problem]:
    """Yield problems of joint counts that gates read: levels coarser than the released ones, or too many counts for a
    manifest.
    """
    levels, numbers = protection.figures.levels, 0
    rules = [(i, rule) for i, rule in enumerate(bundle.policy.spec.gates) if _takes_expectation(rule)]
    for i, rule in rules:
        for each in bundle.contract.joint:
            known = [name for name in rule.over or levels if name in levels]  # another is refused elsewhere
            for name in (name for name in known if each.coarser_than(name, levels[name])):
                found = f"joint counts of {name!r} are at {each.levels[name].name!r}, coarser than it is released"
                expected = f"counts at {levels[name].name!r} or finer, or `over` without it"
                yield problem_at(bundle, ("spec", "gates", i), found, expected)
    for each in bundle.contract.joint if rules else ():
        counts = each.at(levels)
        numbers += len(counts) * (1 + len(counts.names))
    if numbers > MOST_JOINT_FIGURES:
        found = f"joint counts of {numbers} numbers at the released levels"
        yield problem_at(
            bundle, ("spec", "mechanism"), found, f"at most {MOST_JOINT_FIGURES}: coarser levels, fewer counts"
        )


def _takes_expectation(rule: GateRule) -> bool:
    return rule.measure in MEASURES and MEASURES[rule.measure].over
