"""Policies written for version 0.1.0 keep their digest and their verdicts: a ledger knows them by it."""

import shutil
from pathlib import Path

import pytest

from crowdgate.gate import Outcome
from crowdgate.planning.plan import plan_policy
from crowdgate.review.check import check

ROOT = Path(__file__).parents[2]
KEPT = Path(__file__).parent / "kept" / "1"
DIGESTS = {
    KEPT / "rows" / "policies" / "clinic.yaml": "d090a1c1028bf7d6aa61d46c5711ac3ff0525a4dd973e939bd44a86fe908ecf6",
    KEPT / "tables" / "policies" / "clinic.yaml": "7d60b4c3b2c0827a8c0172ccd97b5ed9b745fdcd3f762e1587980eea530df347",
    KEPT / "synthetic" / "policies" / "clinic.yaml": "954ead5e5803557be559f22ec2b177ce11c90d00116d823468bbc18c9ed90136",
    ROOT / "policies" / "census_income.yaml": "b02c219682a3b04d4d80d182885ae20947084fd80449733d7f09bc88f0bd7306",
    ROOT / "policies" / "census_income_tables.yaml": "2eb11b16cefe43232a1c82a3922e01787676b56029adfd8c0f431d140aeb24d7",
    ROOT / "policies" / "census_income_synthetic.yaml": (
        "5c9529c815495ef3c4b4130356ecd20a8921ac353f7b02661404ebb690b85b89"
    ),
}


REFUSED = KEPT / "rows" / "policies" / "clinic.yaml"
"""Its gate allows at most 1 unique person by ward. Of three of the ten people in its public counts, 1.4 are
expected to be unique. Drawing 1,000 people from the shares of the wards gave 3e-95."""
FIRST = {
    "census_income.yaml": ("65e4b05cd3ff337218d58409f1109321a806c980967730a8ef1855b5c7c2eb54", 40),
    "census_income_tables.yaml": ("4420c224b6944e06e837e6e88369eb6b56230bad5aa6348c4bd5e843b50d389d", 1),
}
"""The first versions of bundled policies, which state epsilons: their digests and class sizes."""


@pytest.mark.thorough
@pytest.mark.parametrize("name", FIRST)
def test_the_first_version_of_a_bundled_policy_means_what_it_meant(tmp_path: Path, name: str) -> None:
    for folder in ("policies/budgets", "data_contracts"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.parquet"))
    shutil.copy(KEPT / "bundled" / "data_contracts" / "census_income.yaml", tmp_path / "data_contracts")
    policy = shutil.copy(KEPT / "bundled" / name, tmp_path / "policies")
    plan = plan_policy(Path(policy))
    assert (plan.bundle.digest, plan.protection.figures.least_class) == FIRST[name]
    assert plan.guarantee.joint is None


@pytest.mark.thorough
@pytest.mark.parametrize("policy", DIGESTS, ids=lambda each: str(each.relative_to(ROOT)))
def test_a_kept_policy_has_its_digest_and_is_allowed(policy: Path) -> None:
    assert plan_policy(policy).bundle.digest == DIGESTS[policy]
    assert check(policy, "2030-01-01").allowed is (policy != REFUSED)


def test_a_kept_policy_is_refused_by_its_corrected_number_of_unique_people_alone() -> None:
    """A group of 3 from 5, 3 and 2 people has (5 * 10 + 3 * 21 + 2 * 28) / 120 unique people; no other has more."""
    found = check(REFUSED, "2030-01-01")
    (failed,) = [verdict for verdict in found.verdicts if verdict.outcome is not Outcome.PASS]
    assert failed.measure == "expected_singletons"
    assert failed.outcome is Outcome.FAIL
    assert failed.shown is not None
    assert float(failed.shown.low) == pytest.approx(169 / 120, rel=1e-8)
