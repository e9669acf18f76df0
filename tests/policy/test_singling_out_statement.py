"""The statement on singling out orders policies as their joint curves do, and no key of a policy sets it."""

import math
import shutil
from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

from crowdgate.accounting.pso_curve import STATED_DIVISORS, stated_bounds
from crowdgate.kind.plan import Plan
from crowdgate.kinds.rows.joint_cost import planned_law
from crowdgate.measures.guarantees import kept_costs
from crowdgate.mechanisms.rows.safe_k import SafeK
from crowdgate.planning.plan import plan_policy
from tests.policy.pages import ROOT

POLICY = "policies/census_income.yaml"
TWELVE = tuple(product(("0.25", "0.5", "1", "2", "3", "4"), ("0.1", "0.5")))
"""Epsilon and sampling rate of twelve policies."""
EPSILONS = 40
"""Points at which the true curve is evaluated."""
Edited = Callable[..., Plan]


@pytest.fixture
def edited(tmp_path: Path) -> Edited:
    """A function that returns the plan of the bundled policy after replacements (old, new)."""
    for name in ("policies", "data_contracts"):
        shutil.copytree(ROOT / name, tmp_path / name)

    def plan(*changes: tuple[str, str]) -> Plan:
        text = (ROOT / POLICY).read_text(encoding="utf-8")
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / POLICY).write_text(text, encoding="utf-8")
        return plan_policy(tmp_path / POLICY)

    return plan


def stated(plan: Plan) -> list[float]:
    static = plan.first_release_facts()
    return [each.bound for each in stated_bounds(static.most_rows, kept_costs(static, static.spent))]


def least(plan: Plan) -> list[float]:
    """Return n (e^epsilon w + delta(epsilon)) at each stated weight, the least on a fine grid of the joint curve."""
    mechanism, people = plan.protection.mechanism, plan.first_release_facts().most_rows
    assert isinstance(mechanism, SafeK)
    law = planned_law(mechanism, tuple(rule.charge.epsilon for rule, _ in plan.gates if rule.charge))
    assert law is not None
    curve, epsilons = law.law(mechanism.k).delta, np.linspace(0, 1, EPSILONS + 1)[1:] * float(plan.guarantee.epsilon)
    points = [(math.exp(epsilon), people * curve(float(epsilon))) for epsilon in epsilons]
    return [min(1.0, *(factor / each + failing for factor, failing in points)) for each in STATED_DIVISORS]


@pytest.mark.thorough
@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.soak)])
def test_twelve_policies_are_ordered_as_their_joint_curves(edited: Edited, every: int) -> None:
    """Points of the curve are stated at tenths of epsilon, so a bound is at most e^(epsilon / 10) times the least one
    of the whole curve; these policies are in the same order all the same. Each third policy by default."""
    found = []
    for epsilon, beta in TWELVE[::every]:
        plan = edited(("epsilon: 1,", f"epsilon: {epsilon},"), ("beta: 0.3", f"beta: {beta}"))
        found.append((stated(plan), least(plan), math.exp(float(epsilon) / 10)))
    for bounds, true, factor in found:
        for bound, exact in zip(bounds, true, strict=True):
            assert exact * (1 - 1e-6) <= bound <= exact * factor * (1 + 1e-6)
    for (one, own, _), (other, its, _) in combinations(found, 2):
        for at in range(len(STATED_DIVISORS)):
            assert (one[at] < other[at]) == (own[at] < its[at]), (one, other)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("pso_bound, at_most: 0.02, with: {weight: 1e-9}", "pso_bound, at_most: 1, with: {weight: 1e-4}"),
        ("    - {measure: pso_bound, at_most: 0.02, with: {weight: 1e-9}}\n", ""),
        ("{people: 300000}", "{people: 10}"),
        ("guarantee_epsilon, at_most: 1", "guarantee_epsilon, at_most: 100"),
        ("released_rows, at_least: 80000", "released_rows, at_least: 1"),
        ("suppressed_share, at_most: 0.25, severity: advise", "suppressed_share, at_most: 1, severity: advise"),
        ("formats: [parquet, csv]", "formats: [csv]"),
        ("name: census-income", "name: other"),
        ("owner: disclosure-review", "owner: somebody"),
        ("spec:\n", "spec:\n  enforcement: dry-run\n"),
    ],
)
def test_no_key_but_people_and_cost_changes_the_statement(old: str, new: str, edited: Edited) -> None:
    plans = edited(), edited((old, new))
    said = [plan.plain(plan.first_release_facts()) for plan in plans]
    assert said[0] == said[1]
    assert any("Predicate singling out" in line for line in said[0])
