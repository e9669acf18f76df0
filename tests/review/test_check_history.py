"""`check` reads the manifests of the last releases only, however many there are."""

import shutil
from pathlib import Path

import pytest

from crowdgate.history import past_runs
from crowdgate.review.check import check
from tests.benchmarks.history import copy_with_releases
from tests.benchmarks.people import write_people

MOST_RUNS = 12


@pytest.mark.thorough
def test_check_says_the_same_without_older_releases_and_without_any_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(past_runs, "MOST_RUNS", MOST_RUNS)
    data = tmp_path / "people.parquet"
    write_people(data, 200)
    policy = copy_with_releases(tmp_path / "copy", data, MOST_RUNS + 3)
    before = check(policy, "2031-01-01", header=False).to_json()
    *older, first = sorted((policy.parents[1] / "releases" / "people" / "1").iterdir(), reverse=True)[MOST_RUNS - 1 :][
        ::-1
    ]
    for folder in older:
        shutil.rmtree(folder)
    for path in (policy.parents[1] / "releases").rglob("*"):
        if path.is_file() and path.name != "manifest.json":
            path.unlink()
    data.unlink()
    assert check(policy, "2031-01-01", header=False).to_json() == before
    (first / "manifest.json").unlink()
    assert check(policy, "2031-01-01", header=False).to_json() != before
