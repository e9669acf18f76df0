"""Drafts from codebooks whose headings are in a language that is not known: their columns are known by their cells."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crowdgate.review.templates.draft_sources import read_draft_source
from tests.review.drafted_items import drafted_items
from tests.sources.table_files import write_workbook

Rows = Sequence[Sequence[Any]]
VARIABLES: Rows = [
    ["Qrx", "Emri", "Zbulim", "Vlx", "Lst"],
    ["1", "gjinia", "Gjinia e personit", None, "L_GJIN"],
    ["2", "rajoni", "Rajoni i personit", None, "L_RAJ"],
    ["3", "mosha", "Mosha e personit", "15-97", None],
    ["4", "pesha", "Pesha e personit", "30–220", "L_MUN"],
    ["5", "gjat", "Gjatesia e personit", "120 do 220", None],
]
LISTS: Rows = [
    ["Lst", "Kdx", "Emx"],
    ["L_GJIN", "1", "mashkull"],
    [None, "2", "femer"],
    ["L_RAJ", "A", "veri"],
    [None, "B", "jug"],
    ["L_MUN", "999", "unknown"],
]


def test_lists_and_ranges_are_known_by_their_cells(tmp_path: Path) -> None:
    book = tmp_path / "b.xlsx"
    write_workbook(book, {"Variables": VARIABLES, "Lists": LISTS})
    found = {
        name: each["domain"] for name, each in drafted_items(tmp_path, "gjinia,rajoni,mosha,pesha,gjat", book).items()
    }
    assert found["gjinia"]["labels"] == {"1": "mashkull", "2": "femer"}
    assert found["rajoni"]["labels"] == {"A": "veri", "B": "jug"}
    assert (found["mosha"]["from"], found["mosha"]["to"]) == ("15", "97")
    assert (found["pesha"]["to"], found["pesha"]["missing"]) == ("220", ["999"])
    assert found["gjat"]["to"] == "220"


def test_positions_and_years_of_surveys_are_no_ranges(tmp_path: Path) -> None:
    text = "variable,label,poz,vit\na,Visits of doctors,1-2,2001-2010\nb,Days in hospital,3-6,2003-2012\n"
    found = drafted_items(tmp_path, "a,b", text)
    assert "'from': '1'" not in str(found)
    assert "2001" not in str(found)


def test_a_codebook_without_values_says_so_first(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n", encoding="utf-8")
    book = tmp_path / "b.csv"
    book.write_text("variable,label,zzz\na,Region of person,x1 y2\nb,Sex of person,x3 y4\n", encoding="utf-8")
    source = read_draft_source(tmp_path / "t.csv", tmp_path, header_line=True, codebook=book)
    assert source.note.startswith("NO VALUE AND NO RANGE")
    book.write_text("variable,label,values\na,Region of person,1=a; 2=b\nb,Sex of person,\n", encoding="utf-8")
    source = read_draft_source(tmp_path / "t.csv", tmp_path, header_line=True, codebook=book)
    assert not source.note.startswith("NO VALUE")
