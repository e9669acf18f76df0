"""The singling-out statement orders policies as their joint curves do, and no other key of a policy changes it."""

import math
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from crowdgate.accounting.pso_curve import stated_bounds
from crowdgate.candidate import Cost
from crowdgate.measures.guarantees import kept_costs
from crowdgate.planning.plan import plan_policy
from tests.kinds.shares import rows_by_shares
from tests.workshop import Workshop

EPSILONS = {
    "age: 50 years, ward: exact": ("0.5", "0.8", "1.1", "1.4", "1.7", "2"),
    "age: 10 years, ward: exact": ("0.4", "0.7", "1", "1.3", "1.6", "1.9"),
}
"""Twelve policies by their attributes and total."""
STATED = 1e-6
"""Delta of all twelve."""
KEYS = (
    ("pso_bound, at_most: 1", "pso_bound, at_most: 0.9, with: {weight: 1e-9}"),
    ("description: Patients by age and ward.", "description: Other words."),
    ("name: clinic, version: 1", "name: other, version: 7"),
    ("released_rows, at_least: 0", "released_rows, at_least: 9"),
    ("formats: [parquet, csv]", "formats: [csv]"),
)


def points_of(clinic: Workshop) -> Sequence[Cost]:
    """Return the points (epsilon, delta) that the policy's first release keeps."""
    static = plan_policy(clinic.policy).first_release_facts()
    return kept_costs(static, static.spent)


def is_below(one: Sequence[Cost], other: Sequence[Cost]) -> bool:
    """Return True if the first curve is nowhere above the points of the second, down to the delta of both: delta
    is convex in e^epsilon, so it is interpolated, and 1 below the first epsilon."""
    factors, deltas = np.array(sorted((math.exp(epsilon), float(delta)) for epsilon, delta in one)).T
    return all(
        np.interp(math.exp(epsilon), factors, deltas, left=1.0) <= max(delta, STATED) for epsilon, delta in other
    )


@pytest.mark.thorough
def test_twelve_policies_are_ordered_as_their_joint_curves(tmp_path: Path) -> None:
    """At least half of the 66 pairs have one curve below the other."""
    clinic = rows_by_shares(tmp_path / "w")
    first, curves = clinic.policy.read_text(encoding="utf-8"), []
    for attributes, epsilons in EPSILONS.items():
        for epsilon in epsilons:
            text = first.replace("age: 50 years, ward: exact", attributes)
            clinic.policy.write_text(text.replace("epsilon: 2,", f"epsilon: {epsilon},"), encoding="utf-8")
            curves.append(points_of(clinic))
    assert len(curves) == 12
    bounds = [[each.bound for each in stated_bounds(1000, points)] for points in curves]
    ordered = 0
    for one, other in combinations(range(12), 2):
        for low, high in ((one, other), (other, one)):
            if is_below(curves[low], curves[high]):
                ordered += 1
                assert all(a <= b * (1 + 1e-9) for a, b in zip(bounds[low], bounds[high], strict=True))
    assert ordered >= 33


@pytest.mark.thorough
def test_no_other_key_of_a_policy_changes_the_statement(tmp_path: Path) -> None:
    clinic = rows_by_shares(tmp_path / "w")

    def summary() -> str:
        plan = plan_policy(clinic.policy)
        return plan.summary(plan.first_release_facts(), first=True)

    before = summary()
    for key, other in KEYS:
        clinic.edit(clinic.policy, key, other)
        assert summary() == before
