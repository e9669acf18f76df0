"""The README of tables states whose rows its numbers estimate. Earlier releases verify: see `ledger/test_kept.py`."""

from pathlib import Path

import pytest

from tests.conformance.copies import SLOT, Case, working_copy
from tests.workshop import crowdgate


@pytest.mark.parametrize("rows", [1, 2])
def test_where_rows_of_a_person_are_capped_no_number_is_of_the_whole_table(rows: int, tmp_path: Path) -> None:
    copy = working_copy(Case("dp_tables", "csv", ("csv",), "sqlite"), tmp_path / "w")
    text = copy.contract.read_text()
    assert "{property: privacyUnit, value: row}" in text
    unit = f"{{property: privacyUnit, value: {{person: patient, rows: {rows}}}}}"
    copy.contract.write_text(text.replace("{property: privacyUnit, value: row}", unit))
    copy.budget.write_text(copy.budget.read_text().replace("unit: row", "unit: 'person:patient'"))
    assert crowdgate("release", copy.policy, "--as-of", SLOT) == 0
    readme = (copy.release_dir(SLOT) / "README.md").read_text()
    assert "whole source table" not in readme
    assert "estimates the number over the rows that are described above (Whose rows)" in readme
    assert "one is chosen by secret coins" in readme if rows == 1 else "at most 2 rows" in readme
    assert crowdgate("verify", copy.release_dir(SLOT)) == 0
