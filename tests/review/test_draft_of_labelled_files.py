"""Drafts of contracts from the variables of SPSS and Stata files, and from sheets of workbooks."""

from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest

from crowdgate.contracts.reading import read_contract
from crowdgate.errors import ConfigurationError
from crowdgate.planning.bundle import KNOWN
from crowdgate.review.templates.contract_draft import draft_contract
from crowdgate.review.templates.draft_sources import read_draft_source
from tests.reading import batches
from tests.review.test_contract_draft import decided
from tests.sources.table_files import write_workbook
from tests.workshop import MARK

SEX = {1: "Male", 2: "Female", 9: "Unknown"}
CELLS = pd.DataFrame({"age": [30.0, 40.0, 99.0], "sex": [1.0, 2.0, 9.0], "grp": [MARK, "b", "c"]})


@pytest.mark.parametrize("suffix", ["sav", "dta"])
def test_labels_of_values_become_a_domain(tmp_path: Path, suffix: str) -> None:
    """A code that the file, or its label, calls missing is no value; the cells are read as the contract says."""
    source = tmp_path / f"t.{suffix}"
    labels: dict[str, Any] = {"variable_value_labels": {"sex": SEX}, "column_labels": ["Age in years", "Sex", ""]}
    if suffix == "sav":
        ranges: dict[str, Any] = {"sex": [9], "age": [{"lo": 99, "hi": 999}]}
        pyreadstat.write_sav(CELLS, source, missing_ranges=ranges, variable_measure={"age": "scale"}, **labels)
    else:
        pyreadstat.write_dta(CELLS, source, **labels)
    text = draft_contract(read_draft_source(source, tmp_path), "t", ["age", "sex"])
    assert MARK not in text
    path = tmp_path / "t.yaml"
    path.write_text(decided(text), encoding="utf-8")
    contract = read_contract(path, KNOWN.servers)
    domain = contract.by_name["sex"].domain
    assert domain is not None
    assert domain.labels == ("Male", "Female")
    assert contract.by_name["sex"].description == "Sex"
    (found,) = batches(contract, names=["sex"])
    assert found.columns["sex"].codes.tolist()[:2] == [0, 1]
    assert [name for name, rows in found.invalid.items() if rows.any()] == ["sex"]


def test_an_extended_missing_value_of_stata_is_no_value(tmp_path: Path) -> None:
    labels: dict[str, Any] = {"sex": {1: "Male", 2: "Female", "a": "Refused"}}
    path, missing = tmp_path / "t.dta", {"sex": ["a"]}
    pyreadstat.write_dta(CELLS[["sex"]], path, variable_value_labels=labels, missing_user_values=missing)
    text = draft_contract(read_draft_source(tmp_path / "t.dta", tmp_path), "t")
    assert 'values: ["1", "2"]' in text
    assert "Refused" not in text


def test_a_sheet_becomes_a_draft(tmp_path: Path) -> None:
    source = tmp_path / "t.xlsx"
    write_workbook(source, {"one": [["age", "sex"], [17, MARK]], "two": [["a"], ["b"]]})
    with pytest.raises(ConfigurationError, match="nothing says that line 1 is a header"):
        read_draft_source(source, tmp_path, part="one")
    with pytest.raises(ConfigurationError, match="the workbook has several sheets"):
        read_draft_source(source, tmp_path, header_line=True)
    found = read_draft_source(source, tmp_path, header_line=True, part="one")
    assert [column.name for column in found.columns] == ["age", "sex"]
    text = draft_contract(found, "t")
    assert "format: excel" in text
    assert '{property: sheet, value: "one"}' in text
    assert MARK not in text
    write_workbook(source, {"one": [["17", "x"]]})
    with pytest.raises(ConfigurationError, match="line 1 has a number or a day in column 1"):
        read_draft_source(source, tmp_path, header_line=True)


def test_labels_of_the_ends_of_a_scale_are_no_values(tmp_path: Path) -> None:
    """Answers between them would be outside the domain; codes of no answer are missing."""
    path = tmp_path / "t.sav"
    labels: dict[str, Any] = {"trust": {0: "No trust", 10: "Full trust", 99: "Unknown"}, "sex": SEX}
    pyreadstat.write_sav(pd.DataFrame({"trust": [3.0], "sex": [1.0]}), path, variable_value_labels=labels)
    source = read_draft_source(path, tmp_path)
    trust, sex = source.columns
    assert "; the variables of t.sav says: 0 = No trust; 10 = Full trust)" in draft_contract(source, "t")
    assert (trust.values, trust.missing, trust.unread) == ((), ("99",), "0 = No trust; 10 = Full trust")
    assert ([code for code, _ in sex.values], sex.missing) == (["1", "2"], ("9",))
