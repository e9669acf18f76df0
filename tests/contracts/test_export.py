"""`crowdgate contract export --gx`: a contract as a suite that Great Expectations runs on the table."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from crowdgate.contracts.reading import read_contract
from crowdgate.planning.bundle import KNOWN
from crowdgate.review.expectation_suite import expectation_suite
from crowdgate.sources.expectations import import_engine
from tests.contracts.clinic import CONTRACT, write
from tests.workshop import crowdgate

GOOD: dict[str, list[Any]] = {
    "patient": [f"p{at}" for at in range(10)],
    "age": [0, 5, 10, 0, 5, 10, 5, 5, 5, 5],
    "dose": [0.0, 1.05] * 5,
    "day": ["2024-02-01"] * 10,
    "ward": ["heart", "lung"] * 5,
    "town": ["Bonn"] * 10,
    "note": ["x"] * 10,
}
"""A table that meets the clinic's contract."""


def suite_of(folder: Path) -> dict[str, Any]:
    return expectation_suite(read_contract(write(folder, CONTRACT), KNOWN.servers))[0]


def failing(suite: dict[str, Any], table: dict[str, list[Any]]) -> set[str]:
    """Return the rules that fail on a table, by Great Expectations."""
    gx: Any = import_engine()
    asset = gx.get_context(mode="ephemeral").data_sources.add_pandas("memory").add_dataframe_asset("frame")
    batch = asset.add_batch_definition_whole_dataframe("whole").get_batch({"dataframe": pd.DataFrame(table)})
    results = batch.validate(gx.ExpectationSuite(**json.loads(json.dumps(suite)))).results
    return {each.expectation_config.meta["rule"] for each in results if not each.success}


def test_the_command_prints_the_suite_and_names_what_it_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, CONTRACT)
    assert crowdgate("contract", "export", path, "--gx") == 0
    said = capsys.readouterr()
    assert json.loads(said.out) == suite_of(tmp_path)
    assert said.err == "not in the suite: share (a share of invalid cells)\n"
    assert crowdgate("contract", "export", path, "--gx", "--to", tmp_path / "suite.json") == 0
    assert json.loads((tmp_path / "suite.json").read_text("utf-8")) == suite_of(tmp_path)
    assert crowdgate("contract", "export", path) == 2


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("column", "cells", "broken"),
    [
        ("patient", ["p"] * 10, {"duplicate_share of patient"}),
        ("age", [20] * 10, {"mean"}),
        ("ward", ["heart"] * 9 + ["x"], {"ward in its domain", "known", "lower"}),
        ("ward", ["unknown"] * 10, {"known"}),
        ("ward", ["NO"] * 10, {"lower"}),
    ],
)
def test_great_expectations_finds_what_breaks_the_contract(
    tmp_path: Path, column: str, cells: list[Any], broken: set[str]
) -> None:
    suite = suite_of(tmp_path)
    assert failing(suite, GOOD) == set()
    assert failing(suite, {**GOOD, column: cells}) == broken
    assert failing(suite, {key: cells[:5] for key, cells in GOOD.items()}) == {"rows"}
    assert column in failing(suite, {key: cells for key, cells in GOOD.items() if key != column})
