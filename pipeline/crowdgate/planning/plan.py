"""The plan of a policy, from its files alone: guarantee, class size, gates. No data is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from crowdgate.errors import Code, ConfigurationError, Problem
from crowdgate.gate import part_name
from crowdgate.guarantee import Guarantee, Part, Unit
from crowdgate.kind.kind import Allowance, Protection
from crowdgate.kind.plan import Plan
from crowdgate.measures import MEASURES
from crowdgate.number_text import decimal
from crowdgate.planning.budget_values import budget_problems, charged_epsilon, overcharge_problem, share_problems
from crowdgate.planning.bundle import KNOWN, kind_of, problem_at
from crowdgate.planning.decisions import decision_problems
from crowdgate.planning.gate_rules import gate_problems, joint_problems, unknown_measures, unread_problems
from crowdgate.planning.gate_verdicts import audit_question
from crowdgate.planning.public_classes import count_classes, counting_problems
from crowdgate.planning.public_tables import why_private
from crowdgate.planning.register import register_problems
from crowdgate.policy.files import Bundle, Draft, read_draft
from crowdgate.publish.object_store import EXAMPLE, is_object_url, parse_object_url
from crowdgate.system.regular_files import is_url

if TYPE_CHECKING:
    from crowdgate.documents.yaml_text import Location

GATE_LAW = "pure"
"""The law of a charged gate's noise in a joint cost: that of any step of its epsilon."""

RAISED: frozenset[Location] = frozenset({("k",)})
"""Whole numbers of mechanisms for which the least permitted value is suggested; a larger one protects more."""


def plan_policy(policy: Path) -> Plan:
    """Return the plan of a policy file. Raises ConfigurationError that lists every problem of it and of the files it
    names.
    """
    return plan_release(bundle_of(policy))


def bundle_of(policy: Path) -> Bundle:
    """Return a policy with all files that it names, read with the registered kinds, formats and sources.

    Raises ConfigurationError that lists structural problems, and semantic problems that do not follow from them.
    """
    draft = read_draft(policy, KNOWN)
    if draft.problems or draft.bundle is None:
        raise ConfigurationError([*dict.fromkeys([*draft.problems, *_remaining_problems(draft)])])
    return draft.bundle


def _remaining_problems(draft: Draft) -> list[Problem]:
    """Return the semantic problems of a policy's files that do not follow from their structural problems."""
    if draft.bundle is None and draft.policy is not None and draft.document is not None:
        unknown = unknown_measures(draft.document, draft.policy.spec.gates)
        return [problem for problem in unknown if not draft.follows(problem)]
    try:
        if draft.bundle is not None:
            plan_release(draft.bundle)
    except ConfigurationError as error:
        return [problem for problem in error.problems if not draft.follows(problem)]
    return []


def plan_release(bundle: Bundle, others: Sequence[Problem] = ()) -> Plan:
    """Return the plan of a policy. Raises ConfigurationError that lists every problem of policy, contract and budget,
    and `others`, which were found elsewhere.
    """
    problems = [*budget_problems(bundle), *gate_problems(bundle), *_publish_problems(bundle)]
    problems += [*decision_problems(bundle), *others]
    if bundle.policy.spec.audit is not None or any(audit_question(rule) for rule in bundle.policy.spec.gates):
        problems += population_problems(bundle)
    spec, kind = bundle.policy.spec, kind_of(bundle)
    taken = kind.other_charges(spec.mechanism)
    charges = charged_epsilon(spec)
    left = spec.privacy.epsilon - charges
    overcharged = left <= sum(taken.values())
    if overcharged:
        problems.append(overcharge_problem(bundle, charges, taken))
        left = spec.privacy.epsilon + sum(taken.values())  # the mechanism's own problems belong in the same error
    problems += share_problems(bundle)
    jointly = spec.by_shares and not overcharged
    gates = tuple(rule.charge.epsilon for rule in spec.gates if rule.charge) if jointly else None
    protection, findings = kind.plan(spec.mechanism, bundle.contract, Allowance(left, spec.privacy.delta, gates))
    for at, found, expected, instead in findings:
        problems.append(_against_mechanism(bundle, at, found, expected, instead))
    if gates is not None and protection is not None and protection.joint is None:
        found, expected = f"shares with {kind.name}, whose joint cost is not known", "an epsilon in place of each share"
        problems.append(problem_at(bundle, ("spec", "mechanism"), found, expected, None, Code.MECHANISM))
    problems += register_problems(bundle, protection, KNOWN)
    if protection is not None:
        problems += unread_problems(bundle, protection)
        problems += joint_problems(bundle, protection)
    if problems or protection is None:
        raise ConfigurationError(problems)
    measured = tuple((rule, MEASURES[rule.measure]) for rule in spec.gates)
    plan = Plan(bundle, protection, _guarantee(bundle, protection), measured, count_classes)
    if uncounted := list(counting_problems(plan)):
        raise ConfigurationError(uncounted)
    if spec.series is not None and bundle.contract.sample is not None:
        raise ConfigurationError(_series_of_sample(bundle))
    if spec.series is not None and plan.series is None:
        raise ConfigurationError(_series_problem(bundle, spec.series.releases * plan.guarantee.delta))
    return plan


def _series_of_sample(bundle: Bundle) -> Problem:
    found = "a series on a table that is a sample already, which serves one release"
    return problem_at(bundle, ("spec", "series"), found, "no series", None, Code.MECHANISM)


def _series_problem(bundle: Bundle, most: Fraction) -> Problem:
    found = "no epsilon of at most 50 keeps this delta for all releases of the series together"
    expected = f"a larger delta, such as the sum of those of its releases, {decimal(most)}"
    return problem_at(bundle, ("spec", "series", "delta"), found, expected, None, Code.MECHANISM)


def _guarantee(bundle: Bundle, protection: Protection) -> Guarantee:
    spec, parts = bundle.policy.spec, protection.parts
    charged = [Part(part_name(rule), rule.charge.epsilon, Fraction(0)) for rule in spec.gates if rule.charge]
    unit: Unit = "row" if bundle.contract.unit.person is None else "person"
    joint = protection.joint
    if joint is not None:
        joint = replace(joint, laws=(*joint.laws, *((part.name, GATE_LAW) for part in charged)))
    return Guarantee.of((*parts, *charged), "add-remove", unit, joint)


def population_problems(bundle: Bundle) -> Iterator[Problem]:
    """Yield the problem of an audit population whose table is not public."""
    contract, spec = bundle.population, bundle.policy.spec.audit
    named = spec is not None and spec.population is not None
    at: Location = ("spec", "audit", "population") if named else ("spec", "audit") if spec else ("spec", "contract")
    why = why_private(contract, KNOWN)
    if why is not None:
        found = f"the table of contract {contract.id} is not public ({why}), and the population of an audit must be"
        expected = "audit: {population: ...}, the id of a contract with {property: public, value: true}"
        yield problem_at(bundle, at, found, expected, None, Code.NOT_PUBLIC)


def _against_mechanism(bundle: Bundle, at: Location, found: str, expected: str, instead: str | None) -> Problem:
    """Return the problem that the mechanism has with a value of the policy at `at`. An unknown name has its own problem
    code; a number is corrected only if the other number surely protects no less.
    """
    place: Location = ("spec", "mechanism", *at)
    code = Code.UNKNOWN_NAME if found.startswith("unknown ") else Code.MECHANISM
    text = bundle.document.text
    larger = text.replaced(place, instead) if at in RAISED and instead is not None else None
    if (
        found.startswith("unknown level '")
        and instead is not None
        and found.removeprefix("unknown level ")[1:-1].isdigit()
    ):
        larger = text.replaced(place, instead)
    known = bundle.contract.by_name
    return bundle.document.problem(place, found, expected, instead, code, corrected=larger, known=known)


def _publish_problems(bundle: Bundle) -> Iterator[Problem]:
    at, to = ("spec", "publish", "to"), bundle.policy.spec.publish.to
    if is_object_url(to):
        try:
            parse_object_url(to)
        except ValueError as error:
            yield problem_at(bundle, at, f"{to!r} names no place in a bucket", str(error), None, Code.DESTINATION)
    elif is_url(to):
        found, expected = f"{to!r} is a URL", f"a folder below the working copy, such as releases, or {EXAMPLE}"
        yield problem_at(bundle, at, found, expected, None, Code.DESTINATION)
    elif not to or not _is_below(bundle.root, to):
        yield problem_at(
            bundle,
            at,
            f"{to!r} is not inside the working copy",
            "a folder below it, such as releases",
            None,
            Code.DESTINATION,
        )
    formats = bundle.policy.spec.publish.formats
    if len(set(formats)) != len(formats):
        yield problem_at(
            bundle, ("spec", "publish", "formats"), "a format is listed twice", "each format once", None, Code.TWICE
        )


def _is_below(root: Path, to: str) -> bool:
    try:
        target = (root / to).resolve()
    except (ValueError, OSError, RuntimeError):  # a NUL character; a loop of links
        return False
    return target != root and target.is_relative_to(root)
