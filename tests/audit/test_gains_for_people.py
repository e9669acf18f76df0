"""Gains for people like the targets: what a few people decide by chance is no failure, and what many show is one."""

import pytest

from crowdgate.audit.inference.findings import InferenceEstimate, estimates
from crowdgate.audit.inference.record import AttackShares, InferenceResults, SecretResults
from crowdgate.audit.inference.secret_case import GROUPS
from tests.audit.test_enough import LEVEL

LIMIT = 0.1


def estimated(targets: int, both: float | None, rows: int = 1) -> InferenceEstimate:
    """Return the estimate for an attack that guesses for a tenth of the targets in each of 270 releases, and is right
    for .095 of all targets, where both baselines are right for .075."""
    shares = AttackShares(
        group=GROUPS[1], coverage=0.1, attack="a", baseline="b", baseline_of_these="b", targets=targets,
        wrong=0.3, wrong_at=0.3, outside=None, shares=((0.1, 0.095, 0.075, 0.075),) * 270, both=both,
    )  # fmt: skip
    secret = SecretResults(secret="ward", level="exact", labels=2, known=("age",), precision={}, found=(shares,))
    played = InferenceResults(
        mechanism="own", must="judged", note="", rate=None, releases=270, secrets=(secret,)
    )  # fmt: skip
    (found,) = estimates(played, LEVEL, rows)
    return found


def test_a_gain_of_four_people_among_twenty_is_no_failure() -> None:
    """The attack is right for 19 of 20 people, a baseline for 15, in every release alike. Another twenty people could
    as well be guessed alike: earlier versions failed by such differences."""
    assert estimated(200, both=0.075).proven < LIMIT
    assert estimated(200, both=None).proven > LIMIT, "earlier records keep what was proven of releases"
    assert estimated(20_000, both=0.075).proven > LIMIT, "two thousand people show it"


@pytest.mark.parametrize("rows", [1, 4])
def test_limits_for_people_enclose_those_of_releases_and_count_persons(rows: int) -> None:
    found = estimated(20_000, both=0.075, rows=rows)
    of, people = found.gain, found.for_people
    assert of is not None
    assert people is not None
    assert people.lower < of.lower <= of.value == people.value <= of.upper < people.upper <= 1
    fewer = estimated(20_000 // rows, both=0.075).for_people
    assert fewer is not None
    assert (people.lower, people.upper) == pytest.approx((fewer.lower, fewer.upper))


def test_guesses_that_agree_make_narrower_limits() -> None:
    agree, differ = (estimated(2000, both=both).improvement_of_these for both in (0.075, 0.07))
    assert agree == differ, "of releases they are the same"
    narrow, wide = (estimated(2000, both=both).for_people for both in (0.075, 0.07))
    assert narrow is not None
    assert wide is not None
    assert narrow.lower > wide.lower
