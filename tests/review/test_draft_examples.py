"""The examples of data_contracts/README.md: from a draft to a contract that `check` accepts, with few lines edited."""

import gzip
import re
import shutil
from pathlib import Path

import pytest

from crowdgate.releases.working_copy import init
from crowdgate.review.files import lint_files
from tests.benchmarks.options import DATA
from tests.workshop import crowdgate

ROOT = Path(__file__).parents[2]
TABLES = {
    "census_income.parquet": ROOT / "data_contracts" / "census_income.parquet",
    "kdd.parquet": DATA / "census_income_kdd_299285.parquet",
    "adult.csv": DATA / "uci_adult_train_32561.csv.gz",
    "acs.csv": DATA / "nist_acs_national2019.csv.gz",
}
"""The table that each example names."""
EXAMPLES = re.findall(
    r"```sh\n(crowdgate contract draft data_contracts/(\S+) .*)\n```\n```text\n((?:.*\n)*?)```",
    (ROOT / "data_contracts" / "README.md").read_text(encoding="utf-8"),
)
MOST_EDITED = 15


def test_every_table_has_its_example() -> None:
    assert [name for _, name, _ in EXAMPLES] == [*TABLES]


@pytest.mark.parametrize(("command", "name", "edited"), EXAMPLES, ids=[*TABLES])
def test_a_draft_becomes_a_contract_without_a_problem(
    command: str, name: str, edited: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = TABLES[name]
    if not source.exists():
        pytest.skip(f"{source.name} is not part of the repository")
    home = init(tmp_path / "home", "board")
    table, draft = home / "data_contracts" / name, home / "data_contracts" / "draft.yaml"
    if source.suffix == ".gz":
        table.write_bytes(gzip.decompress(source.read_bytes()))
    elif not table.exists():
        shutil.copy(source, table)
    monkeypatch.chdir(home)
    assert crowdgate(*command.split()[1:], "--to", draft) == 0
    left = edited.splitlines()
    assert len(left) <= MOST_EDITED
    lines = [
        line[: line.index("- {")] + left.pop(0) if "value: " in line and "CHANGE" in line else line
        for line in draft.read_text(encoding="utf-8").splitlines()
    ]
    assert not left
    draft.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert not [remark for remark in lint_files([draft])[0].remarks if remark.severity == "error"]
    assert crowdgate("check", draft) == 0
