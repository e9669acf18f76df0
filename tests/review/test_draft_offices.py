"""Drafts from codebooks as offices write them: ranges behind words, lists of codes named in words, headed lines."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from crowdgate.review.templates.contract_draft import draft_contract
from crowdgate.review.templates.draft_sources import read_draft_source
from tests.review.drafted_items import drafted_items
from tests.review.test_draft_dictionaries import write_csv
from tests.sources.table_files import write_workbook

SEXES = {"values": ["1", "2"], "labels": {"1": "Mann", "2": "Kvinne"}}
FIVE = "1 Very good; 2 Good; 3 Fair; 4 Bad; 5 Very bad"
LABELS = {"1": "Very good", "2": "Good", "3": "Fair", "4": "Bad", "5": "Very bad"}


def ranged(low: str, high: str, *missing: str) -> dict[str, Any]:
    return {"from": low, "to": high} | ({"missing": [*missing]} if missing else {})


@pytest.mark.parametrize(
    ("values", "notes", "domain"),
    [
        ("Range 15 to 65 (hours)", "", ranged("15", "65")),
        ("Range: 15 - 65", "", ranged("15", "65")),
        ("Valid range 0 to 9999 (AUD per week); -1 Not asked", "", ranged("0", "9999", "-1")),
        ("Bereik -500 tot 1500; [-10] Niet bekend", "", ranged("-500", "1500", "-10")),
        ("Bereik -500 tot 1500; [-10] Andere", "", "says: -500 tot 1500; -10 Andere"),
        ("0 to 120 hours; 997 Hours vary; -3 Don't know", "", ranged("0", "120", "-3", "997")),
        ("0 t/m 99 uren; 998 wisselend; 999 weet niet", "", ranged("0", "99", "999", "998")),
        ("101-801 SA4 code; -7 Not able to be determined", "", ranged("101", "801", "-7")),
        ("lubatud vahemik 0–120", "998 = ei tea; 999 = ei vasta", ranged("0", "120", "998", "999")),
        ("0-80", "998 = odmítl(a); 999 = neví", ranged("0", "80", "998", "999")),
        ("0-80", "-1 = unknown, -2 = no income of her own", ranged("0", "80", "-1", "-2")),
        ("0-80", "80 = 80 a viac", ranged("0", "80") | {"top": "true"}),
        ("1-4 grades; 9 = other", "", "says: 1-4"),
        ("0-10 points; 11 = more", "", "says: 0-10"),
        ("1 - 5 kr; 2 - 10 kr", "", {"values": ["1", "2"], "labels": {"1": "5 kr", "2": "10 kr"}}),
        ("", "Edit check: 130-210 cm", ranged("130", "210")),
        ("", "0-27; missing if 2 items are missing", ranged("0", "27")),
        ("", "0 to 365; 999 = still admitted", ranged("0", "365", "999")),
        ("", "Inclusion 18 to 85 at consent", "says: Inclusion 18 to 85 at consent"),
    ],
)  # fmt: skip
def test_a_range_is_read_without_the_words_around_it_or_quoted(
    tmp_path: Path, values: str, notes: str, domain: Any
) -> None:
    text = f'variable,label,type,values,notes\na,Visits,integer,"{values}","{notes}"\nb,Sex,,1=a; 2=b,\n'
    found = drafted_items(tmp_path, "a,b", text)["a"]["domain"]
    assert found == domain or (isinstance(domain, str) and domain in found)


@pytest.mark.parametrize(
    ("values", "kept", "missing"),
    [
        (f"{FIVE}; [-4] Refused; [-5] Multiple response; [-8] No SCQ", LABELS, ["-4", "-5", "-8"]),
        (f"{FIVE}; -7 Proxy-interview", LABELS, ["-7"]),
        ("(1) Very good; (2) Good; (-9) Weigert", {"1": "Very good", "2": "Good"}, ["-9"]),
        ("-1 Worse; 0 Same; 1 Better", {"-1": "Worse", "0": "Same", "1": "Better"}, None),
    ],
)
def test_all_codes_that_stand_for_no_value_are_missing(tmp_path: Path, values: str, kept: object, missing: Any) -> None:
    text = f'variable,label,type,values\na,Visits,numeric,"{values}"\nb,Sex,,1=a; 2=b\n'
    found = drafted_items(tmp_path, "a,b", text)["a"]["domain"]
    assert (found["labels"], found.get("missing")) == (kept, missing)


def test_texts_with_numbers_are_no_values_of_a_number(tmp_path: Path) -> None:
    text = 'variable,label,type,values\na,Income,numeric,"from about 5 on; up to 70 or so"\nb,Sex,,1=a; 2=b\n'
    assert "says: from about 5 on" in drafted_items(tmp_path, "a,b", text)["a"]["domain"]


def test_codes_with_other_labels_are_said_to_count_as_missing(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", ["a", "b"])
    rows = ["a", "Hours", "integer", "0 to 99; 997 Hours vary"], ["b", "Visits", "integer", "0-9; 30 a few"]
    book = write_csv(tmp_path / "b.csv", ["variable", "label", "type", "values"], *rows)
    text = draft_contract(read_draft_source(table, tmp_path, header_line=True, codebook=book), "t")
    assert '"997 = Hours vary (counted as missing)"' in text
    assert "says: 0-9; 30 a few" in text


VARIABLES: list[Sequence[str | None]] = [
    ["Variabel", "Beskrivelse", "Datatype", "Gyldige verdier", "Kodeverk", "Manglende verdi"],
    ["KJONN", "Kjønn", "Kode", None, "3101", None],
    ["RHF", "Regionalt foretak", "Kode", None, "RHF", None],
    ["SIVIL", "Sivilstand", "Kode", None, "CL.SIV", None],
    ["ALDER2", "Liggetid", "Heltall", "0–180", None, "999"],
]
NAMES = ["KJONN", "RHF", "SIVIL", "ALDER2"]
LISTS: list[tuple[str, str, str]] = [
    ("3101", "1", "Mann"), ("3101", "2", "Kvinne"), ("RHF", "1", "Nord"), ("RHF", "2", "Vest"),
    ("SIV", "1", "Gift"), ("SIV", "2", "Enslig"), ("SIV", "9", "Ukjent"),
    ("BOLIG", "1", "Hus"), ("BOLIG", "2", "Hytte"),
]  # fmt: skip


@pytest.mark.parametrize(
    "heads", [["Kodeverk", "Kode", "Betydning"], ["ID", "Order", "NCI Code", "Term", "Decoded Value"]]
)
def test_a_list_named_like_a_variable_hides_no_other(tmp_path: Path, heads: list[str]) -> None:
    wide = len(heads) > len(LISTS[0])
    rows = [[each[0], each[1], f"C{at}", *each[1:]] if wide else [*each] for at, each in enumerate(LISTS)]
    book = tmp_path / "b.xlsx"
    write_workbook(book, {"Variabler": VARIABLES, "Kodeverk": [heads, *rows]})
    found = drafted_items(tmp_path, ",".join(NAMES), book, ".xlsx")
    assert found["KJONN"]["domain"] == SEXES
    assert found["RHF"]["domain"] == {"values": ["1", "2"], "labels": {"1": "Nord", "2": "Vest"}}
    assert found["SIVIL"]["domain"] == {"values": ["1", "2"], "labels": {"1": "Gift", "2": "Enslig"}, "missing": ["9"]}
    assert found["ALDER2"]["domain"] == ranged("0", "180", "999")
    table = write_csv(tmp_path / "t.csv", NAMES)
    note = read_draft_source(table, tmp_path, header_line=True, codebook=book).note
    assert "these code lists belong to no column: 'bolig'" in note
    assert "its variables without a column here: 0" in note


def test_a_list_of_long_values_without_labels_is_read_as_a_whole(tmp_path: Path) -> None:
    races = ["AMERICAN INDIAN OR ALASKA NATIVE", "ASIAN", "WHITE"]
    rows = [["CL.RACES", each, None] for each in (*races, "NOT REPORTED")]
    ages = [
        ["CL.AGES", "<65", "Under 65 years"],
        ["CL.AGES", "65-74", "65 to 74 years"],
        ["CL.AGES", ">=75", "75 years and over"],
    ]
    variables = [["Variable", "Label", "Codelist"], ["RACE", "Race", "RACES"], ["AGEGR", "Age group", "AGES"]]
    book = tmp_path / "b.xlsx"
    write_workbook(book, {"Variables": variables, "Codelists": [["ID", "Term", "Decoded Value"], *rows, *ages]})
    found = drafted_items(tmp_path, "RACE,AGEGR", book, ".xlsx")
    assert found["RACE"]["domain"] == {"values": races, "missing": ["NOT REPORTED"]}
    assert found["AGEGR"]["domain"]["labels"] == {each[1]: each[2] for each in ages}


BELOW = """Číslo;Proměnná;Popis;Typ;Číselník / rozsah;Poznámka
1;KRAJ;Kraj;znakový (5);{kraj};
2;CUKR;Cukrovka;číselný;{ano};
3;DEPR;Deprese;číselný;{ano};
4;VEK;Věk;číselný;15–100;100 = 100 a více let
;;;;;
Číselníky;;;;;
;;;;;
{title};;;;;
CZ010;Praha;;;;
CZ020;Střední Čechy;;;;
;;;;;
ANONE (společný číselník pro CUKR, DEPR);;;;;
1;ano;;;;
2;ne;;;;
8;odmítl(a);;;;
;;;;;
Číselník OKRES;;;;;
1;a;;;;
2;b;;;;
"""


@pytest.mark.parametrize(
    ("kraj", "ano", "title"),
    [
        ("číselník KRAJ", "číselník ANONE", "KRAJ"),
        ("viz KRAJE", "podľa číselníka ANONE", "Číselník KRAJE (NUTS 3)"),
        ("KRAJE", "see list ANONE", "KRAJE: regions"),
    ],
)
def test_lists_below_the_variables_are_those_that_their_rows_name(
    tmp_path: Path, kraj: str, ano: str, title: str
) -> None:
    text = BELOW.format(kraj=kraj, ano=ano, title=title)
    found = drafted_items(tmp_path, "KRAJ;CUKR;DEPR;VEK", text)
    assert found["KRAJ"]["domain"]["labels"] == {"CZ010": "Praha", "CZ020": "Střední Čechy"}
    assert found["CUKR"] == found["DEPR"]  # one definition
    assert found["VEK"]["domain"] == ranged("15", "100") | {"top": "true"}
    note = read_draft_source(tmp_path / "t.csv", tmp_path, header_line=True, codebook=tmp_path / "b.csv").note
    assert "belong to no column: 'číselník okres'" in note
    assert "columns with a code list elsewhere in it: 3" in note


HEADED = """                 GENERAL SURVEY 2022, Report No. 3, Person file

Contents
    Q12Age ....... 4

Sex (@23 1.)
Question 1.1   Is ..... male
or female?
Universe
All persons
Valid values
1 = Mann
2 = Kvinne

                              5
GENERAL SURVEY 2022                          Statistics

Q12Hours (@24 3.)
Question 1.2   What hours?
Universe
Persons who work (Sex = 1)
Valid range
015 - 112
888 = Not applicable
999 = Unspecified

Height (@31 5.1)
Height in cm
Measured by the interviewer.
Valid range
100.0 - 220.0
"""


@pytest.mark.parametrize(("values", "limits"), [("Valid values", "Valid range"), ("Valid codes:", "Allowed range:")])
def test_values_stand_below_headings_alone_in_their_line(tmp_path: Path, values: str, limits: str) -> None:
    text = HEADED.replace("Valid values", values).replace("Valid range", limits)
    found = drafted_items(tmp_path, "Sex,Q12Hours,Height", text, ".txt")
    assert found["Sex"]["domain"] == SEXES
    assert found["Q12Hours"]["domain"] == ranged("15", "112", "888", "999")
    assert found["Height"]["domain"] == ranged("100", "220") | {"step": "1", "precision": "0.1"}


@pytest.mark.parametrize(
    ("heading", "cell", "type_", "precision"),
    [
        ("Significant Digits", "1", "float", "0.1"),
        ("Format", "8.2", "float", "0.01"),
        ("Decimals", "0", "numeric", None),
        ("Remarks", "1 decimal", "numeric", "0.1"),
    ],
)
def test_decimals_are_stated_in_a_column_of_their_own(
    tmp_path: Path, heading: str, cell: str, type_: str, precision: str | None
) -> None:
    text = f"Variable,Label,Data Type,Range,{heading}\na,Height,{type_},10 to 90,{cell}\nb,Count,{type_},0 to 9,\n"
    assert drafted_items(tmp_path, "a,b", text)["a"]["domain"].get("precision") == precision


def test_facts_below_a_heading_that_is_not_used_are_said_to_be_lost(tmp_path: Path) -> None:
    rows = ["a", "0 to 9", "0 to 99 hours"], ["b", "1=x; 2=y", "1=p; 2=q"]
    book = write_csv(tmp_path / "b.csv", ["Variable", "Values", "Old values"], *rows)
    table = write_csv(tmp_path / "t.csv", ["a", "b"])
    note = read_draft_source(table, tmp_path, header_line=True, codebook=book).note
    assert "so lost: values of Old values" in note


def test_notes_with_numbers_are_quoted_but_no_counts_of_cases(tmp_path: Path) -> None:
    rows = "start,Date of start,date,First 11JAN2021\nend,Date of end,date,n = 312 cases\n"
    text = f"Variable,Label,Data Type,Notes\n{rows}"
    found = drafted_items(tmp_path, "start,end", text)
    assert "says: First 11JAN2021" in found["start"]["domain"]
    assert "312" not in str(found["end"])


@pytest.mark.parametrize("title", ["Data items", "Felder", "1"])
def test_the_sheet_that_names_most_columns_is_read_whatever_its_title(tmp_path: Path, title: str) -> None:
    """The title of the sheet of codes alone has a word for codebooks."""
    items = [
        ["Field name", "Description", "Format", "Permitted values"],
        ["age", "Age at admission", "Integer", "18-105"],
        ["sex", "Sex", "Integer", "1 = Male; 2 = Female"],
        ["site", "Hospital", "Text", "see Lookups"],
    ]
    lookups = [["Field", "Code", "Meaning"], ["site", "A", "North"], ["site", "B", "South"]]
    sheets = {"About": [["Register of strokes"]], title: items, "Lookups": lookups}
    write_workbook(tmp_path / "b.xlsx", sheets)
    found = drafted_items(tmp_path, "age,sex,site", tmp_path / "b.xlsx", ".xlsx")
    assert found["age"]["domain"] == ranged("18", "105")
    assert found["sex"]["domain"]["labels"] == {"1": "Male", "2": "Female"}
    assert found["site"]["domain"]["values"] == ["A", "B"]


BLOCKS = """\
STATISTICS OFFICE
Sampling: two-stage; use wt for all estimates.
General missing codes: 7 = Refused, 8 = Don't know
---------------------------------------
wt          Interview weight
            Type: Numeric (9.3)
            Range: 212.418 - 18944.730
---------------------------------------
inc         Income (EUR)
            Type: Numeric (5)
            Range: 0 - 15000
            99997  Refused                    1,870
            99998  Don't know                   902
            Note: rounded to 10
---------------------------------------
help        Registered for help
            Type: Numeric (1)
            0   Not registered                3,011
            1   By phone                      1,021
"""


def test_all_codes_below_a_range_are_missing_and_a_mention_begins_no_block(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text(BLOCKS, encoding="utf-8")
    found = drafted_items(tmp_path, "wt,inc,help", tmp_path / "b.txt", ".txt")
    assert found["inc"]["domain"] == ranged("0", "15000", "99997", "99998")
    assert found["help"]["domain"]["values"] == ["0", "1"]
    assert found["wt"]["privacyRole"] == "other"
    assert "domain" not in found["wt"]
