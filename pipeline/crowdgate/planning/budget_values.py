"""A policy's budget: its cap, the epsilon of charged gates, and the problems of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from crowdgate.errors import Code, Problem
from crowdgate.ledger.values import Budget, Spend
from crowdgate.number_text import decimal
from crowdgate.planning.bundle import problem_at
from crowdgate.policy.files import Bundle, budget_files
from crowdgate.policy.policy import PrivacyBudget, ReleaseSpec

NO_BUDGET = "a budget with the name of the contract's population; none is there: state one name in both files"
"""Words where no file has the budget of a contract's population."""


def budget_of(bundle: Bundle) -> Budget:
    """Return the lifetime budget as the policy's budget file states it."""
    return stated_budget(bundle.budget)


def stated_budget(file: PrivacyBudget) -> Budget:
    """Return the lifetime budget that a budget file states."""
    stated = file.spec
    cap = Spend(stated.epsilon, stated.delta)
    return Budget(file.metadata.name, cap, stated.people, stated.unit, stated.relation, stated.lifetime)


def charged_epsilon(spec: ReleaseSpec) -> Fraction:
    """Return the sum of the epsilon of all charged gates of a policy."""
    return sum((rule.charge.epsilon for rule in spec.gates if rule.charge), Fraction(0))


def overcharge_problem(bundle: Bundle, charges: Fraction, taken: Mapping[str, Fraction]) -> Problem:
    by = " and ".join([*taken, "the charged gates"])
    if bundle.policy.spec.by_shares:
        share = (charges + sum(taken.values())) / bundle.policy.spec.privacy.epsilon
        found, expected = f"the shares of {by} add up to {decimal(share)}", "shares below 1, which leave a part for k"
        return problem_at(bundle, ("spec", "mechanism"), found, expected, None, Code.MECHANISM)
    found = f"{by} take {decimal(charges + sum(taken.values()))} of epsilon, which leaves nothing"
    return problem_at(
        bundle, ("spec", "privacy", "epsilon"), found, "a total above the sum of all charges", None, Code.MECHANISM
    )


def share_problems(bundle: Bundle) -> Iterator[Problem]:
    """Yield a problem for each part that states an epsilon where others state shares: the total can't be divided by
    both."""
    spec = bundle.policy.spec
    if not spec.by_shares:
        return
    if spec.privacy.accounting == "sum" and "accounting" in spec.privacy.model_fields_set:
        found, expected = "sum, while parts state shares", "joint, or epsilons in place of shares"
        yield problem_at(bundle, ("spec", "privacy", "accounting"), found, expected, "joint", Code.CONTRADICTION)
    for place, part in spec.paid_parts.items():
        if "epsilon" in part.model_fields_set:
            found, expected = "an epsilon, while the total is met jointly", "a share of the total for each part"
            yield problem_at(bundle, ("spec", *place), found, expected, None, Code.MECHANISM)


def budget_problems(bundle: Bundle) -> Iterator[Problem]:
    contract, budget = bundle.contract, bundle.budget
    named, unit = budget.metadata.name, str(contract.unit)
    if named != contract.population:
        found = f"{named!r}, but contract {contract.id} is of population {contract.population!r}"
        is_there = any(name == contract.population for _, name in budget_files(bundle.root))
        expected = "the budget of the contract's population" if is_there else NO_BUDGET
        instead = contract.population if is_there else None
        yield problem_at(bundle, ("spec", "budget"), found, expected, instead, Code.CONTRADICTION)
    if budget.spec.unit != unit:
        rows = "" if contract.unit.person is None else f", whose `rows` are at most {contract.unit.rows} of each person"
        found, expected = f"{budget.spec.unit!r}", f"the contract's privacy unit {unit!r}{rows}"
        yield bundle.budget_document.problem(("spec", "unit"), found, expected, unit, Code.CONTRADICTION)
