"""The points that a membership audit judges: claimed shares, chosen attacks, and the deciding point."""

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from crowdgate.audit.membership.attacks import NAMES
from crowdgate.audit.membership.controls import controls, tagged_units
from crowdgate.audit.membership.findings import LEAST_FOUND, MembershipEstimate, worst_estimate
from crowdgate.audit.membership.play import MembershipGame, MembershipTally
from crowdgate.audit.membership.setting import claimed_shares, recall_of
from crowdgate.audit.membership.target_population import TargetPopulation
from crowdgate.candidate import Measurement
from crowdgate.policy.policy import AuditSpec, GateRule
from tests.audit.people import rows

CLAIMED = (0.1, 0.5)
CROWD = TargetPopulation(rows(np.full(100, 4)), 200)
RECALL = Fraction(1, 10)


def game(beta: Fraction | None) -> MembershipGame:
    """Return attacks on a control that publishes rows of a sample, or nothing."""
    tagged = TargetPopulation(tagged_units(CROWD.population, 400, np.random.default_rng(0)), 200)
    return MembershipGame(controls(beta)[0 if beta else -1], tagged, CLAIMED, seed=5, number=0)


def estimate(tpr: tuple[float, float, float], fpr: tuple[float, float, float]) -> MembershipEstimate:
    """Return a point with these rates: value, lower and upper confidence limit."""
    return MembershipEstimate(tpr[0], "an attack", Measurement(*tpr), Measurement(*fpr), {}, {})


def test_of_the_points_that_may_reach_the_recall_the_one_of_the_greatest_upper_precision_decides() -> None:
    reaches = estimate((0.05, 0.01, 0.1), (0.05, 0.001, 0.06))
    value = estimate((0.4, 0.3, 0.5), (0.02, 0.015, 0.025))
    short = estimate((0.05, 0.01, 0.099), (0.0, 0.0, 0.0))
    assert value.precision(1).value > reaches.precision(1).value
    assert reaches.precision(1).upper > value.precision(1).upper
    for every in ((value, short, reaches), (reaches, short, value)):
        assert worst_estimate(every, 1000, 1, RECALL) is reaches
    assert worst_estimate((value, short), 1000, 1, RECALL) is value
    assert worst_estimate((short,), 1000, 1, RECALL) is None


def test_a_point_is_judged_from_twenty_members_on() -> None:
    point = estimate((0.2, 0.1, 0.3), (0.1, 0.05, 0.15))
    units = LEAST_FOUND * 10
    assert worst_estimate((point,), units, 1, RECALL) is point
    assert worst_estimate((point,), units - 1, 1, RECALL) is None


@pytest.mark.parametrize(
    ("recall", "size", "expected"),
    [
        ("0.3", 1000, (0.001, 0.01, 0.1, 0.16, 0.3, 0.5, 1.0)),  # .001 is 1 unit; .16 finds .3 at precision .5
        ("0.3", 999, (0.01, 0.1, 0.16, 0.3, 0.5, 1.0)),
    ],
)
def test_the_shares_that_are_claimed_are_of_a_unit_at_least_and_the_recall_is_one(
    recall: str, size: int, expected: tuple[float, ...]
) -> None:
    spec = AuditSpec.model_validate({"membership": {"skew": "15", "limit": "0.5"}})
    assert claimed_shares(spec, Fraction(recall), size // 2, size) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    ("stated", "gate", "n", "expected"),
    [
        ("0.3", "0.3", 1000, "0.3"), ("0.3", None, 1000, "0.3"), (None, "0.01", 100_000, "0.01"),
        (None, None, 100_000, "0.001"), (None, None, 20_000, "0.001"), (None, None, 19_999, "0.001001"),
        (None, None, 300, "0.066667"),
    ],
)  # fmt: skip
def test_the_recall_is_stated_or_that_of_a_gate_or_small(
    stated: str | None, gate: str | None, n: int, expected: str
) -> None:
    rule = GateRule.model_validate(
        {"measure": "membership_precision", "at_most": "0.1", "with": {"recall": gate} if gate else {}}
    )
    spec = AuditSpec.model_validate({"membership": {} if stated is None else {"recall": stated}})
    policy = SimpleNamespace(spec=SimpleNamespace(audit=spec, gates=[rule]))
    plan: Any = SimpleNamespace(bundle=SimpleNamespace(policy=policy))
    assert recall_of(plan, n) == Fraction(expected)
    assert recall_of(plan, n) * n >= LEAST_FOUND


def test_the_attack_of_each_share_is_chosen_by_the_releases_that_choose_alone() -> None:
    """On the choosing releases the first attack is best at .1, the second at .5; on the estimating ones it is the other
    way round."""
    shape = (2, len(NAMES), len(CLAIMED))
    choosing, estimating = np.full(shape, np.nan), np.full((3, *shape[1:]), 0.0)
    choosing[:, 0], choosing[:, 1] = (0.2, 0.5), (0.1, 0.6)
    estimating[:, 0], estimating[:, 1] = (0.11, 0.7), (0.19, 0.52)
    none = np.zeros(0)
    tallies = {
        0: MembershipTally(choosing[:1], estimating[:2], none), 1: MembershipTally(choosing[1:], estimating[2:], none)
    }  # fmt: skip
    found = game(Fraction(1, 2)).played(tallies, "hold", "", None)
    assert [(each.claimed, each.attack, each.tpr) for each in found.points] == [
        (0.1, NAMES[0], (0.11,) * 3), (0.5, NAMES[1], (0.52,) * 3)
    ]  # fmt: skip
    estimating[1, 1, 1] = np.nan
    (left,) = game(Fraction(1, 2)).played(tallies, "hold", "", None).points
    assert left.claimed == 0.1, "an attack that had nothing to read in one release has no rate"


def test_the_first_release_of_a_batch_chooses_and_the_others_estimate() -> None:
    playing = game(Fraction(1, 2))
    rng = playing.stream(3)
    expected = np.array([playing.release(rng) for _ in range(3)])
    found = playing.batch(3, 3)
    np.testing.assert_array_equal(np.concatenate([found.choosing, found.estimating]), expected)
    assert len(found.choosing) == 1
    assert not np.array_equal(expected[1], expected[2], equal_nan=True)
