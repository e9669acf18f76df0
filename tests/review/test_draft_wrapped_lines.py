"""Plain texts whose tables are indented, and whose lines on a variable go on in the next one."""

import textwrap
from pathlib import Path
from typing import Any

import pytest

from crowdgate.review.templates.draft_sources import read_draft_source
from tests.review.drafted_items import drafted_items

GUIDE = """\
Notes on the file

Name     Length  Meaning
------------------------
BAND     1       Height: 1 = 1-120, 2 = 121-150,
                 3 = 151-170, 4 = 171 and taller
MASS     4       Load in kg, with a decimal (85 =
                 8.5 kg); highest value 420
ROAD     1       Road used on the way to the
                 nearest station
                   1  paved
                   2  gravel
"""
LABELS = {"1": "1-120", "2": "121-150", "3": "151-170", "4": "171 and taller"}


@pytest.mark.parametrize("blanks", ["", "   ", "\t"])
def test_lines_that_go_on_are_read_as_one(tmp_path: Path, blanks: str) -> None:
    found = drafted_items(tmp_path, "BAND,MASS,ROAD", textwrap.indent(GUIDE, blanks), ".txt")
    assert found["BAND"]["domain"]["labels"] == LABELS
    assert found["ROAD"]["domain"]["labels"] == {"1": "paved", "2": "gravel"}
    stated: Any = found["MASS"].get("domain", "")
    assert not isinstance(stated, dict)  # neither `8.5 kg)` nor the number alone is a list


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("ROAD  Road on the way,\n   1 = paved\n   2 = gravel\n", "12"),
        ("ROAD  Road, 9 = unknown\n   1 = paved\n   2 = gravel\n", "12"),
        ("ROAD  Road: 1 = paved; 2 = gravel;\n   3 = sand; 4 = none\n", "1234"),
        ("ROAD  Road: 1 = paved, 2 = gravel\n   3 = sand, 4 = none\n", "1234"),
        ("ROAD  Road: 1 = paved,\n            2 = gravel,\n            3 = sand\n", "123"),
        ("ROAD  Road\n   1 = paved or\n       tarred\n   2 = gravel\n", "12"),
        ("ROAD  Road (as in the\n   plan)\n   1 = paved\n   2 = gravel\n", "12"),
    ],
)
def test_a_part_of_a_list_is_never_the_whole(tmp_path: Path, text: str, codes: str) -> None:
    assert drafted_items(tmp_path, "ROAD,X", text, ".txt")["ROAD"]["domain"]["values"] == [*codes]


def test_a_bracket_that_is_never_closed_takes_no_codes(tmp_path: Path) -> None:
    text = "ROAD  Road (see part 3\n   1 = paved\n   2 = gravel\n"
    assert drafted_items(tmp_path, "ROAD,X", text, ".txt")["ROAD"]["domain"]["values"] == ["1", "2"]


def test_a_note_says_that_a_text_is_not_read_as_a_table(tmp_path: Path) -> None:
    table, book = tmp_path / "t.csv", tmp_path / "b.txt"
    table.write_text("BAND,MASS,ROAD\n")
    book.write_text(GUIDE)
    assert "not as a table" in read_draft_source(table, tmp_path, header_line=True, codebook=book).note
