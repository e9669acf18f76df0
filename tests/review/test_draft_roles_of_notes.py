"""Roles of columns by notes and by words about health, money and identifiers, in several languages."""

from pathlib import Path

import pytest

from tests.review.drafted_items import drafted_items

IDS, SENSITIVE, QUASI = "direct-identifier", "sensitive", "quasi-identifier"


@pytest.mark.parametrize(
    ("label", "notes", "role"),
    [
        ("Code", "uniek per patiënt", IDS),
        ("Code", "unique for each person", IDS),
        ("Kode", "eindeutig je Person", IDS),
        ("Registratienummer patiënt (gepseudonimiseerd)", "", IDS),
        ("Code", "number of unique drugs per patient", QUASI),
        ("Code", "gevoelig: niet combineren met postcode", SENSITIVE),
        ("Code", "sensitive: no", QUASI),
        ("Code", "indirect identificerend: enkel na goedkeuring", QUASI),
        ("Infectie na ingreep", "", SENSITIVE),
        ("Splošno zdravstveno stanje", "", SENSITIVE),
        ("Dolgotrajna bolezen", "", SENSITIVE),
        ("Totaal gefactureerd bedrag", "", SENSITIVE),
        ("Letni neto dohodek", "", SENSITIVE),
        ("AUDIT-PC total", "", SENSITIVE),
        ("Number of days physical health not good", "", SENSITIVE),
        ("EQ-5D-5L index", "", SENSITIVE),
        ("Заболяване", "", SENSITIVE),
        ("Highest grade or year of school completed", "", QUASI),
        ("Tree height", "", QUASI),
    ],
)
def test_words_and_notes_state_roles(tmp_path: Path, label: str, notes: str, role: str) -> None:
    text = f'variable,label,values,notes\nzz,"{label}",,"{notes}"\nb,Sex,1=m; 2=w,\n'
    assert drafted_items(tmp_path, "zz,b", text)["zz"]["privacyRole"] == role
