"""`crowdgate release` of several policies: each ends by itself, and the exit code is that of the worst end."""

import json
from pathlib import Path

import pytest

from crowdgate.cli import several_releases
from crowdgate.cli.several_releases import release_each
from crowdgate.errors import Crashed, LedgerRefused
from crowdgate.kind.run import Request, Result
from crowdgate.releases.dry_run import DryRun
from tests.workshop import Workshop, crowdgate, make_workshop

SLOT = "2030-01-01"
GATE = "released_rows, at_least: 0"


def variant(workshop: Workshop, name: str, old: str = "", new: str = "") -> Path:
    """Write a policy of another name, with one change."""
    text = workshop.policy.read_text().replace("name: clinic,", f"name: {name},")
    assert old in text
    path = workshop.policy.with_name(f"{name}.yaml")
    path.write_text(text.replace(old, new) if old else text)
    return path


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    workshop = make_workshop(tmp_path_factory.mktemp("several") / "copy")
    workshop.edit(workshop.policy, "epsilon: 2", "epsilon: 1")
    return workshop


@pytest.mark.thorough
def test_each_policy_ends_by_itself_and_the_worst_exit_counts(
    clinic: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    withheld = variant(clinic, "withheld", GATE, "released_rows, at_least: 900")
    wrong = variant(clinic, "wrong", "released_rows", "released_row")
    other = variant(clinic, "other")
    assert crowdgate("release", wrong, withheld, clinic.policy, other, "--as-of", SLOT, "--json") == 2
    said = json.loads(capsys.readouterr().out)
    assert said["exit"] == 2
    assert [(Path(each["policy"]).stem, each["exit"], each["outcome"]) for each in said["releases"]] == [
        ("wrong", 2, "error"), ("withheld", 3, "withheld"), ("clinic", 0, "published"), ("other", 0, "published"),
    ]  # fmt: skip
    assert crowdgate("release", clinic.policy, other, "--as-of", SLOT) == 0
    assert crowdgate("release", clinic.policy, withheld, "--as-of", SLOT) == 3
    assert capsys.readouterr().out.count(f"published clinic/1/{SLOT}") == 2


def test_one_table_for_several_policies_is_refused(clinic: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("release", clinic.policy, clinic.policy, "--input", clinic.data) == 2
    assert "one policy with --input" in capsys.readouterr().err


def test_no_fault_of_one_policy_stops_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    """The reason of a fault may quote anything, and is not printed."""
    faults = [LedgerRefused("spent"), Crashed(), ValueError("MARKED")]
    asked = [Request(Path(f"{number}.yaml"), SLOT) for number in range(len(faults))]

    def run(request: Request) -> Result | DryRun:
        raise faults[asked.index(request)]

    def unused(found: Result | DryRun, as_json: bool) -> None:
        raise AssertionError((found, as_json))

    assert release_each(asked, run, unused, False) == 1
    assert release_each(asked[:1], run, unused, False) == 5
    said = capsys.readouterr()
    assert said.out.count(".yaml:\n") == len(faults) + 1
    assert "ValueError" in said.err
    assert "MARKED" not in said.out + said.err


def test_every_exit_code_has_a_rank() -> None:
    assert sorted(several_releases.BAD_EXITS) == [*range(7)]
