"""Drafts from programs of Stata, SPSS and SAS beside a table."""

import contextlib
import re
from pathlib import Path

import pytest

from crowdgate.errors import ConfigurationError
from crowdgate.review.templates.contract_draft import draft_contract
from crowdgate.review.templates.draft_column import DraftColumn, DraftSource
from crowdgate.review.templates.draft_sources import read_draft_source
from crowdgate.review.templates.draft_syntax import syntax_codebook
from crowdgate.sources.table_header import CellType
from tests.review.test_draft_dictionaries import write_csv
from tests.workshop import MARK

COLUMNS = ["caseno", "visit", "born", "ill", "agegp", "pain", "steps", "trade", "q1", "q2", "q3", "age"]
STATA = """\
* Clinic panel, 2nd visit
capture log close
label var caseno "Case number"
la var born "Day of first contact"
label variable pain "Pain now (0 to 10)"
label var steps "Steps a day, top-coded at 40000"
note pain: Diaries were lost in two wards.
#delimit ;
lab def lill 0 "No"
    1 "Yes" ;
#delimit cr
label define lill -7 "Refused", add
label define lag 1 "Child" 2 "Adult" 3 "Old" .a "Unclear"
foreach v of varlist q1-q3 {
    label values `v' lq
}
foreach v in q1 q2 {
    replace `v' = . if `v' == 8 | `v' == 9
}
forvalues i = 1/3 { // the trades
    label define ltr `i' "Trade `i'", modify
}
label define lq 1 "Low" 2 "High" 8 "Skipped" 9 "Lost"
label values ill lill
label values agegp lag
label val trade ltr, nofix
mvdecode pain steps, mv(-7 -6/-5)
gen b = date(born, "DMY")
assert inrange(steps, 0, 40000) | missing(steps)
assert inrange(age, 18, 79)
isid caseno visit
"""
SPSS = """\
* Codes, 'draft.
VARIABLE LABELS age 'Age at visit' /ill 'Ill now?' q1 "First"  .
VALUE LABELS ill 0 'No' 1 'Yes' 7 'Refused' /q1 TO q3 1 'Low' 2 'High'
  9 'Lost'.
ADD VALUE LABELS q3 3 'Top'.
MISSING VALUES ill (7) q1 TO q3 (8 THRU 9) / steps (LO THRU -1) pain (-9).
FORMATS pain (F2.0) born (EDATE10) steps (F8.1).
RECODE trade (99=SYSMIS).
"""
SAS = """\
proc format library=work;
  value yesno 0='No' 1='Yes' .R='Refused';
  value pain 0-10='Score' 98,99='Refused';
  value agegp low-17='Child' 18-high='Grown';
run;
data a; set b;
  label ill='Ill now' pain="Pain's score" age='Age';
  format ill q1-q3 yesno. pain pain2. agegp agegp. born ddmmyy10. steps comma8. trade trade.;
  if age in (998, 999) then age = .;
  if steps > 40000 then steps = 40000;
run;
"""


def drafted(
    folder: Path, end: str, text: str, columns: list[str] = COLUMNS
) -> tuple[DraftSource, dict[str, DraftColumn]]:
    """Return a draft's source, and its columns by name, for a table with one row of cells that nothing may read."""
    table = write_csv(folder / "t.csv", columns, [MARK] * len(columns))
    book = folder / f"codes{end}"
    book.write_text(text, encoding="utf-8")
    found = read_draft_source(table, folder, header_line=True, codebook=book)
    assert MARK not in draft_contract(found, "t")
    return found, {each.name: each for each in found.columns}


def test_a_do_file_states_labels_codes_ranges_and_missing_values(tmp_path: Path) -> None:
    source, found = drafted(tmp_path, ".do", STATA)
    assert found["caseno"].description == "Case number"
    assert (found["ill"].values, found["ill"].missing) == ((("0", "No"), ("1", "Yes")), ("-7",))
    assert (found["agegp"].values, found["agegp"].missing) == ((("1", "Child"), ("2", "Adult"), ("3", "Old")), (".a",))
    assert (found["pain"].bounds, found["pain"].missing) == (("0", "10"), ("-7", "-6", "-5"))
    assert (found["steps"].bounds, found["steps"].top) == (("0", "40000"), True)
    assert found["trade"].values == (("1", "Trade 1"), ("2", "Trade 2"), ("3", "Trade 3"))
    assert (found["q1"].values, found["q1"].missing) == ((("1", "Low"), ("2", "High")), ("8", "9"))
    assert ([code for code, _ in found["q3"].values], found["q3"].missing) == (["1", "2", "9"], ("8",))
    assert found["age"].bounds == ("18", "79")
    assert found["pain"].remark == "Diaries were lost in two wards"
    assert found["born"].type is CellType.DAY
    assert source.settings["dayForm"].startswith("CHANGE (the form of days in the table: DD.MM.YYYY")
    assert "the key of a row is caseno with visit" in source.note


def test_spss_syntax_states_labels_codes_and_missing_values(tmp_path: Path) -> None:
    _, found = drafted(tmp_path, ".sps", SPSS)
    assert (found["ill"].values, found["ill"].missing) == ((("0", "No"), ("1", "Yes")), ("7",))
    assert found["q2"].values == (("1", "Low"), ("2", "High"))
    assert found["q3"].values == (("1", "Low"), ("2", "High"), ("3", "Top"))
    assert found["q3"].missing == ("8", "9")
    assert found["age"].description == "Age at visit"
    assert (found["pain"].type, found["pain"].missing) == (CellType.WHOLE, ("-9",))
    assert (found["born"].type, found["steps"].decimals) == (CellType.DAY, 1)
    assert "<= -1" in found["steps"].unread
    assert found["trade"].missing == ("99",)


def test_a_program_of_sas_states_formats_with_ranges(tmp_path: Path) -> None:
    source, found = drafted(tmp_path, ".sas", SAS)
    assert found["ill"].values == found["q2"].values == (("0", "No"), ("1", "Yes"))
    assert (found["pain"].bounds, found["pain"].missing) == (("0", "10"), ("98", "99"))
    assert found["pain"].description == "Pain's score"
    assert "low-17" in found["agegp"].unread
    assert not found["agegp"].values
    assert "the list trade, which is not in this file" in found["trade"].unread
    assert "if steps > 40000 then steps = 40000" in found["steps"].unread
    assert (found["age"].missing, found["born"].type) == (("998", "999"), CellType.DAY)
    assert "lines not understood, by number: 4 (" in source.note


def test_a_dictionary_of_stata_states_types_lists_and_labels(tmp_path: Path) -> None:
    text = (
        'infile dictionary using raw.txt {\n  _column(1) int age %2f "Age last birthday (16-64)"\n'
        '  _column(3) byte ill:lill %1f "Ill"\n  str5 trade %5s "Trade"\n}\nlabel define lill 0 "No" 1 "Yes"\n'
    )
    _, found = drafted(tmp_path, ".dct", text)
    assert (found["age"].type, found["age"].bounds) == (CellType.WHOLE, ("16", "64"))
    assert found["ill"].values == (("0", "No"), ("1", "Yes"))
    assert (found["trade"].type, found["trade"].description) == (CellType.TEXT, "Trade")


def test_a_program_of_an_archive_is_read(tmp_path: Path) -> None:
    """Archives write each code with zeros and a statement of its own, and numbers as their own labels."""
    ages = "".join(f'label define l_age {each:03} `"{each or "Below 1"}"\', add\n' for each in range(96))
    text = (
        'quietly infix ///\n  int age 1-3 ///\n double steps 4-9 ///\n using `"x.dat"\'\nreplace steps = steps / 100\n'
        f'{ages}label define l_age 095 `"95 or older"\', modify\nlabel values age l_age\nlabel var ill `"Ill"\'\n'
        'label define l_ill 01 `"Yes"\'\nlabel define l_ill 02 `"No"\', add\nlabel values ill l_ill\n'
    )
    _, found = drafted(tmp_path, ".do", text)
    assert (found["age"].bounds, found["age"].top, found["age"].values) == (("0", "95"), True, ())
    assert found["ill"].values == (("1", "Yes"), ("2", "No"))
    assert (found["steps"].type, found["steps"].description) == (CellType.NUMBER, "")
    assert found["steps"].remark == "line 5: replace steps = steps / 100"


@pytest.mark.parametrize(
    "statement",
    [
        'label define lill `x\' "Perhaps", add',
        "label define lill 2 `lab', modify",
        "label copy other lill, replace",
    ],
)
def test_a_list_that_is_not_understood_as_a_whole_is_left_to_decide(tmp_path: Path, statement: str) -> None:
    """The values that are known would else pass for all."""
    text = f'label define lill 0 "No" 1 "Yes"\n{statement}\nlabel values ill lill\n'
    _, found = drafted(tmp_path, ".do", text)
    assert found["ill"].values == ()
    assert found["ill"].unread.startswith("line 2: label")


@pytest.mark.parametrize(
    "statement",
    [
        "assert age >= 15", "assert age > 15 & age < 95", "replace age = 95 if age > 95", "recode age (95/max = 95)",
        "replace age = . if age < 0", "replace age = . if age == 99 | age >= 95",
        "assert inrange(age, 15, 95) if ill == 1", "notes age: Only those of 15 to 95.",
        'label var age "Age, 15 or older"', "mvdecode age, mv(`codes')", "assert inrange(age, `low', 95)",
    ],
)  # fmt: skip
def test_ages_with_a_stated_range_never_get_the_stock_one(tmp_path: Path, statement: str) -> None:
    source, found = drafted(tmp_path, ".do", statement + "\n")
    assert found["age"].unread
    assert "{from: 0, to: 90" not in draft_contract(source, "t")


def test_a_loop_over_a_macro_is_reported(tmp_path: Path) -> None:
    """Its columns are not known, so that a person must see the line."""
    text = "label var ill 'x'\nlocal all q1 q2\nforeach v of local all {\n  replace `v' = . if `v' == 9\n}\n"
    source, _ = drafted(tmp_path, ".do", text.replace("'x'", '"Ill"'))
    assert "lines not understood, by number: 4" in source.note


def test_conditions_on_several_columns_state_no_range_of_one(tmp_path: Path) -> None:
    text = "assert inrange(steps, 0, 9) | ill == 1\nassert pain >= 0 & ill <= 1\nreplace q1 = . if q2 == 9\n"
    _, found = drafted(tmp_path, ".do", text)
    assert not any(found[name].bounds or found[name].missing for name in ("steps", "pain", "ill", "q1"))
    assert all(found[name].unread for name in ("steps", "pain", "q1"))


@pytest.mark.parametrize(
    ("label", "bounds"),
    [
        ("Mood (0-27)", ("0", "27")), ("Score, range 1 to 5", ("1", "5")), ("Content with work, 0-10", ("0", "10")),
        ("Land, census of (2011-2021)", None), ("Item q1-3", None), ("Two (1-3) parts (2-4)", None),
        ("Form 3-10b", None), ("Children (0-14 years)", None), ("Year of birth (1920-2010)", ("1920", "2010")),
    ],
)  # fmt: skip
def test_a_label_states_a_range_only_in_brackets_or_at_its_end(
    tmp_path: Path, label: str, bounds: tuple[str, str] | None
) -> None:
    _, found = drafted(tmp_path, ".do", f'label variable steps "{label}"\n')
    assert found["steps"].bounds == bounds


@pytest.mark.parametrize("end", [".do", ".dct", ".sps", ".sas"])
def test_a_program_that_says_nothing_of_the_table_is_an_error(tmp_path: Path, end: str) -> None:
    text = "label variable other \"x\"\nVARIABLE LABELS other 'x'.\n"
    with pytest.raises(ConfigurationError, match="no statement on a column of the table"):
        drafted(tmp_path, end, text)


@pytest.mark.parametrize(
    ("text", "end"),
    [(STATA, ".do"), (SPSS, ".sps"), (SAS, ".sas"), ("-- x\nCREATE TABLE t (\n  age int);", ".sql")],
)
def test_a_program_in_a_text_file_is_refused_with_the_ending_to_give_it(tmp_path: Path, text: str, end: str) -> None:
    """Else its lines would be the descriptions of columns."""
    with pytest.raises(ConfigurationError, match=rf"its name with the ending \{end}"):
        drafted(tmp_path, ".txt", text)


def test_other_files_are_refused_with_the_forms_of_codebooks(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no codebook.*\.do, \.dct, \.sps, \.sas.*Save others as"):
        drafted(tmp_path, ".pdf", "x")
    (tmp_path / "a.sql").write_text("CREATE TABLE t (a int);")
    with pytest.raises(ConfigurationError, match=r"--codebook a\.sql"):
        read_draft_source(tmp_path / "a.sql", tmp_path)


LABELLED = 'label define l 1 "Low" 2 "High" 7 "(7) Hid" 8 "[8] ?"\nlabel values q1 l\n'


@pytest.mark.parametrize(
    ("end", "text"),
    [
        (".do", LABELLED + "replace q1 = . if (q1 >= 7)"), (".do", LABELLED + "replace q1 = .a if q1 > 2"),
        (".sps", "VALUE LABELS q1 1 'Low' 2 'High' 7 'Hid' 8 '?'.\nMISSING VALUES q1 (7 THRU HI)."),
        (".sas", "PROC FORMAT; VALUE $ l '1'='Low'; VALUE l 1='(1) Low' 2='High' 7,8='Hid';\n"
         "DATA a; FORMAT q1 l.; IF (q1 >= 7) THEN q1 = .;"),
    ],
)  # fmt: skip
def test_listed_codes_in_an_open_range_of_missing_values_are_no_values(tmp_path: Path, end: str, text: str) -> None:
    _, found = drafted(tmp_path, end, text + "\n")
    assert found["q1"].values == (("1", "Low"), ("2", "High"))
    assert found["q1"].missing == ("7", "8")


def test_a_damaged_program_is_read_or_refused(tmp_path: Path) -> None:
    """No token of a statement can be taken for granted."""
    for end, text in ((".do", STATA), (".dct", STATA), (".sps", SPSS), (".sas", SAS)):
        tokens = re.findall(r"\w+|\s+|[^\w\s]", text)
        for at in range(0, len(tokens), 8):
            (tmp_path / f"x{end}").write_text("".join(tokens[:at] + tokens[at + 1 + at % 4 :]), encoding="utf-8")
            with contextlib.suppress(ConfigurationError):
                syntax_codebook(tmp_path / f"x{end}", COLUMNS)


@pytest.mark.parametrize(
    ("end", "text"),
    [
        (".do", f'replace steps = {MARK} if caseno == 1\nreplace steps = 9 if caseno == "{MARK}" & steps == 1\n'),
        (".do", f'assert steps == 3 if caseno == {MARK}\nlabel variable steps "Steps"\n'),
        (".sas", f"LABEL steps='Steps'; IF caseno = '{MARK}' AND steps = 3 THEN steps = 4;"),
        (".sas", f"LABEL steps='Steps'; IF caseno = '{MARK}' THEN DO; steps = {MARK}; END;"),
    ],
)
def test_corrections_of_single_records_are_not_quoted(tmp_path: Path, end: str, text: str) -> None:
    """`drafted` asserts that a draft holds no MARK."""
    source, _ = drafted(tmp_path, end, text)
    assert "lines not understood, by number: " in source.note


def test_columns_of_a_data_list_have_types_and_open_ranges_are_missing(tmp_path: Path) -> None:
    text = (
        "DATA LIST FILE='x' /\n caseno 1-5 born 6-13 (A) pain 14-15 steps 16-22 (2) q1 q2 23-24\n trade 25-44 (A).\n"
        "VARIABLE LABELS born 'Day of birth (YYYYMMDD)'.\n"
        "VALUE LABELS pain 0 'None' 10 'Ten or more' 98 'DK' /q1 q2 1 'Low' 2 'High' 7 'DK' 8 'Refused'.\n"
        "MISSING VALUES pain (98) / q1 q2 (7 THRU HI) .\n"
    )
    source, found = drafted(tmp_path, ".sps", text)
    assert "not understood" not in source.note
    assert (found["caseno"].type, found["steps"].type, found["steps"].decimals) == (CellType.WHOLE, CellType.NUMBER, 2)
    assert (found["born"].type, found["born"].day_form) == (CellType.DAY, "YYYYMMDD")
    assert (found["pain"].bounds, found["pain"].top, found["pain"].missing) == (("0", "10"), True, ("98",))
    assert [found[each].missing for each in ("q1", "q2")] == [("7", "8")] * 2


def test_a_line_that_is_not_understood_is_named_with_its_command(tmp_path: Path) -> None:
    source, _ = drafted(tmp_path, ".sps", "VALUE LABELS q1 1 'Low' 2.\nFORMATS q2 (COMMA8).\nVARIABLE LABELS q1 'Q'.\n")
    assert "lines not understood, by number: 1 (VALUE LABELS): a list is read if it has codes" in source.note
