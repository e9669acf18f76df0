"""Workbooks whose sheets of codes write names, headings and empty cells in their own way."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.review.drafted_items import drafted_items
from tests.sources.table_files import write_workbook

VARIABLES = [
    ["Muuttuja", "Selite", "Tyyppi", "Luokitus", "Puuttuva tieto", "Huomautuksia"],
    ["ruoka", "Ateria", "merkki", "RUOKA", "tyhjä = ei syönyt", ""],
    ["koko", "Annos", "numero", "KOKO", "9", ""],
    ["hinta", "Senttiä", "numero", "0–20 000", "ei puutu", "Ylin arvo 20 000 = 20 000 tai enemmän"],
]
FOOD, SIZE = [("K", "Keitto"), ("L", "Leipä")], [("1", "Pieni"), ("2", "Suuri"), ("9", "Muu tai ei tietoa")]
BLOCKS = [[name, *pair] for name, pairs in (("RUOKA", FOOD), ("KOKO", SIZE)) for pair in pairs]
GAPS = [[row[0] if not at or BLOCKS[at - 1][0] != row[0] else None, *row[1:]] for at, row in enumerate(BLOCKS)]


@pytest.mark.parametrize(
    "lists",
    [
        {"Luokat": [["Luokitus", "Koodi", "Nimike"], *BLOCKS]},
        {"Luokat": [["Luokitus", "Koodi", "Nimike"], *GAPS]},
        {"Luokat": [["Code list", "Code", "Label"], *BLOCKS]},
        {"RUOKA": [["Koodi", "Nimike"], *FOOD], "KOKO": [["Koodi", "Nimike"], *SIZE]},
        {"RUOKA": [["Tunnus", "Teksti"], *FOOD], "KOKO": [["Tunnus", "Teksti"], *SIZE]},
    ],
)
def test_lists_have_no_heading_as_a_value(tmp_path: Path, lists: dict[str, Sequence[Sequence[Any]]]) -> None:
    book = tmp_path / "b.xlsx"
    write_workbook(book, {"Muuttujat": VARIABLES, **lists})
    found = {name: each["domain"] for name, each in drafted_items(tmp_path, "ruoka,koko,hinta", book).items()}
    assert found["ruoka"] == {"values": ["K", "L"], "labels": dict(FOOD)}
    assert found["koko"] == {"values": ["1", "2"], "labels": dict(SIZE[:2]), "missing": ["9"]}
    assert (found["hinta"]["to"], found["hinta"]["top"]) == ("20000", "true")
    assert "missing" not in found["hinta"]


def test_a_number_without_a_greatest_value_is_left_to_decide(tmp_path: Path) -> None:
    text = "variable,label,type,values,comments\nchildren,Children,Integer,0+,Values above 7 are reported as 7\n"
    assert "says: 0+" in drafted_items(tmp_path, "children,x", text)["children"]["domain"]
