"""Drafts of numbers with decimals: their type, their mark, and marks between thousands."""

from pathlib import Path
from typing import Any

import pytest

from crowdgate.review.templates.contract_draft import draft_contract
from crowdgate.review.templates.draft_sources import read_draft_source
from tests.review.drafted_items import drafted_items
from tests.sources.table_files import write_workbook

TENTHS = {"from": "30", "to": "220", "step": "1", "precision": "0.1"}


def _domain(tmp_path: Path, rows: str) -> Any:
    text = f"variable,label,type,min,max,values,notes\n{rows}\n"
    return drafted_items(tmp_path, "a,b,x", text)["a"]["domain"]


@pytest.mark.parametrize(
    ("kind", "domain"),
    [
        ("decimaal (1)", TENTHS),
        ("Dezimal (1)", TENTHS),
        ("décimal (1)", TENTHS),
        ("decimale (1)", TENTHS),
        ("Numeric (1dp)", TENTHS),
        ("numeric (1 dec. place)", TENTHS),
        ("Numerisch (1 Nachkommastelle)", TENTHS),
        ("decimal(8)", {"from": "30", "to": "220"}),
        ("numeric(3)", {"from": "30", "to": "220"}),
        ("decimal(3)", "precision: CHANGE"),
    ],
)
def test_types_state_decimals(tmp_path: Path, kind: str, domain: Any) -> None:
    found = _domain(tmp_path, f"a,Length,{kind},30,220,,")
    if isinstance(domain, str):
        assert "CHANGE" in found["precision"]
    else:
        assert {key: found[key] for key in ("from", "to", "step", "precision") if key in found} == domain


@pytest.mark.parametrize(
    ("ends", "low", "high"),
    [
        ("-0.532,1", "-1", "1"),
        ('"-0,532","1"', "-1", "1"),
        ("0.500,1.250", "0.5", "1.25"),
        ("0.5,3.5", "0.5", "3.5"),
    ],
)
@pytest.mark.parametrize("kind", ["decimaal (3)", "numeric (3 decimals)", "integer", ""])
def test_a_mark_behind_a_zero_is_one_of_decimals(tmp_path: Path, ends: str, low: str, high: str, kind: str) -> None:
    found = _domain(tmp_path, f"a,Index,{kind},{ends},,")
    assert (found["from"], found["to"]) == (low, high)
    assert "precision" in found


@pytest.mark.parametrize("ends", ["0,1.250", "1.125,2.250", '"0","1,250"'])
def test_a_mark_that_can_be_one_of_thousands_is_left_to_decide(tmp_path: Path, ends: str) -> None:
    assert "CHANGE" in _domain(tmp_path, f"a,Index,numeric,{ends},,")


@pytest.mark.parametrize(
    ("other", "high"),
    [
        ("b,Weight,numeric,,,0.5-9.5,", "500000"),
        ('b,Weight,numeric,,,"0,5-9,5",', None),
        ("b,Weight,numeric,,,,", None),
    ],
)
def test_a_comma_beside_decimals_with_a_point_stands_between_thousands(
    tmp_path: Path, other: str, high: str | None
) -> None:
    found = _domain(tmp_path, f'a,Income,numeric,,,"0-500,000",\n{other}')
    assert found["to"] == high if high else "0-500,000" in found


@pytest.mark.parametrize(
    ("note", "mark"),
    [
        ("komma als decimaalteken", ","),
        ("le séparateur décimal est la virgule", ","),
        ("virgule comme séparateur décimal", ","),
        ("Dezimalkomma", ","),
        ("decimalna vejica", ","),
        ("age, in decimals", None),
    ],
)
def test_words_state_the_decimal_mark(tmp_path: Path, note: str, mark: str | None) -> None:
    (tmp_path / "t.csv").write_text("a;x\n", encoding="utf-8")
    book = tmp_path / "b.csv"
    book.write_text(f"variable;label;type;values;notes\na;Score;numeric (1 dp);0-20;{note}\n", encoding="utf-8")
    settings = read_draft_source(tmp_path / "t.csv", tmp_path, header_line=True, codebook=book).settings
    assert settings["decimalMark"] == mark if mark else "CHANGE" in settings["decimalMark"]


def test_number_cells_of_workbooks_keep_their_decimals(tmp_path: Path) -> None:
    book = tmp_path / "b.xlsx"
    heads = ["variable", "label", "type", "min", "max"]
    write_workbook(book, {"Variables": [heads, ["a", "Index", "decimaal (3)", -0.532, 1], ["b", "Dose", "", 0.25, 2]]})
    found = {name: each["domain"] for name, each in drafted_items(tmp_path, "a,b", book).items()}
    assert (found["a"]["from"], found["a"]["precision"]) == ("-1", "0.001")
    assert (found["b"]["from"], found["b"]["to"]) == ("0.25", "2")


@pytest.mark.parametrize("span", ["1-5", ""])
@pytest.mark.parametrize("kind", ["Numeric", "integer", ""])
def test_points_of_a_scale_need_no_label_each(tmp_path: Path, span: str, kind: str) -> None:
    text = f'variable,label,type,valid range,values\na,Index,{kind},{span},"1 Worst; 2; 3; 4; 5 Best; 9 Refused"\n'
    found = drafted_items(tmp_path, "a,x", text)["a"]["domain"]
    assert found["values"] == ["1", "2", "3", "4", "5"]
    assert (found["labels"], found["missing"]) == ({"1": "Worst", "5": "Best"}, ["9"])


def test_points_that_do_not_follow_are_left_to_decide(tmp_path: Path) -> None:
    text = 'variable,label,values\na,Index,"1 Worst; 2; 3; 7; 8 Best"\n'
    assert "CHANGE" in drafted_items(tmp_path, "a,x", text)["a"]["domain"]


@pytest.mark.parametrize(
    ("notes", "bounds"),
    [
        ("leto 80 pomeni 80 ali več", {"from": "10", "to": "80", "top": "true"}),
        ("80 = 80 и повече", {"from": "10", "to": "80", "top": "true"}),
        ("10 = 10 ali manj", {"from": "10", "to": "80", "bottom": "true"}),
    ],
)
def test_notes_open_the_ends_of_a_range(tmp_path: Path, notes: str, bounds: Any) -> None:
    assert _domain(tmp_path, f"a,Hours,integer,10,80,,{notes}") == bounds


@pytest.mark.parametrize(
    ("notes", "quoted"), [("zaokroženo na 80", True), ("12 rows above 80", False), ("since 2010", False)]
)
def test_notes_on_an_end_that_are_not_understood_are_quoted(tmp_path: Path, notes: str, quoted: bool) -> None:
    (tmp_path / "t.csv").write_text("a,x\n", encoding="utf-8")
    book = tmp_path / "b.csv"
    book.write_text(f"variable,label,type,values,notes\na,Hours,integer,10-80,{notes}\n", encoding="utf-8")
    text = draft_contract(read_draft_source(tmp_path / "t.csv", tmp_path, header_line=True, codebook=book), "t")
    assert (f'not understood: "{notes}"' in text) is quoted
    assert "12 rows" not in text
