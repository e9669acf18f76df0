"""Programs of SAS: how `input` reads variables, and lists with codes that no range and no list of codes can have."""

from pathlib import Path
from typing import Any

import pytest

from crowdgate.review.templates.contract_draft import draft_contract
from crowdgate.review.templates.draft_sources import read_draft_source
from crowdgate.sources.table_header import CellType
from tests.review.drafted_items import drafted_items

PROGRAM = """\
proc format;
  value stayf 0 = 'None' 1-6 = 'Days' 7-90 = 'Weeks' 91 = 'Left for good' 92 = 'Unknown';
  value $tradef ' ' = 'Nothing given' 'A' = 'Farms' 'B' = 'Mines';
  value $groupf 'A' = 'Farms' 'P'-'R' = 'Services' 'T' = 'Homes';
run;
data x;
  input stay trade : $1. grp $ born : date9. score 12-15 q1-q2 5.2;
  label stay = "Nights away, 0-90";
  format stay stayf. trade $tradef. grp $groupf.;
run;
"""


def _program(folder: Path, header: str = "stay,trade,grp,born,score,q1,q2") -> dict[str, Any]:
    return drafted_items(folder, header, PROGRAM, ".sas")


def test_labelled_codes_outside_a_range_are_named(tmp_path: Path) -> None:
    stated = _program(tmp_path)["stay"]["domain"]
    assert "91 = Left for good" in stated
    assert "missing: ['92']" in stated


def test_a_label_of_empty_cells_leaves_the_list_whole(tmp_path: Path) -> None:
    assert _program(tmp_path)["trade"]["domain"]["labels"] == {"A": "Farms", "B": "Mines"}


def test_a_range_of_letters_is_left_to_decide_beside_the_labels(tmp_path: Path) -> None:
    stated = _program(tmp_path)["grp"]["domain"]
    assert "A = Farms; 'P' - 'R' = Services; T = Homes" in stated


@pytest.mark.parametrize("mark", [",", ";"])
def test_a_form_of_days_that_is_none_of_contracts_is_named(tmp_path: Path, mark: str) -> None:
    table, book = tmp_path / "t.csv", tmp_path / "b.sas"
    table.write_text(mark.join(["stay", "grp", "born", "score", "q1", "q2"]) + "\n")
    book.write_text(PROGRAM)
    source = read_draft_source(table, tmp_path, header_line=True, codebook=book)
    assert "reads date9., which is none of them" in source.settings["dayForm"]
    types = {each.name: each.type for each in source.columns}
    assert types["score"] is types["q1"] is types["q2"] is CellType.NUMBER
    assert types["born"] is CellType.DAY
    assert "logicalType: number" in draft_contract(source, "t")
