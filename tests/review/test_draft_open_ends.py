"""Drafts of ranges whose greatest number stands for all greater ones, by notes, labels and blocks of text."""

from pathlib import Path

import pytest

from crowdgate.review.templates.open_ends import is_cut_note
from tests.review.drafted_items import drafted_items


@pytest.mark.parametrize(
    ("end", "note", "is_open"),
    [
        ("105", "Ages above 105 set to 105", True),
        ("105", "105 and over", True),
        ("105", "Top-coded at 105", True),
        ("18000", "0 bis 18000 (Werte darueber auf 18000 gesetzt)", True),
        ("18000", "Werte über 18.000 auf 18.000 gesetzt", True),
        ("90", "valeurs supérieures à 90 ramenées à 90", True),
        ("90", "värden över 90 satta till 90", True),
        ("90", "valores superiores a 90 fijados en 90", True),
        ("105", "Ages above 105 set to missing", False),
        ("105", "12 rows above 105 set to 105", False),
        ("105", "105 rows were over the limit", False),
        ("90", "persons from 16 to 90 and over", False),
        ("6", "values above 6 set to 6", False),
    ],
)
def test_notes_say_that_greater_numbers_are_set_to_the_greatest(end: str, note: str, is_open: bool) -> None:
    assert is_cut_note(end, note) is is_open


@pytest.mark.parametrize(
    "notes", ["Ages above 105 set to 105", "105 and over", "values above 105 coded as 105", "top-coded at 105"]
)
def test_notes_beside_a_range_open_its_end(tmp_path: Path, notes: str) -> None:
    book = f"variable,label,type,values,notes\na,Age of partner,integer,16-105,{notes}\n"
    assert drafted_items(tmp_path, "a", book)["a"]["domain"] == {"from": "16", "to": "105", "top": "true"}


BLOCKS = """\
---------------------------------------------
EF1     Alter in Jahren
        16-84
        85   85 Jahre und aelter
---------------------------------------------
EF2     Nettoeinkommen in Euro
        0 bis 18000   (Werte darueber auf 18000 gesetzt)
       -1    keine Angabe
---------------------------------------------
EF3     Haushaltsgroesse (Anzahl Personen)
        1 - 6         6 = 6 und mehr
---------------------------------------------
EF4     Geschlecht
        1    maennlich
        2    weiblich
---------------------------------------------
"""


def test_blocks_of_a_text_open_the_ends_of_their_ranges(tmp_path: Path) -> None:
    found = drafted_items(tmp_path, "EF1,EF2,EF3,EF4", BLOCKS, ".txt")
    ends = [[found[each]["domain"].get(key) for key in ("from", "to", "top")] for each in ("EF1", "EF2", "EF3")]
    assert ends == [["16", "85", "true"], ["0", "18000", "true"], ["1", "6", "true"]]
    assert found["EF2"]["domain"]["missing"] == ["-1"]


def test_a_label_opens_the_range_of_a_condition(tmp_path: Path) -> None:
    text = 'label variable age "Age in years (15-98, 98 = 98 or older)"\nassert inrange(age, 15, 98)\n'
    assert drafted_items(tmp_path, "age", text, ".do")["age"]["domain"] == {"from": "15", "to": "98", "top": "true"}
