"""The policies of the table of audits are accepted, and its lines say what is exact and what is not."""

import gzip
from pathlib import Path

import pytest

from crowdgate.audit.inference.findings import InferenceEstimate
from crowdgate.audit.inference.setting import known_attributes, secrets_of
from crowdgate.candidate import Measurement
from crowdgate.releases.working_copy import init
from crowdgate.review.check import check
from tests.benchmarks import inference
from tests.benchmarks.inference_policies import EPSILONS, KNOWN, MECHANISMS, SECRETS, write_policies
from tests.benchmarks.planning import ADULT

HEAD = "age,workclass,education,marital-status,occupation,race,sex,income-per-year\n"
ROWS = "39,State-gov,Bachelors,Never-married,Adm-clerical,White,Male,<=50K\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name in ADULT:
        with gzip.open(tmp_path / name, "wt", encoding="utf-8") as file:
            file.write(HEAD + 150 * ROWS)
    return tmp_path


@pytest.mark.thorough
def test_every_policy_is_accepted_and_asks_what_is_said(data: Path) -> None:
    written = list(write_policies(init(data / "copy", "benchmark"), data, 250, 20))
    assert len(written) == 2 * len(MECHANISMS) * len(EPSILONS)
    for each in (of_one for of_one in written if of_one.epsilon == "0.5"):
        checked = check(each.policy)
        assert checked.allowed, each
        assert {secret.name for secret in secrets_of(checked.plan)} == set(SECRETS)
        assert set(known_attributes(checked.plan.bundle.contract)) == set(KNOWN)
        spec = checked.plan.bundle.policy.spec
        assert spec.audit is not None
        assert spec.audit.units == 250
        assert str(float(checked.plan.guarantee.epsilon)) == str(float(each.epsilon))


def test_without_adult_the_bundled_table_is_left(tmp_path: Path) -> None:
    written = write_policies(init(tmp_path / "copy", "benchmark"), tmp_path, 250, 20)
    assert {each.table for each in written} == {"census-income"}


@pytest.mark.parametrize("found", [None, "pass"])
def test_a_line_has_ends_where_something_is_drawn_and_says_where_a_baseline_is_always_right(found: str | None) -> None:
    some, whole = Measurement(0.75, 0.7, 0.8), Measurement(1.0, 0.9, 1.0)
    each = InferenceEstimate(
        secret="income", group="all targets", coverage=0.1, attack="a", baselines=("b", "c"), predicted=0.05,
        precision=some, base_of_these=Measurement(0.5, 0.4, 0.6), base=whole,
        improvement_of_these=Measurement(0.5, 0.25, 0.6), improvement=None, above=some, p=0.5, proven=0.1, outside=0.74,
    )  # fmt: skip
    cells = dict(enumerate(inference.Line("t", "m", each, found, 3.2).cells()))
    assert len(cells) == len(inference.TITLES)
    ends = "" if found is None else " [0.25, 0.6]"
    assert [cells[at] for at in (3, 5, 8, 10, 11, 12)] == [
        "0.1", "0.05", f"0.500{ends}", "base 1", "0.740", found or "exact"
    ]  # fmt: skip
    assert (cells[6] == "0.750") is (found is None)
