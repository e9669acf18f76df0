"""Data dictionaries with a row for each value or range of a variable, with headings or as records without any."""

from pathlib import Path

import pytest

from crowdgate.review.templates.codebook_values import codes_in_words, listed_values
from crowdgate.review.templates.draft_dictionary import read_dictionary
from crowdgate.review.templates.draft_sources import read_draft_source
from crowdgate.review.templates.special_labels import is_special
from crowdgate.review.templates.stated_ranges import ListedValues
from tests.review.drafted_items import drafted_items

HEADED = """\
Column,Caption,Datatype,Minimum,Maximum,Meaning
ward,Ward,char,03,03,North
ward,Ward,char,11,11,South
stay,Nights in hospital,integer,0,0,Same day
stay,Nights in hospital,integer,1,60,Nights (top-coded)
stay,Nights in hospital,integer,98,99,Refused
score,Balance,numeric,-50,-50,Fifty or more below (bottom-coded)
score,Balance,numeric,-49,-1,Below
score,Balance,numeric,0,0,Even
score,Balance,numeric,1,70,Above
lag,Lag,integer,1,5,Days
lag,Lag,integer,50,50,Never
file,File,char,2021AA001,2021AA999,Paper
file,File,char,2021EL001,2021EL999,Electronic
area,Area,char,00200,80100,Areas
"""
RECORDS = """\
NAME,ward,C,2,"Ward",,
VAL,ward,C,2,"bb","bb","N/A (no ward)"
VAL,ward,C,2,"03","03","North"
VAL,ward,C,2,"11","11","South"
NAME,stay,N,2,"Nights in hospital",,
VAL,stay,N,2,"0","0","Same day"
VAL,stay,N,2,"1","60","Nights (Top-coded)"
"""
WARD = {"values": ["03", "11"], "labels": {"03": "North", "11": "South"}}


def test_the_rows_of_a_variable_are_its_list_or_its_range(tmp_path: Path) -> None:
    found = drafted_items(tmp_path, "ward,stay,score,lag,file,area", HEADED)
    assert found["ward"]["domain"] == WARD
    assert found["stay"]["domain"] == {"from": "0", "to": "60", "top": "true", "missing": ["98", "99"]}
    score = found["score"]["domain"]
    assert (score["from"], score["to"], score["bottom"]) == ("-50", "70", "true")


@pytest.mark.parametrize(
    ("name", "said"),
    [("lag", "1 to 5 = Days; 50 = Never"), ("area", "00200 to 80100 = Areas"), ("file", "2021AA001 to 2021AA999")],
)
def test_rows_that_are_no_one_list_and_no_one_range_are_left_to_decide(tmp_path: Path, name: str, said: str) -> None:
    domain = drafted_items(tmp_path, "ward,lag,file,area", HEADED)[name]["domain"]
    assert domain.startswith("CHANGE")
    assert said in domain


def test_records_without_headings_are_read(tmp_path: Path) -> None:
    found = drafted_items(tmp_path, "ward,stay", RECORDS)
    assert found["ward"]["domain"] == WARD
    assert found["stay"]["domain"] == {"from": "0", "to": "60", "top": "true"}


@pytest.mark.parametrize(
    "text", ["free text", "Open text", "tekst swobodny", "texto libre", "as said, verbatim", "Freitext"]
)
@pytest.mark.parametrize("heading", ["Description", "Type", "Values", "Notes"])
def test_free_texts_can_name_anybody(tmp_path: Path, heading: str, text: str) -> None:
    cells = {"Variable": "trade", "Type": "", "Description": "Trade", "Values": "n/a", "Notes": ""} | {heading: text}
    found = drafted_items(tmp_path, "trade,x", f"{';'.join(cells)}\n{';'.join(cells.values())}\nx;;X;1=A, 2=B;\n")
    assert found["trade"] == {"privacyRole": "direct-identifier"}


@pytest.mark.parametrize(
    ("note", "role"),
    [("Sensitive", "sensitive"), ("Base 2020. Sensitive data.", "sensitive"), ("Sensitive to light", None),
     ("Not sensitive", None), ("Sensitive: no", None)],
)  # fmt: skip
def test_a_sentence_of_a_note_states_a_role(tmp_path: Path, note: str, role: str | None) -> None:
    book = f'Field,Description,Permitted values,Notes\nmood,Mood,"1 = low, 2 = high",{note}\n'
    assert (drafted_items(tmp_path, "mood", book)["mood"]["privacyRole"] == "sensitive") == (role is not None)


@pytest.mark.parametrize("between", [", ", "; ", "\n"])
@pytest.mark.parametrize("dash", ["-", "–"])
def test_negative_codes_stand_behind_dashes(between: str, dash: str) -> None:
    found = listed_values(
        between.join(
            f"{code} {dash} {word}"
            for code, word in (("1", "well"), ("2", "ill"), ("-7", "refused"), ("-6", "not asked"))
        )
    )
    assert found == ListedValues((("1", "well"), ("2", "ill")), missing=("-7", "-6"))


@pytest.mark.parametrize(
    ("text", "codes"),
    [("-7 refused, -6 not asked", ("-7", "-6")), ("-7 - refused", ("-7",)), ("99 - refused", ("99",)),
     ("99 missing", ()), ("5 refused", ()), ("-7 to 6", ())],
)  # fmt: skip
def test_notes_name_codes_without_signs_of_equality(text: str, codes: tuple[str, ...]) -> None:
    assert codes_in_words(text) == codes


def test_long_codes_have_labels_behind_blanks() -> None:
    assert listed_values("S0200117 Leith\nS0200118 Portobello").values == (
        ("S0200117", "Leith"),
        ("S0200118", "Portobello"),
    )
    assert listed_values("s0200117 Leith\ns0200118 Portobello").unread


SURVEY = """\
RESPNO - Number of respondent

Variable Name: RESPNO
SAS Label: Number of respondent
English Text: Number of respondent.
Target: All persons 2 YEARS - 99 YEARS

LUNG - Lung volume
Variable Name: LUNG
SAS Label: Lung volume (ml)
English Text: Lung volume (ml)
Target: All persons 12 YEARS - 99 YEARS
Code or Value\tValue Description\tCount\tCumulative\tSkip to Item
310 to 6120\tRange of Values\t85\t85\t
.\tMissing\t15\t100\t

SHARE - Share of meals
Variable Name: SHARE
SAS Label: Share of meals
English Text: Share of meals eaten outside.
Code or Value\tValue Description\tCount\tCumulative\tSkip to Item
0 to 2.97\tRange of Values\t74\t74\t
3\tValue greater than or equal to 3.00\t13\t87\t
.\tMissing\t13\t100\t

HOME - Kind of home
Variable Name: HOME
SAS Label: Kind of home
English Text: In what kind of home do you live?
Code or Value\tValue Description\tCount\tCumulative\tSkip to Item
1\tHouse\t10\t10\t
2\tFlat\t86\t96\tQ12
7\tRefused\t0\t96\t
9\tDon't know\t1\t97\t
.\tMissing\t3\t100\t
"""


@pytest.mark.parametrize("heading", ["Code or Value", "Value or Code", "Code/Value", "Response"])
def test_codebooks_of_health_surveys_are_read(tmp_path: Path, heading: str) -> None:
    found = drafted_items(tmp_path, "RESPNO,SHARE,HOME", SURVEY.replace("Code or Value", heading), ".txt")
    share = found["SHARE"]["domain"]
    assert (share["from"], share["to"], share["precision"], share["top"]) == ("0", "3", "0.01", "true")
    assert found["HOME"]["domain"] == {
        "values": ["1", "2"],
        "labels": {"1": "House", "2": "Flat"},
        "missing": ["7", "9"],
    }


def test_a_range_of_the_cells_is_marked_as_extremes(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("RESPNO,LUNG\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text(SURVEY, encoding="utf-8")
    source = read_draft_source(tmp_path / "t.csv", tmp_path, header_line=True, codebook=tmp_path / "b.txt")
    assert [each.is_designed for each in source.columns if each.name == "LUNG"] == [False]


@pytest.mark.parametrize(
    ("values", "note", "bounds", "missing"),
    [
        ("0 - 700, or -4", "-4 = not stated", ("0", "700"), ("-4",)),
        ("0 to 700; 997, 999", "997 = refused; 999 = unknown", ("0", "700"), ("997", "999")),
        ("0 bis 700 oder -4", "-4 keine Angabe", ("0", "700"), ("-4",)),
        ("0 - 700, or -4", "-4 = a debt", None, ()),
        ("YYYY-MM-DD, 2019-05-01 to 2019-07-31", "", ("2019-05-01", "2019-07-31"), ()),
        ("TT.MM.JJJJ, vom 01.05.2019 bis 31.07.2019", "", ("2019-05-01", "2019-07-31"), ()),
        ("MM/DD/YYYY, 01/05/2019 - 31/07/2019", "", None, ()),
        ("any amount up to 700", "", None, ()),
    ],
)
def test_ranges_beside_missing_codes_and_forms_of_days(
    values: str, note: str, bounds: tuple[str, str] | None, missing: tuple[str, ...]
) -> None:
    rows = [["variable", "label", "values", "notes"], ["x", "Debt", values, note]]
    (found,) = read_dictionary(Path("d.csv"), rows, ("x",)).columns
    assert (found.bounds, found.missing) == (bounds, missing)


def test_codes_and_ranges_in_one_column_are_read_like_limits(tmp_path: Path) -> None:
    book = (
        "Variable,Label,Type,Code,Value label\nward,Ward,char,bb,N/A (no ward)\nward,Ward,char,03,North\n"
        "ward,Ward,char,11,South\nstay,Nights,integer,0,Same day\nstay,Nights,integer,1-60,Nights (top-coded)\n"
        "file,File,char,2021AA001-2021AA999,Paper\nfile,File,char,2021EL001-2021EL999,Electronic\n"
    )
    found = drafted_items(tmp_path, "ward,stay,file", book)
    assert found["ward"]["domain"] == WARD
    assert found["stay"]["domain"] == {"from": "0", "to": "60", "top": "true"}
    assert found["file"]["domain"].startswith("CHANGE")


def test_headings_above_records_change_nothing(tmp_path: Path) -> None:
    headed = f"Record,Variable,Type,Length,From,To,Label\n{RECORDS}"
    assert drafted_items(tmp_path, "ward,stay", headed) == drafted_items(tmp_path, "ward,stay", RECORDS)


@pytest.mark.parametrize(("low", "high"), [("low", "high"), ("Value from", "Value to"), ("od", "do")])
def test_descriptions_that_differ_are_labels_of_the_values(tmp_path: Path, low: str, high: str) -> None:
    """Else a code for no value would be a value."""
    book = f"Variable,{low},{high},Description\nmood,1,1,Fine\nmood,2,2,Low\nmood,9,9,Refused\n"
    domain = drafted_items(tmp_path, "mood", book)["mood"]["domain"]
    assert domain == {"values": ["1", "2"], "labels": {"1": "Fine", "2": "Low"}, "missing": ["9"]}


def test_a_dash_before_a_number_is_a_minus() -> None:
    found = listed_values("1 – well, 2 – ill, –7 – refused")
    assert found == ListedValues((("1", "well"), ("2", "ill")), missing=("-7",))
    assert codes_in_words("−7 refused") == ("-7",)


def test_variables_with_the_names_of_records_are_none(tmp_path: Path) -> None:
    book = "variable,label,type,values,notes,source\nname,Town,C,1=A; 2=B,,\nval,Price,N,0-50,,\n"
    found = drafted_items(tmp_path, "name,val", book)
    assert found["name"]["domain"]["values"] == ["1", "2"]


def test_a_negative_code_without_a_label_beside_a_range_is_left_to_decide(tmp_path: Path) -> None:
    domain = drafted_items(tmp_path, "stay", "variable,code\nstay,0-99\nstay,-1\n")["stay"]["domain"]
    assert domain.startswith("CHANGE")
    assert "0 to 99; -1" in domain
    ranged = drafted_items(tmp_path, "stay", "variable,code\nstay,0-99\nstay,100\n")["stay"]["domain"]
    assert (ranged["from"], ranged["to"]) == ("0", "100")


@pytest.mark.parametrize("dots", [" ...\n", "...\n", "\t…\n", " ..\t\t...\n"])
@pytest.mark.parametrize("counts", ["", "\t1,204\t12.5"])
def test_a_list_that_leaves_codes_out_is_left_to_decide(tmp_path: Path, dots: str, counts: str) -> None:
    labels = {"00": "None", "01": "Farm", "94": "Train", "95": "Ship"}
    lines = [f"{code}\t\t{label}{counts}\n" for code, label in labels.items()]
    head = "TRADE\t\tTrade\n"
    domain = drafted_items(tmp_path, "TRADE", "".join([head, *lines[:2], dots, *lines[2:]]), ".txt")["TRADE"]["domain"]
    assert domain.startswith("CHANGE")
    assert all(label in domain for label in labels.values())
    assert "204" not in domain
    assert counts or "; codes between them are left out" in domain
    whole = drafted_items(tmp_path, "TRADE", "".join([head, *lines]), ".txt")["TRADE"]["domain"]
    assert whole == {"values": [*labels], "labels": labels}


@pytest.mark.parametrize("remark", ["full weeks; max. 120", "min 3; full weeks"])
def test_remarks_on_a_range_are_no_values(tmp_path: Path, remark: str) -> None:
    domain = drafted_items(tmp_path, "stay", f"variable,label,values\nstay,Stay,{remark}\n")["stay"]["domain"]
    assert domain.startswith("CHANGE")
    assert remark in domain


@pytest.mark.parametrize("label", ["Blank, missing", "keine Antwort / pas de réponse"])
def test_wordings_of_no_value_may_stand_beside_each_other(label: str) -> None:
    assert is_special(label)
    assert not is_special(label.replace("missing", "other").replace("keine Antwort", "arbeitslos"))
