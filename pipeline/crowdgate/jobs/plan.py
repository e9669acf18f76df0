"""What a policy will do, from the files alone: guarantee, class size, gates. No data is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from crowdgate.accounting.numbers import decimal, exact_text
from crowdgate.candidate import Question, Shape, Static
from crowdgate.errors import Code, ConfigurationError, Problem, nearest
from crowdgate.files import is_url
from crowdgate.formats import FORMATS
from crowdgate.gate import Reach, Verdict, part_name, reach, verdict
from crowdgate.guarantee import Guarantee, Part
from crowdgate.jobs.kl.held import decision_problems
from crowdgate.jobs.public import why_private
from crowdgate.jobs.register import register_problems
from crowdgate.kind.kind import Allowance, AnyKind, Protection
from crowdgate.kind.plan import Plan, columns_read
from crowdgate.kinds import KINDS
from crowdgate.ledger.values import Budget, Spend
from crowdgate.limits import MOST_JOINT_FIGURES
from crowdgate.measures import MEASURES, Measure, MeasureClass
from crowdgate.measures.options import is_share, wrong_options
from crowdgate.policy.files import Bundle, Draft, Known, read_draft
from crowdgate.policy.policy import AuditSpec, GateRule, ReleaseSpec
from crowdgate.sources import SOURCES

if TYPE_CHECKING:
    from crowdgate.contracts.contract import PrivacyUnit
    from crowdgate.documents import Location
    from crowdgate.publish.register import Register

KNOWN = Known(
    mechanisms={name: kind.spec for name, kind in KINDS.items()},
    formats=tuple(FORMATS),
    servers={name: reader.rule for name, reader in SOURCES.items()},
)
"""What policy and contract files may name."""
RAISED: frozenset[Location] = frozenset({("k",)})
"""Of mechanisms: whole numbers whose least permitted value is told, and which protect the more the larger they are."""


def plan_policy(policy: Path) -> Plan:
    """The plan of a policy file. Raises ConfigurationError that lists every problem of it and of all that it names."""
    return plan_release(bundle_of(policy))


def bundle_of(policy: Path) -> Bundle:
    """A policy with all files it names, of the kinds, formats and sources that there are. Raises ConfigurationError,
    which lists what is wrong with their shape and, of the rest, with what they mean."""
    draft = read_draft(policy, KNOWN)
    if draft.problems or draft.bundle is None:
        raise ConfigurationError([*dict.fromkeys([*draft.problems, *_of_the_rest(draft)])])
    return draft.bundle


def _of_the_rest(draft: Draft) -> list[Problem]:
    """Problems of meaning that do not follow from those of shape."""
    try:
        if draft.bundle is not None:
            plan_release(draft.bundle)
    except ConfigurationError as error:
        return [problem for problem in error.problems if not draft.follows(problem)]
    return []


def plan_release(bundle: Bundle, others: Sequence[Problem] = ()) -> Plan:
    """The plan of a policy. Raises ConfigurationError that lists every problem of policy, contract and budget, and
    `others`, which were found elsewhere."""
    problems = [*_budget_problems(bundle), *_gate_problems(bundle), *_publish_problems(bundle)]
    problems += [*decision_problems(bundle), *others]
    if bundle.policy.spec.audit is not None or any(asked(rule) for rule in bundle.policy.spec.gates):
        problems += population_problems(bundle)
    spec, kind = bundle.policy.spec, kind_of(bundle)
    taken = kind.taken(spec.mechanism)
    charges = charged(spec)
    left = spec.privacy.epsilon - charges
    if left <= sum(taken.values()):
        problems.append(_overcharged(bundle, charges, taken))
        left = spec.privacy.epsilon + sum(taken.values())  # the mechanism's own problems belong in the same error
    protection, findings = kind.protection(spec.mechanism, bundle.contract, Allowance(left, spec.privacy.delta))
    for at, found, expected, instead in findings:
        problems.append(_against_mechanism(bundle, at, found, expected, instead))
    problems += register_problems(bundle, protection, KNOWN)
    if protection is not None:
        problems += _unread_problems(bundle, protection)
        problems += _joint_problems(bundle, protection)
    if problems or protection is None:
        raise ConfigurationError(problems)
    gates = tuple((rule, MEASURES[rule.measure]) for rule in spec.gates)
    return Plan(bundle, protection, _guarantee(bundle, protection.parts), gates)


def charged(spec: ReleaseSpec) -> Fraction:
    """What charged gates take of epsilon."""
    return sum((rule.charge.epsilon for rule in spec.gates if rule.charge), Fraction(0))


def kind_of(bundle: Bundle) -> AnyKind:
    """The kind of the releases that a policy makes."""
    return KINDS[bundle.policy.spec.mechanism.kind]


def _guarantee(bundle: Bundle, parts: tuple[Part, ...]) -> Guarantee:
    spec = bundle.policy.spec
    charged = [Part(part_name(rule), rule.charge.epsilon, Fraction(0)) for rule in spec.gates if rule.charge]
    return Guarantee.of((*parts, *charged), "add-remove", "row" if bundle.contract.unit.person is None else "person")


def judge_static(plan: Plan, static: Static, day: str) -> list[Verdict]:
    """The verdicts of the gates that read no data, with the waivers that hold on that day."""
    return [
        verdict(rule, measure, measure.of_static(static, rule), static, day)
        for rule, measure in plan.gates
        if measure.of_static is not None
    ]


def gate_reach(static: Static, rule: GateRule, measure: Measure, register: Register | None = None) -> Reach:
    """Whether the gate can decide anything from the release with these facts on. None passes that compares with a
    register of which no record is usable."""
    if measure.register and register is not None and not register.usable:
        return Reach.CANNOT_PASS
    return reach(rule, measure.reach(static, rule))


def decided(measure: Measure) -> str:
    """When a gate on the measure is decided, in words."""
    against = " and the public register" if measure.register else ""
    by = " by a recorded audit" if measure.asks is not None else ""
    return {
        MeasureClass.STATIC: f"decided{by} before any data is read",
        MeasureClass.OUTPUT: f"decided{by and f'{by} and'} on what would be published{against}",
        MeasureClass.CHARGED: "decided on the table, through noise that the policy's epsilon pays",
        MeasureClass.CONFIDENTIAL: "shown in the private record only",
    }[measure.reads]


def failed(verdicts: list[Verdict]) -> bool:
    """Whether some of them withholds."""
    return any(found.withholds for found in verdicts)


def budget_of(bundle: Bundle) -> Budget:
    """The budget as its file states it."""
    stated = bundle.budget.spec
    cap = Spend(stated.epsilon, stated.delta)
    return Budget(bundle.budget.metadata.name, cap, stated.people, stated.unit, stated.relation)


def _at(
    bundle: Bundle, at: Location, found: str, expected: str, instead: str | None = None, code: Code = Code.GATE
) -> Problem:
    return bundle.document.problem(at, found, expected, instead, code, known=bundle.contract.by_name)


def _against_mechanism(bundle: Bundle, at: Location, found: str, expected: str, instead: str | None) -> Problem:
    """Kinds say of a name that nothing has that it is unknown. A number is corrected where another one surely protects
    no less."""
    place: Location = ("spec", "mechanism", *at)
    code = Code.UNKNOWN_NAME if found.startswith("unknown ") else Code.MECHANISM
    text = bundle.document.text
    larger = text.replaced(place, instead) if at in RAISED and instead is not None else None
    known = bundle.contract.by_name
    return bundle.document.problem(place, found, expected, instead, code, corrected=larger, known=known)


def _overcharged(bundle: Bundle, charges: Fraction, taken: Mapping[str, Fraction]) -> Problem:
    by = " and ".join([*taken, "the charged gates"])
    found = f"{by} take {decimal(charges + sum(taken.values()))} of it"
    return _at(
        bundle, ("spec", "privacy", "epsilon"), found, "a total above the sum of all charges", None, Code.MECHANISM
    )


def _budget_problems(bundle: Bundle) -> Iterator[Problem]:
    contract, budget = bundle.contract, bundle.budget
    named, unit = budget.metadata.name, _unit_words(contract.unit)
    if named != contract.population:
        found = f"{named!r}, but contract {contract.id} is of population {contract.population!r}"
        expected = "the budget of the contract's population"
        yield _at(bundle, ("spec", "budget"), found, expected, contract.population, Code.CONTRADICTION)
    if budget.spec.unit != unit:
        found, expected = f"{budget.spec.unit!r}", f"the contract's privacy unit {unit!r}"
        yield bundle.budget_document.problem(("spec", "unit"), found, expected, unit, Code.CONTRADICTION)


def asked(rule: GateRule) -> Question | None:
    """The question of the recorded audit that a gate is judged by; None for other gates."""
    return MEASURES[rule.measure].asks if rule.measure in MEASURES else None


def asked_of(plan: Plan) -> list[Question]:
    """The questions that gates of a policy ask."""
    return list(dict.fromkeys(question for rule, _ in plan.gates if (question := asked(rule)) is not None))


def population_problems(bundle: Bundle) -> Iterator[Problem]:
    """What stands against an audit on the population that a policy names."""
    contract, spec = bundle.population, bundle.policy.spec.audit
    named = spec is not None and spec.population is not None
    at: Location = ("spec", "audit", "population") if named else ("spec", "audit") if spec else ("spec", "contract")
    why = why_private(contract, KNOWN)
    if why is not None:
        found = f"the table of contract {contract.id} is not public ({why}), and an audit's population is"
        expected = "audit: {population: ...}, the id of a contract with {property: public, value: true}"
        yield _at(bundle, at, found, expected, None, Code.NOT_PUBLIC)


def _named(bundle: Bundle) -> list[str]:
    """The attributes that gates may name."""
    return list(kind_of(bundle).named(bundle.policy.spec.mechanism))


def _released(bundle: Bundle, word: str) -> str | None:
    """The released attribute that a word was probably meant to be, which is not misspelled itself."""
    return nearest(word, [name for name in _named(bundle) if name in bundle.contract.by_name])


def _unit_words(unit: PrivacyUnit) -> str:
    return str(unit)


def _publish_problems(bundle: Bundle) -> Iterator[Problem]:
    at, to = ("spec", "publish", "to"), bundle.policy.spec.publish.to
    if is_url(to):
        found, expected = (
            f"{to!r} is a URL",
            "a folder below the working copy, such as releases; copy it elsewhere after",
        )
        yield _at(bundle, at, found, expected, None, Code.DESTINATION)
    elif not to or not _is_below(bundle.root, to):
        yield _at(
            bundle,
            at,
            f"{to!r} is not inside the working copy",
            "a folder below it, such as releases",
            None,
            Code.DESTINATION,
        )
    formats = bundle.policy.spec.publish.formats
    if len(set(formats)) != len(formats):
        yield _at(bundle, ("spec", "publish", "formats"), "a format twice", "each format once", None, Code.TWICE)


def _is_below(root: Path, to: str) -> bool:
    try:
        target = (root / to).resolve()
    except (ValueError, OSError, RuntimeError):  # a NUL character; a loop of links
        return False
    return target != root and target.is_relative_to(root)


def _gate_problems(bundle: Bundle) -> Iterator[Problem]:
    gates = bundle.policy.spec.gates
    if not any(rule.severity == "block" and rule.waiver is None for rule in gates):
        found = "no gate blocks" if all(rule.waiver is None for rule in gates) else "no gate blocks without a waiver"
        yield _at(bundle, ("spec", "gates"), found, "at least one gate that can withhold the release")
    seen: Counter[tuple[object, ...]] = Counter()
    for i, rule in enumerate(gates):
        at: Location = ("spec", "gates", i)
        # a charged number is drawn and paid once, so it has one limit
        side = rule.charge is None and rule.at_most is None
        key = (rule.measure, rule.of, tuple(rule.over or ()), side, tuple(sorted(rule.options.items())))
        seen[key] += 1
        if seen[key] == 2:
            what = "" if rule.charge else " with the same kind of limit"
            yield _at(bundle, at, f"a second gate on {rule.measure}{what}", "one gate each", None, Code.TWICE)
        measure = MEASURES.get(rule.measure)
        if measure is None:
            expected = f"one of {', '.join(MEASURES)}"
            meant = nearest(rule.measure, list(MEASURES))
            yield _at(bundle, (*at, "measure"), f"unknown measure {rule.measure!r}", expected, meant, Code.UNKNOWN_NAME)
        else:
            yield from _rule_problems(bundle, at, rule, measure)


def _rule_problems(bundle: Bundle, at: Location, rule: GateRule, measure: Measure) -> Iterator[Problem]:
    kind = kind_of(bundle)
    if measure.shape not in kind.shapes:
        found = f"{rule.measure} does not speak of a release by {kind.name}"
        fitting = ", ".join(name for name, known in MEASURES.items() if known.shape in kind.shapes)
        yield _at(bundle, (*at, "measure"), found, f"one of {fitting}")
        return
    if measure.reads is MeasureClass.CHARGED and rule.charge is None:
        found = f"{rule.measure} reads the table and has no charge"
        yield _at(bundle, at, found, "charge: {epsilon: ...}, a part of the policy's epsilon")
    if measure.reads is MeasureClass.CHARGED and bundle.contract.sample is not None:
        found = f"{rule.measure} would read an inherited sample a second time"
        yield _at(bundle, at, found, "no charged gate: one sample serves one release and nothing else")
    if measure.reads is not MeasureClass.CHARGED and rule.charge is not None:
        yield _at(bundle, (*at, "charge"), f"{rule.measure} costs nothing", "no charge")
    if measure.reads is MeasureClass.CONFIDENTIAL and rule.severity == "block":
        found = f"{rule.measure} is confidential: withholding by it would tell about the data"
        yield _at(bundle, at, found, "severity: advise", "advise")
    for option in rule.options:
        if option not in measure.options:
            expected = f"one of {', '.join(measure.options)}" if measure.options else "no options"
            meant = nearest(option, measure.options)
            yield _at(bundle, (*at, "with", option), "unknown option", expected, meant, Code.UNKNOWN_KEY)
    for option in measure.needs:
        if option not in rule.options:
            yield _at(
                bundle, at, f"{rule.measure} without {option}", f"with: {{{option}: ...}}", None, Code.MISSING_KEY
            )
    for option, expected in wrong_options(rule, measure):
        yield _at(bundle, (*at, "with", option), "out of range", expected, None, Code.VALUE)
    yield from _waiver_problems(bundle, at, rule, measure)
    yield from _claim_problems(bundle, at, rule, measure)
    yield from _input_problems(bundle, at, rule, measure)
    yield from _over_problems(bundle, at, rule, measure)
    yield from _of_problems(bundle, at, rule, measure)


def _waiver_problems(bundle: Bundle, at: Location, rule: GateRule, measure: Measure) -> Iterator[Problem]:
    if rule.waiver is not None and rule.severity != "block":
        yield _at(bundle, (*at, "waiver"), "a gate that advises withholds nothing", "no waiver")
    elif rule.waiver is not None and not measure.waivable:
        found = f"{rule.measure} says whether the guarantee holds, which nobody can waive"
        yield _at(bundle, (*at, "waiver"), found, "no waiver")


def _claim_problems(bundle: Bundle, at: Location, rule: GateRule, measure: Measure) -> Iterator[Problem]:
    """An audit of membership looks for claims at the skew and the recall that it is set to, and tells of no others."""
    own = (bundle.policy.spec.audit or AuditSpec()).membership
    for option, stated in (("skew", own.skew), ("recall", own.recall)):
        if measure.asks is Question.MEMBERSHIP and rule.options.get(option, stated) != stated:
            found, meant = (
                f"the policy's audit of membership is at a {option} of {exact_text(stated)}",
                exact_text(stated),
            )
            yield _at(
                bundle,
                (*at, "with", option),
                found,
                f"the same number as in audit: {{membership: {{{option}: ...}}}}",
                meant,
            )


def _input_problems(bundle: Bundle, at: Location, rule: GateRule, measure: Measure) -> Iterator[Problem]:
    if measure.excess and not is_share(rule.at_most):
        expected = "at_most: a share from 0 to 1, in at most six decimals"
        yield _at(bundle, at, f"{rule.measure} without a share that it must keep", expected)
    if rule.measure == "truncated_people" and bundle.contract.unit.person is None:
        found = "every row is a person of its own, so nobody has more rows than may stay"
        yield _at(bundle, at, found, "this gate where the contract's privacyUnit is a person")


def _unread_problems(bundle: Bundle, protection: Protection) -> Iterator[Problem]:
    """Gates on columns of the input that are not read."""
    read = columns_read(bundle.contract, protection)
    for i, rule in enumerate(bundle.policy.spec.gates):
        known = rule.measure in MEASURES and MEASURES[rule.measure].shape is Shape.INPUT
        if known and rule.of is not None and MEASURES[rule.measure].of and rule.of not in read:
            at, found = ("spec", "gates", i, "of"), f"{rule.of!r} is not read by this release"
            yield _at(bundle, at, found, f"one of {', '.join(read)}", nearest(rule.of, read), Code.UNKNOWN_NAME)


def _joint_problems(bundle: Bundle, protection: Protection) -> Iterator[Problem]:
    """Joint counts that gates read must be at levels as fine as the released ones, and fit into a manifest."""
    levels, numbers = protection.figures().levels, 0
    rules = [(i, rule) for i, rule in enumerate(bundle.policy.spec.gates) if _takes_expectation(rule)]
    for i, rule in rules:
        for each in bundle.contract.joint:
            known = [name for name in rule.over or levels if name in levels]  # another is refused elsewhere
            for name in (name for name in known if each.coarser_than(name, levels[name])):
                found = f"joint counts of {name!r} are at {each.levels[name].name!r}, coarser than it is released"
                expected = f"counts at {levels[name].name!r} or finer, or `over` without it"
                yield _at(bundle, ("spec", "gates", i), found, expected)
    for each in bundle.contract.joint if rules else ():
        counts = each.at(levels)
        numbers += len(counts) * (1 + len(counts.names))
    if numbers > MOST_JOINT_FIGURES:
        found = f"joint counts of {numbers} numbers at the released levels"
        yield _at(bundle, ("spec", "mechanism"), found, f"at most {MOST_JOINT_FIGURES}: coarser levels, fewer counts")


def _takes_expectation(rule: GateRule) -> bool:
    return rule.measure in MEASURES and MEASURES[rule.measure].over


def _of_problems(bundle: Bundle, at: Location, rule: GateRule, measure: Measure) -> Iterator[Problem]:
    released = _named(bundle)
    if measure.shape is Shape.INPUT and measure.of and rule.of is not None:
        return
    if rule.of is not None and not measure.of:
        yield _at(bundle, (*at, "of"), f"{rule.measure} speaks of all released attributes", "no `of`")
    elif measure.of and rule.of is None:
        which = "a column that is read" if measure.shape is Shape.INPUT else "a released attribute, the sensitive one"
        yield _at(bundle, at, f"{rule.measure} needs `of`", f"of: {which}", None, Code.MISSING_KEY)
    elif rule.of is not None and rule.of not in released:
        found, expected = f"{rule.of!r} is not released", "a released attribute"
        yield _at(bundle, (*at, "of"), found, expected, _released(bundle, rule.of), Code.UNKNOWN_NAME)


def _over_problems(bundle: Bundle, at: Location, rule: GateRule, measure: Measure) -> Iterator[Problem]:
    released = _named(bundle)
    if rule.over is not None and not measure.over:
        yield _at(bundle, (*at, "over"), f"{rule.measure} speaks of all released attributes", "no `over`")
        return
    for i, name in enumerate(rule.over or ()):
        if name not in released:
            found, meant = f"{name!r} is not released", _released(bundle, name)
            yield _at(bundle, (*at, "over", i), found, "a released attribute", meant, Code.UNKNOWN_NAME)
    if len(set(rule.over or ())) != len(rule.over or ()):
        yield _at(bundle, (*at, "over"), "an attribute twice", "each attribute once", None, Code.TWICE)
    if measure.over:
        contract, joint = bundle.contract.by_name, {name for each in bundle.contract.joint for name in each.levels}
        for name in rule.over or released:
            if name in contract and contract[name].margins is None and name not in joint:
                yield _at(
                    bundle, at, f"{name!r} has no public margins", "margins in the contract, or `over` without it"
                )
