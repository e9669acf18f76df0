"""`crowdgate contract show`: every group of every level, before anything is charged."""

import json
from pathlib import Path

import pytest

from crowdgate.contracts.reading import read_contract
from crowdgate.hierarchy import INVALID_LABEL
from crowdgate.planning.bundle import KNOWN
from crowdgate.review.contract_levels import SCREEN
from tests.contracts.clinic import CONTRACT, write
from tests.workshop import crowdgate

BUNDLED = Path(__file__).parents[2] / "data_contracts" / "census_income.yaml"


def test_a_contract_is_shown_level_by_level(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("contract", "show", write(tmp_path, CONTRACT), "--all") == 0
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


def test_a_stock_classification_fits_a_screen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start, end = "          - {property: domain, value: {values: [heart", "      - name: note"
    ward = CONTRACT[CONTRACT.index(start) : CONTRACT.index(end)]
    text = CONTRACT.replace(ward, "          - {property: classification, value: icd-10}\n")
    assert crowdgate("contract", "show", write(tmp_path, text), "--column", "ward") == 0
    shown = capsys.readouterr().out
    assert "block: 225 groups" in shown
    assert len(shown.splitlines()) <= SCREEN


def test_a_wrong_contract_is_no_listing(tmp_path: Path) -> None:
    assert crowdgate("contract", "show", write(tmp_path, CONTRACT.replace("width: 10", "width: 7"))) == 2


def test_a_column_fits_a_screen_and_tells_what_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    years = ", ".join(f"{{name: {2**i} days, width: {2**i}}}" for i in range(1, 9))
    wide = CONTRACT.replace("{from: -10, to: 20, step: 5,", "{from: 0, to: 1000,").replace(
        "- {name: 10 years, width: 10}\n              - {name: sign,",
        f"- {years.replace('}, {', '}' + chr(10) + ' ' * 14 + '- {')}\n              - {{name: sign,",
    )
    text = "".join(
        line for line in wide.splitlines(keepends=True) if "name: sign" not in line and "age.csv" not in line
    )
    path = write(tmp_path, text)
    assert crowdgate("contract", "show", path, "--column", "age") == 0
    shown = capsys.readouterr().out.splitlines()[1:]
    assert len(shown) <= SCREEN + 12
    assert "    and 499 more groups (--all shows them)" in shown
    assert crowdgate("contract", "show", path, "--column", "age", "--all") == 0
    assert len(capsys.readouterr().out.splitlines()) > 900


def test_the_bundled_contract_is_shown_with_a_screen_for_each_column(capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("contract", "show", BUNDLED) == 0
    columns = capsys.readouterr().out.split(": a cell outside its domain ")
    assert max(column.count("\n") for column in columns) <= SCREEN + 2


def test_an_unknown_column_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("contract", "show", write(tmp_path), "--column", "aeg") == 2
    assert "write 'age'" in capsys.readouterr().err
