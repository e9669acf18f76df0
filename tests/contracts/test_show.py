"""`crowdgate contract show`: every group of every level, before anything is charged."""

import json
from pathlib import Path

import pytest

from crowdgate.contracts.reading import read_contract
from crowdgate.hierarchy import INVALID_LABEL
from crowdgate.planning.bundle import KNOWN
from tests.contracts.clinic import CONTRACT, write
from tests.workshop import crowdgate

BUNDLED = Path(__file__).parents[2] / "data_contracts" / "census_income.yaml"


def test_a_contract_is_shown_level_by_level(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("contract", "show", write(tmp_path, CONTRACT)) == 0
    shown = capsys.readouterr().out
    for line in (
        "age (quasi-identifier): a cell outside its domain leaves its row out",
        "  exact: 7 values: \u221210 or less to 20+",
        "  10 years: 4 groups",
        "    \u22125 or less: 2 values: \u221210 or less to \u22125",
        "    10 to 15: 2 values",
        "    2024-02: 29 values: 2024-02-01 to 2024-02-29",
        "ward (sensitive): a cell outside its domain leaves its row out",
        "  exact: 4 values: heart, lung, NO, unknown",
        "    chest: 2 values: heart, lung",
        "town (quasi-identifier): a cell outside its domain counts as (invalid)",
    ):
        assert f"{line}\n" in shown
    assert "patient" not in shown.replace("clinic-patients", "")


def test_a_program_gets_every_group_of_every_level(capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("contract", "show", BUNDLED, "--json") == 0
    said, contract = json.loads(capsys.readouterr().out), read_contract(BUNDLED, KNOWN.servers)
    assert [column["name"] for column in said["columns"]] == [
        each.name for each in contract.attributes if each.releasable
    ]
    for column in said["columns"]:
        hierarchy = contract.by_name[column["name"]].hierarchy
        assert hierarchy is not None
        assert [level["name"] for level in column["levels"]] == list(hierarchy.names)
        for level in column["levels"]:
            labels = [label for label in hierarchy.level(level["name"]).labels if label != INVALID_LABEL]
            assert [group["label"] for group in level["groups"]] == labels


def test_a_wrong_contract_is_no_listing(tmp_path: Path) -> None:
    assert crowdgate("contract", "show", write(tmp_path, CONTRACT.replace("width: 10", "width: 7"))) == 2
