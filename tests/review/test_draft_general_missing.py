"""Drafts quote what a codebook says of the missing codes of all columns."""

from pathlib import Path

import pytest

from crowdgate.review.templates.general_missing import general_missing
from tests.review.drafted_items import drafted_text

STATED = "In the csv the codes -7 -8 -9 are used in ALL columns where not noted"
GERMAN = 'Soweit nicht anders angegeben bedeutet -1 "keine Angabe" und -2 "trifft nicht zu"'


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        (f"A survey.\n\n  {STATED}.\n***\n", STATED),
        (f"Hinweise: Eine Zeile je Person. {GERMAN.replace(' bedeutet', chr(10) + 'bedeutet')}.\n", GERMAN),
        ("Unless stated otherwise, 99 is unknown; 1 is yes.", "Unless stated otherwise, 99 is unknown;"),
        ("All variables were checked in 1999.", ""),
        ("BEGIN DATA\n1 -9 in all columns, said MARK\nEND DATA.\n", ""),
        ("The code -1 is used in sex.", ""),
    ],
)
def test_a_sentence_on_the_missing_codes_of_all_variables(text: str, quoted: str) -> None:
    assert general_missing(text) == quoted


def test_a_draft_quotes_it_once(tmp_path: Path) -> None:
    book = f'/***\n  {STATED}.\n***/\nlabel variable a "Sex"\nlabel define s 1 "Male" 2 "Female"\nlabel values a s\n'
    text = drafted_text(tmp_path, "a", book, ".do")
    assert text.count(STATED) == 1
    assert f'of missing codes it says: "{STATED}"' in text
    assert f"{STATED}" not in drafted_text(tmp_path, "a", book.replace("-7 -8 -9", "below"), ".do")
