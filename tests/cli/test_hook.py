"""The pre-commit hook refuses every change of a file that makes some policy invalid."""

import re
from pathlib import Path

import pytest
import yaml

from tests.review.test_files import town
from tests.workshop import Workshop, crowdgate

__all__ = ["town"]

(HOOK,) = yaml.safe_load((Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
CHANGES = [
    ("policies/clinic.yaml", "beta: 0.5", "beta: 5"),
    ("policies/budgets/clinic.yaml", "unit: row", "unit: person"),
    ("data_contracts/clinic.yaml", "width: 50", "width: 15"),
    ("data_contracts/ward.csv", "north,5", "north,five"),
    ("policies/cases/clinic.yaml", "released_rows", "released_rosw"),
    ("policies/questionnaires/clinic.yaml", "cat: 0.4", "cat: 4"),
    ("data_contracts/other.yaml", "top: true", "tpo: true"),  # that no policy names
    ("policies/budgets/other.yaml", "people: 1000", "people: many"),
]


def run() -> int:
    """Run the pre-commit hook: its entry, without file names."""
    assert not HOOK["pass_filenames"]
    return crowdgate(*HOOK["entry"].split()[1:])


@pytest.mark.thorough
@pytest.mark.parametrize(("file", "old", "new"), CHANGES)
def test_a_change_that_makes_a_policy_or_another_file_wrong_is_refused(
    file: str, old: str, new: str, town: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop = town
    monkeypatch.chdir(workshop.root)
    for path, name in ((workshop.contract, "id: clinic"), (workshop.budget, "name: clinic-patients")):
        text = path.read_text(encoding="utf-8")
        path.with_name("other.yaml").write_text(text.replace(name, f"{name}-2"), encoding="utf-8")
    assert re.search(HOOK["files"], file)
    assert run() == 0
    workshop.edit(workshop.root / file, old, new)
    assert run() == 2


def test_other_files_are_no_reason_to_check() -> None:
    assert not any(re.search(HOOK["files"], file) for file in ("README.md", "docs/policies/x.yaml", "crowdgate.toml"))


def test_a_folder_without_policies_is_refused(tmp_path: Path) -> None:
    assert crowdgate("check", tmp_path) == 2
