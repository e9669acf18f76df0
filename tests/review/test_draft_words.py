"""Ranges, decimals and codes that a codebook states in words, and forms of days that nothing states."""

from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest

from crowdgate.review.templates.contract_draft import draft_contract
from crowdgate.review.templates.draft_sources import read_draft_source
from tests.review.drafted_items import drafted_items

NOTES = [
    ("Range: 3 to 40", ("3", "40")),
    ("De 2 a 50. 99 = No consta", ("2", "50")),
    ("Werte von 1 bis 7", ("1", "7")),
    ("Minimum 5, maximum 25", ("5", "25")),
    ("Valeurs entre 4 et 9", ("4", "9")),
    ("Hours at work (0-90)", ("0", "90")),
]
LEFT = ["Valor máximo: 60", "Top-coded above the 99th percentile", "capped at a secret number", "máx. 40"]
PROJECT = """\
Variable / Field Name,Field Type,Field Label,"Choices, Calculations, OR Slider Labels",Field Note,Text Validation Type,\
Text Validation Min,Text Validation Max,Identifier?
record_id,text,Study number,,,,,,
surname,text,Name of the participant,,,,,,y
mood,slider,Mood,Bad | So-so | Great,,number,,,
temp,text,Temperature,,-7 = probe lost,integer,-7,45,
pulse,text,Pulse,,999 = not done,integer,20,999,
years_in,text,Years in care,,,number,0,80,
dose,text,Dose,,,number_2dp,0,5,
seen,text,Seen on,,,date_dmy,2020-01-01,2021-12-31,
had,checkbox,Has had,"1, Diabetes | 2, A broken leg",,,,,
"""


@pytest.mark.parametrize(("note", "bounds"), NOTES)
def test_notes_state_ranges(tmp_path: Path, note: str, bounds: tuple[str, str]) -> None:
    book = f"variable;description;type;notes\nx;Hours;integer;{note}\n"
    domain = drafted_items(tmp_path, "x", book)["x"]["domain"]
    assert (domain["from"], domain["to"]) == bounds


@pytest.mark.parametrize("note", LEFT)
def test_words_on_one_end_of_a_range_are_left_to_decide(tmp_path: Path, note: str) -> None:
    domain = drafted_items(tmp_path, "x", f"variable;description;type;notes\nx;Age;integer;{note}\n")["x"]["domain"]
    assert domain.startswith("CHANGE (")
    assert domain.endswith(f"says: {note})")


def test_decimals_in_words_state_which_numbers_are_whole(tmp_path: Path) -> None:
    book = "variable;tipo;descripción;notes\nx;N;Horas;De 0 a 80\ny;N;Paga;7 enteros y 2 decimales. De 0 a 900\n"
    found = drafted_items(tmp_path, "x,y", book)
    assert found["x"]["domain"] == {"from": "0", "to": "80"}
    assert found["y"]["domain"] == {"from": "0", "to": "900", "step": "1", "precision": "0.01"}


def test_codes_outside_a_range_are_missing(tmp_path: Path) -> None:
    book = 'variable,label,type,values,min,max\nx,Heat,integer,"-9 = lost; -8 = broken",34,43\n'
    assert drafted_items(tmp_path, "x", book)["x"]["domain"] == {"from": "34", "to": "43", "missing": ["-9", "-8"]}


@pytest.mark.parametrize(
    ("words", "domain"),
    [
        ("Age in years, top-coded at 95", {"from": "0", "to": "95", "top": "true"}),
        ("Age in years (15-99)", {"from": "15", "to": "99"}),
        ("Age in years", {"from": "0", "to": "90", "top": "true"}),
    ],
)
def test_ages_with_a_stated_end_are_not_those_of_the_stock(tmp_path: Path, words: str, domain: dict[str, str]) -> None:
    assert drafted_items(tmp_path, "w_age", f'variable,label\nw_age,"{words}"\n')["w_age"]["domain"] == domain


def test_ages_with_words_on_an_end_are_left_to_decide(tmp_path: Path) -> None:
    found = drafted_items(tmp_path, "w_age", "variable,label,notes\nw_age,Age,Maximum 80 in wave 2\n")
    assert found["w_age"]["domain"].endswith("says: Maximum 80 in wave 2)")


def test_footnotes_are_no_variables(tmp_path: Path) -> None:
    book = "variable;label\nx;Hours\n;\n(1) A note on hours;\nother;Days\n"
    (tmp_path / "t.csv").write_text("x\n")
    (tmp_path / "b.csv").write_text(book)
    source = read_draft_source(tmp_path / "t.csv", tmp_path, header_line=True, codebook=tmp_path / "b.csv")
    assert "its variables without a column here: 1;" in source.note


def test_checks_of_redcap_are_no_more_than_they_say(tmp_path: Path) -> None:
    names = "record_id,surname,mood,temp,pulse,years_in,dose,seen,had___1,had___2"
    found = drafted_items(tmp_path, names, PROJECT)
    assert found["mood"]["domain"] == {"from": "0", "to": "100"}
    assert found["temp"]["domain"] == {"from": "0", "to": "45", "missing": ["-7"]}
    assert found["pulse"]["domain"] == {"from": "20", "to": "998", "missing": ["999"]}
    assert found["years_in"]["domain"]["precision"].startswith("CHANGE")
    assert found["dose"]["domain"]["precision"] == "0.01"
    assert found["had___1"] == found["had___2"]
    (tmp_path / "t.csv").write_text(f"{names}\n")
    source = read_draft_source(tmp_path / "t.csv", tmp_path, header_line=True, codebook=tmp_path / "b.csv")
    assert "dayForm" not in source.settings  # exports of REDCap have YYYY-MM-DD
    text = draft_contract(source, "t")
    assert "such as surname" not in text
    assert "COLUMN being a direct-identifier such as record_id" in text


@pytest.mark.parametrize(
    ("header", "book", "form"),
    [
        ("seen,x", "", "CHANGE (YYYY-MM-DD, DD.MM.YYYY"),
        ("born,x", "variable,type,label\nborn,date,Day of birth\nx,integer,Hours\n", "CHANGE (YYYY-MM-DD, DD.MM.YYYY"),
        ("seen,x", "variable,type,label\nseen,date DD/MM/YYYY,Seen\nx,integer,Hours\n", "DD/MM/YYYY"),
        ("seen,x", "variable,type,label\nseen,date YYYY-MM-DD,Seen\nx,integer,Hours\n", None),
        ("age,x", "", None),
    ],
)
def test_the_form_of_days_is_asked_for_unless_it_is_stated(
    tmp_path: Path, header: str, book: str, form: str | None
) -> None:
    (tmp_path / "t.csv").write_text(f"{header.replace('seen', 'visit_date')}\n")
    (tmp_path / "b.csv").write_text(book.replace("seen", "visit_date"))
    named: dict[str, Any] = {"codebook": tmp_path / "b.csv"} if book else {}
    found = read_draft_source(tmp_path / "t.csv", tmp_path, header_line=True, **named).settings.get("dayForm")
    assert found == form if form is None else str(found).startswith(form)


def test_labels_of_a_statistical_file_state_ranges_and_codes(tmp_path: Path) -> None:
    path = tmp_path / "b.dta"
    codes: dict[Any, str] = {-6: "Refusal", -5: "Not asked"}
    cells = pd.DataFrame({"home": [1, 2], "hours": [1.0, 2.0], "age": [3, 4]})
    labels: dict[str, Any] = {"home": {1: "Own", 2: "Rent", **codes}, "hours": codes}
    words: list[str | None] = ["Home", "Hours at work (0-90)", "Age in years, top-coded at 80"]
    pyreadstat.write_dta(cells, path, variable_value_labels=labels, column_labels=words)
    found = drafted_items(tmp_path, "home,hours,age", path)
    home = {"values": ["1", "2"], "labels": {"1": "Own", "2": "Rent"}, "missing": ["-6", "-5"]}
    assert found["home"]["domain"] == home
    hours = {"from": "0", "to": "90", "step": "1", "precision": "1", "missing": ["-6", "-5"]}
    assert found["hours"]["domain"] == hours
    assert found["age"]["domain"] == {"from": "0", "to": "80", "top": "true"}
