"""Drafts from a table and its codebook: data dictionaries as offices write them, sheets, tables of contracts."""

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from crowdgate.contracts.reading import read_contract
from crowdgate.errors import ConfigurationError
from crowdgate.planning.bundle import KNOWN
from crowdgate.review.templates.codebook_values import listed_values
from crowdgate.review.templates.contract_draft import draft_contract
from crowdgate.review.templates.draft_column import DraftColumn
from crowdgate.review.templates.draft_dictionary import read_dictionary
from crowdgate.review.templates.draft_sources import read_draft_source
from crowdgate.review.templates.stated_ranges import ListedValues
from crowdgate.sources.table_header import CellType
from tests.review.test_contract_draft import decided
from tests.sources.table_files import write_workbook
from tests.workshop import MARK, crowdgate

TICKED = (("0", "not ticked"), ("1", "ticked"))
REDCAP = (
    "Variable / Field Name", "Form Name", "Field Type", "Field Label", "Choices, Calculations, OR Slider Labels",
    "Text Validation Type OR Show Slider Number", "Text Validation Min", "Text Validation Max", "Identifier?",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1=Male; 2=Female", "1 Male 2 Female"),
        ("1, Yes | 0, No", "1 Yes 0 No"),
        ("1, Yes, often|2,No", "1 Yes, often 2 No"),
        ('"1"=[Male] | "2"=[Female]', "1 Male 2 Female"),
        ("1 = Yes, often, 2 = No", "1 Yes, often 2 No"),
        ("M: Male\nF: Female", "M Male F Female"),
        ("1 - Urban\n2 - Rural", "1 Urban 2 Rural"),
        ("M Male; F Female", "M Male F Female"),
        ("N1,N2,R,1,2", "N1  N2  R  1  2 "),
        ("true/false", "true  false "),
        ("0 = keine | 1 | 2 | 3", "0 keine 1  2  3 "),
        ("1=Mon; 2=Tue; 8=Other", "1 Mon 2 Tue 8 Other"),
        ("18-24; 25-34; 35+", "18-24  25-34  35+ "),
    ],
)
def test_a_list_of_values_is_read_in_the_forms_of_codebooks(text: str, values: str) -> None:
    found = listed_values(text)
    assert " ".join(" ".join(each) for each in found.values) == values.rstrip(" ") + " " * (values[-1] == " ")
    assert found.bounds is None
    assert not found.missing


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 to 140", ListedValues(bounds=("0", "140"), decimals=0)),
        ("0 to 140 | 999=unknown", ListedValues(bounds=("0", "140"), missing=("999",), decimals=0)),
        ("0 to 140; 999", ListedValues(unread="0 to 140; 999")),
        ("dd/mm/yyyy", ListedValues()),
        ("-0=none; 1=other", ListedValues((("-0", "none"), ("1", "other")))),
        (
            "1=Home; 2=Hospital; 3=Other place; 4=Died",
            ListedValues((("1", "Home"), ("2", "Hospital"), ("3", "Other place"), ("4", "Died"))),
        ),
        ("97 = 97 or older; 99 = no answer", ListedValues(unread="97 = 97 or older", missing=("99",))),
        ("5-92=Responses; -88=I don't know", ListedValues(bounds=("5", "92"), missing=("-88",), decimals=0)),
        ("0-9621.053", ListedValues(bounds=("0", "9622"), decimals=3)),
        ("997=DON'T KNOW", ListedValues(missing=("997",))),
        ("Geboortejaar; 1900 = onbekend", ListedValues(missing=("1900",))),
        ("none; 1=home; 2=hospital", ListedValues((("none", ""), ("1", "home"), ("2", "hospital")))),
        ("997=DON'T KNOW; 998=Refused", ListedValues(missing=("997", "998"))),
        ("997=more than 996", ListedValues(unread="997=more than 996")),
        ("free text, at most 50 characters", ListedValues()),
        ("1=a; 1=b", ListedValues(unread="1=a; 1=b")),
        ("0-5, 9 = unknown", ListedValues(bounds=("0", "5"), missing=("9",), decimals=0)),
        ("0-5, 9", ListedValues(unread="0-5, 9")),
        ("0-95; 96=96 or more", ListedValues(bounds=("0", "96"), decimals=0, top=True)),
        ("0-95; 97=97 or more", ListedValues(unread="0-95; 97=97 or more")),
        ("-9=Not ascertained; 01=Yes; 02=No", ListedValues((("01", "Yes"), ("02", "No")), missing=("-9",))),
        ("1=a; 2=b; 9=unknown", ListedValues((("1", "a"), ("2", "b")), missing=("9",))),
        ("1=a; 2=b; 8=Refusal; 9=not applicable", ListedValues((("1", "a"), ("2", "b")), missing=("8", "9"))),
        ("001-099; 998=Refusal", ListedValues(bounds=("1", "99"), missing=("998",), decimals=0)),
        (
            "A=yes, in part; perhaps=never=ever; a list of other things",
            ListedValues(unread="A=yes, in part; perhaps=never=ever; a list of other things"),
        ),
        (
            "0=not at all; 10=completely; 99=unknown",
            ListedValues(unread="0 = not at all; 10 = completely", missing=("99",)),
        ),
        ("0,00 - 500,00", ListedValues(bounds=("0", "500"), decimals=2)),
        ("01.01.2010 - 31.12.2024", ListedValues(bounds=("2010-01-01", "2024-12-31"))),
        ("2010-01-01 to 2024-12-31", ListedValues(bounds=("2010-01-01", "2024-12-31"))),
        ("90 to 10", ListedValues()),
        ("", ListedValues()),
    ],
)
def test_ranges_and_special_codes_are_no_values(text: str, expected: ListedValues) -> None:
    assert listed_values(text) == expected


def test_a_dictionary_of_redcap_describes_boxes_and_validated_texts() -> None:
    rows = [
        list(REDCAP),
        ["record_id", "f", "text", "Record ID"],
        ["phone", "f", "text", "Contact", "", "", "", "", "y"],
        ["age_yrs", "f", "text", "Age", "", "integer", "0", "110", ""],
        ["seen", "f", "text", "Seen on", "", "date_mdy", "1/1/1900", "", ""],
        ["race", "f", "checkbox", "Race", "1, White | 15, Other"],
        ["asthma", "f", "yesno", "Asthma"],
        ["bmi", "f", "calc", "BMI", "[w]/([h]*[h])"],
        ["secret", "f", "text", MARK],
    ]
    table = ("record_id", "phone", "age_yrs", "seen", "race___1", "race___15", "asthma", "bmi", "absent")
    found = {each.name: each for each in read_dictionary(Path("d.csv"), rows, table).columns}
    assert [*found] == [*table[:-1]]
    assert found["phone"].direct
    assert (found["age_yrs"].type, found["age_yrs"].bounds) == (CellType.WHOLE, ("0", "110"))
    assert found["seen"].type is CellType.DAY
    words = "Race; White; Other"  # the boxes of a question have one role
    assert found["race___15"] == DraftColumn("race___15", CellType.TEXT, "Other (Race)", TICKED, role_words=words)
    assert found["asthma"].values == (("0", "No"), ("1", "Yes"))
    assert (found["bmi"].type, found["bmi"].values) == (CellType.NUMBER, ())


@pytest.mark.parametrize(
    "rows",
    [
        [["variable", "label", "code", "code label"], ["sex", "Sex", "1", "Male"], ["", "", "2", "Female"]],
        [["variable", "value", "label"], ["sex", "1", "Male"], ["sex", "2", "Female"]],
        [["Codebook of 2024"], ["Field Name", "Allowed values"], ["sex", "1=Male, 2=Female"]],
    ],
    ids=["further rows without a name", "a row for each value", "a title above the headings"],
)
def test_values_stand_in_one_cell_or_in_rows(rows: Sequence[Sequence[str]]) -> None:
    (found,) = read_dictionary(Path("d.csv"), rows, ("sex", "other")).columns
    assert found.values == (("1", "Male"), ("2", "Female"))


def write_csv(path: Path, *rows: Sequence[str], mark: str = ",") -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=mark).writerows(rows)
    return path


def test_a_header_and_its_codebook_become_a_contract(tmp_path: Path) -> None:
    """Values, labels, ranges and special codes are the codebook's, names and delimiter the table's."""
    table = write_csv(tmp_path / "t.csv", ["HOUSEID", "r_sex", "minutes", "start", "place"], [MARK] * 5)
    book = write_csv(
        tmp_path / "book.csv", ["Name", "Label", "Values"], ["HOUSEID", "Household Identifier", ""],
        ["R_SEX", "Gender", "-7=Refused; 01=Male; 02=Female"],
        ["minutes", "Time to work", "-9=Refused; 0-1200=Minutes"],
        ["start", "Start (HHMM)", "0000-2359=Time"], ["absent", MARK, MARK], mark=";",
    )  # fmt: skip
    source = read_draft_source(table, tmp_path, header_line=True, codebook=book)
    text = draft_contract(source, "t")
    assert MARK not in text
    assert text.count(': "CHANGE (') == 3
    assert "who fixed the values and ranges in the codebook book.csv before the data were seen" in text
    path = tmp_path / "t.yaml"
    head, at, rest = text.partition('description: "CHANGE')
    path.write_text(decided(head + 'description: "a form' + at[:0] + '"\n' + rest.partition("\n")[2]), encoding="utf-8")
    columns = read_contract(path, KNOWN.servers).by_name
    domains = {name: column.domain for name, column in columns.items() if column.domain is not None}
    assert (domains["r_sex"].labels, domains["r_sex"].missing) == (("Male", "Female"), ("-7",))
    assert (len(domains["minutes"].labels), domains["minutes"].missing) == (1201, ("-9",))
    assert len(domains["start"].labels) == 2360
    assert "HOUSEID" not in domains
    assert columns["HOUSEID"].role == "direct-identifier"


def test_a_sheet_of_the_workbook_is_its_codebook(tmp_path: Path) -> None:
    cells = {
        "Persons": [["sex", "radio"], ["M", MARK]],
        "Codebook": [["variable", "codes"], ["sex", "M=Male;F=Female"]],
    }
    source = tmp_path / "t.xlsx"
    write_workbook(source, cells)
    found = read_draft_source(source, tmp_path, header_line=True, part="Persons", codebook=source)
    assert found.columns[0].values == (("M", "Male"), ("F", "Female"))
    with pytest.raises(ConfigurationError, match="--table with one of its sheets: 'Persons', 'Codebook'"):
        read_draft_source(source, tmp_path, header_line=True)
    write_workbook(source, {"a": cells["Codebook"], "b": cells["Codebook"]})
    with pytest.raises(ConfigurationError, match="one sheet whose name has `codebook`"):
        read_draft_source(source, tmp_path, header_line=True, part="a", codebook=source)


def test_a_table_is_no_codebook_of_itself(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", ["name", "label"], ["name", MARK])
    workbook = tmp_path / "t.xlsx"
    write_workbook(workbook, {"a": [["name", "label"], ["name", MARK]]})
    for each in (table, workbook):
        with pytest.raises(ConfigurationError, match="the table itself as its codebook"):
            read_draft_source(each, tmp_path, header_line=True, codebook=each)
    write_workbook(workbook, {"codes": [["name", "label"], ["name", MARK]], "legend": [["name", "label"]]})
    with pytest.raises(ConfigurationError, match="none of the table's columns"):
        read_draft_source(workbook, tmp_path, header_line=True, part="codes", codebook=workbook)


def test_letters_that_yaml_or_lines_can_not_hold_end_no_row(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", ["sex"])
    values = "1=of\x7ff; 2=b\x80"
    book = write_csv(tmp_path / "b.csv", ["name", "label", "values"], ["sex", "Sex\u2028of\x85a\x0cperson\x7f", values])
    source = read_draft_source(table, tmp_path, header_line=True, codebook=book)
    (found,) = YAML().load(draft_contract(source, "t"))["schema"][0]["properties"]
    assert found["description"] == "Sex of a person\x7f"
    assert found["customProperties"][1]["value"]["values"] == ["1", "2"]


ODCS = """\
apiVersion: v3.0.0
kind: DataContract
id: hr
version: 1.0.0
status: active
servers: [{server: db, type: postgres, host: h, port: 5432, database: d, schema: s}]
schema:
  - name: department
    properties: [{name: departmentid, logicalType: number, primaryKey: true}]
  - name: employee
    properties:
      - {name: loginid, logicalType: string}
      - {name: gender, logicalType: string, description: "M = Male, F = Female"}
"""


def test_a_table_of_a_contract_with_several(tmp_path: Path) -> None:
    source = tmp_path / "hr.odcs.yaml"
    source.write_text(ODCS, encoding="utf-8")
    with pytest.raises(ConfigurationError, match="--table with one of department, employee"):
        read_draft_source(source, tmp_path)
    found = read_draft_source(source, tmp_path, part="employee")
    assert [each.values for each in found.columns] == [(), (("M", "Male"), ("F", "Female"))]
    text = draft_contract(found, "staff")
    server = 'server: db, type: postgres, host: h, port: "5432", database: d, schema: s'
    assert f"servers: [{{{server}}}]" in text
    table = write_csv(tmp_path / "staff.csv", ["gender", "loginid"])
    merged = read_draft_source(table, tmp_path, header_line=True, codebook=source)
    assert (merged.path, merged.columns[0].values) == ("staff.csv", (("M", "Male"), ("F", "Female")))


@pytest.mark.parametrize("beside", [True, False])
def test_the_file_that_a_ddi_codebook_names_is_the_table(tmp_path: Path, beside: bool) -> None:
    source = tmp_path / "farm.xml"
    head = "<fileDscr><fileTxt><fileName>farm.csv</fileName></fileTxt></fileDscr>"
    source.write_text(f'<codeBook>{head}<dataDscr><var name="age"/></dataDscr></codeBook>', encoding="utf-8")
    if beside:
        write_csv(tmp_path / "farm.csv", ["age"])
    found = read_draft_source(source, tmp_path)
    assert found.path == "farm.csv" if beside else "the codebook names farm.csv" in found.path


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("b.csv", f"sex,age\n{MARK},1\n", "no headings of a data dictionary"),
        ("b.csv", f"variable,label\n{MARK},{MARK}\n", "none of the table's columns"),
        ("b.csv", b"variable,label\nsex,\0\xff", "a text that is not in UTF-8"),
        ("b.txt", MARK, "no variables of the table"),
        ("b.rtf", MARK, "no codebook"),
        ("b.xlsx", MARK, "not a readable Excel workbook"),
        ("b.yaml", "a: 1\n", "no contract with a table"),
    ],
)
def test_a_codebook_that_says_nothing_of_the_table_is_refused(
    tmp_path: Path, name: str, content: str | bytes, found: str
) -> None:
    table, book = write_csv(tmp_path / "t.csv", ["sex", "age"]), tmp_path / name
    book.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ConfigurationError) as caught:
        read_draft_source(table, tmp_path, header_line=True, codebook=book)
    (problem,) = caught.value.problems
    assert problem.found == found
    assert MARK not in str(caught.value)


APPRENTICES = [
    ["Variable", "Description", "Type", "Code", "Meaning", "Minimum", "Maximum", "Missing", "Unit"],
    ["subsidy", "Training subsidy granted", "yes/no", "J", "yes"],
    ["", "", "", "N", "no"],
    ["school", "Certificate", "code", "0", "none", "", "", "9"],
    ["", "", "", "1", "some"],
    ["", "", "", "9", "not stated"],
    ["born", "Date of birth", "date", "", "", "01.01.1950", "31.12.2010", "1900-01-01"],
    ["fee", "Fee", "Dezimal", "", "", "0,00", "500,00", "-1"],
    ["wage", "Wage", "decimal", "", "", "0", "2500"],
    ["trust", "Trust", "integer", "0", "none", "0", "10"],
    ["", "", "", "10", "full"],
    ["mood", "Mood", "integer", "1", "bad", "1", "5"],
    ["", "", "", "2", "less bad"],
    ["DIST", "Distance", "integer"],
]


def apprentices(**headings: str) -> dict[str, DraftColumn]:
    head = [headings.get(each, each) for each in APPRENTICES[0]]
    names = ("subsidy", "school", "born", "fee", "wage", "trust", "mood", "distance")
    return {each.name: each for each in read_dictionary(Path("d.csv"), [head, *APPRENTICES[1:]], names).columns}


@pytest.mark.parametrize("meaning", ["Meaning", "Label", "Value label", "Bedeutung"])
def test_labels_of_values_are_not_taken_for_those_of_variables(meaning: str) -> None:
    found = apprentices(Meaning=meaning)
    assert (found["subsidy"].values, found["subsidy"].description) == (
        (("J", "yes"), ("N", "no")), "Training subsidy granted",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("least", "greatest"), [("Minimum", "Maximum"), ("From", "To"), ("von", "bis"), ("Min", "Max")]
)
def test_ranges_and_codes_of_missing_values_are_read(least: str, greatest: str) -> None:
    """Days and decimal commas too; a code that means missing is none of the values; labelled ends are no values."""
    found = apprentices(Minimum=least, Maximum=greatest, Missing="NA")
    assert (found["school"].values, found["school"].missing) == ((("0", "none"), ("1", "some")), ("9",))
    assert (found["born"].bounds, found["born"].missing) == (("1950-01-01", "2010-12-31"), ("1900-01-01",))
    assert (found["fee"].bounds, found["fee"].type, found["fee"].decimals) == (("0", "500"), CellType.NUMBER, 2)
    assert (found["trust"].bounds, found["trust"].values) == (("0", "10"), ())
    assert (found["mood"].bounds, found["mood"].values) == (("1", "5"), ())


def test_a_column_of_ranges_is_read() -> None:
    rows = [["Variable", "Label", "Range"], ["satisfaction", "Satisfied", "0,0 - 10,0"]]
    (found,) = read_dictionary(Path("d.csv"), rows, ("satisfaction",)).columns
    assert (found.bounds, found.decimals) == (("0", "10"), 1)


@pytest.mark.parametrize(
    ("least", "greatest", "kind", "precision"),
    [
        ("1.0", "6.0", "decimal", "step: 1, precision: 0.1, "),
        ("0,00", "500,00", "", "step: 1, precision: 0.01, "),
        ("0.00", "99999.99", "", "step: 1, precision: 1, "),
        ("0", "6", "", "step: 1, precision: 1, "),
        ("0", "6", "decimal", 'step: 1, precision: "CHANGE (the step of the numbers in the table'),
        ("0", "6", "integer", "missing: "),
    ],
)
def test_the_precision_is_that_of_the_written_decimals(
    tmp_path: Path, least: str, greatest: str, kind: str, precision: str
) -> None:
    """Without decimals it is left to decide where the type has some; at most a million numbers are described."""
    table = write_csv(tmp_path / "t.csv", ["mark"])
    book = write_csv(
        tmp_path / "b.csv", ["Name", "Type", "Min", "Max", "Missing"], ["mark", kind, least, greatest, "-1"]
    )
    text = draft_contract(read_draft_source(table, tmp_path, header_line=True, codebook=book), "t")
    (line,) = [line for line in text.splitlines() if "property: domain" in line]
    assert line.partition(", to: ")[2].partition(", ")[2].startswith(precision)


def test_labelled_ends_of_a_scale_are_left_to_decide(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", ["trust"])
    book = write_csv(tmp_path / "b.csv", ["Name", "Values"], ["trust", "0=none; 10=full (all)"])
    text = draft_contract(read_draft_source(table, tmp_path, header_line=True, codebook=book), "t")
    assert "; the codebook b.csv, row 2, says: 0 = none; 10 = full [all])" in text
    assert "who fixed" not in text


def test_the_headings_that_are_used_and_ignored_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = write_csv(tmp_path / "t.csv", ["subsidy", "dist", "other"], [MARK] * 3)
    book = write_csv(tmp_path / "book.csv", *APPRENTICES)
    assert crowdgate("contract", "draft", table, "--header-line", "--codebook", book) == 0
    said = capsys.readouterr()
    note = (
        "headings used: Variable, Description, Type, Code, Meaning, Minimum, Maximum, Missing; ignored: Unit;"
        " columns whose values or range it states: 1; its variables without a column here: 6;"
        " columns that it does not describe: 1"
    )
    left_out = "not published, as they have no domain (--domains drafts them): dist, other"
    assert said.err == f"the codebook: {note}\n{left_out}\n"
    assert f"# The codebook: {note}.\n" in said.out
    assert MARK not in said.out


@pytest.mark.parametrize(
    ("encoding", "read", "label"),
    [
        ("latin-1", "cp1252", "männlich"), ("cp1252", "cp1252", "größer – œuvre"), ("cp1252", "cp1252", "não é, ação"),
        ("cp1252", "cp1252", "ærø, få"), ("cp1250", "cp1250", "mężczyzna, cała"),
        ("cp1250", "cp1250", "měření, člověk"),
        ("utf-16", "utf-16", "mężczyzna"), ("utf-8", "", "mężczyzna"),
    ],
)  # fmt: skip
def test_a_dictionary_in_another_encoding_is_read_and_told(
    tmp_path: Path, encoding: str, read: str, label: str
) -> None:
    table = write_csv(tmp_path / "t.csv", ["sex"])
    book = tmp_path / "b.csv"
    book.write_bytes(f"Name;Label;Werte\nsex;{label};1=a, 2=b\n".encode(encoding))
    found = read_draft_source(table, tmp_path, header_line=True, codebook=book)
    assert found.columns[0].description == label
    assert (f"read as {read}, as it is not in UTF-8" in found.note) == bool(read)


def test_a_header_in_another_encoding_is_told_with_the_command_that_mends_it(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_bytes("größe;alter\n".encode("cp1252"))
    with pytest.raises(ConfigurationError, match=r"iconv -f CP1252 -t UTF-8 t\.csv > utf8-t\.csv"):
        read_draft_source(table, tmp_path, header_line=True)


def test_a_file_that_is_absent_and_a_workbook_of_several_sheets_are_told_first(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        read_draft_source(tmp_path / "t.csv", tmp_path)
    write_workbook(tmp_path / "t.xlsx", {"one": [["sex"]], "two": [["age"]]})
    with pytest.raises(
        ConfigurationError, match="several sheets; expected --table with one of its sheets: 'one', 'two'"
    ):
        read_draft_source(tmp_path / "t.xlsx", tmp_path)


CASES = """\
apiVersion: v3.0.2
kind: DataContract
id: hr
version: 1.0.0
status: active
servers: [{server: db, type: postgres, host: h, port: 5432, database: d, schema: s}]
schema:
  - name: cases
    physicalName: cases_v2
    properties:
      - {name: case_id, logicalType: string, primaryKey: true}
      - {name: applicant_no, physicalName: appl, logicalType: string}
      - {name: amount, logicalType: number, logicalTypeOptions: {minimum: 0.5, maximum: 2500, multipleOf: 0.01}}
      - {name: gender, logicalType: string}
      - {name: diag, logicalType: string, description: Diagnosis (ICD-10)}
      - {name: old, logicalType: string, description: Diagnosis (ICD-9)}
      - {name: tags, logicalType: array}
      - {name: visits, logicalType: integer}
"""


def test_a_contract_of_a_database_names_its_table_and_the_person(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "x.odcs.yaml"
    source.write_text(CASES, encoding="utf-8")
    assert crowdgate("contract", "draft", source) == 0
    text = capsys.readouterr().out
    assert "id: cases\n" in text
    assert "  - name: cases\n    physicalName: cases_v2\n" in text
    assert "physicalName: appl" in text
    assert "tags" not in text
    assert "direct-identifier such as applicant_no)" in text
    assert '{from: "0", to: "2500", step: 1, precision: 0.01, ' in text
    assert "classification, value: icd-10" in text
    assert "classification, value: icd-9" in text
    assert "# Columns without a domain are not published. --domains A,B drafts one for A and B" in text


@pytest.mark.parametrize(
    ("names", "hint"),
    [
        (["uuid", "patient_id"], "such as patient_id"),
        (["hhid", "person_id"], "such as person_id"),
        (["case_id", "patient_id"], "such as patient_id"),
        (["hhid"], "COLUMN naming one person; hhid names a row, a case or a household"),
        (["case_id"], "COLUMN naming one person; case_id names a row, a case or a household"),
        (["id"], "such as id"),
        (["sex"], "rows: 1}"),
    ],
)
def test_the_unit_is_a_person_and_no_case_or_household(tmp_path: Path, names: Sequence[str], hint: str) -> None:
    source = read_draft_source(write_csv(tmp_path / "t.csv", names), tmp_path, header_line=True)
    (line,) = [line for line in draft_contract(source, "t").splitlines() if "property: privacyUnit" in line]
    assert line.endswith(f'{hint})"}}')


def test_a_ddi_codebook_with_labelled_ends_and_decimals(tmp_path: Path) -> None:
    """The labels 0 and 10 of a scale are no list of values; a range of decimals is one of numbers, without dcml too."""
    ends = "".join(f"<catgry><catValu>{code}</catValu><labl>{text}</labl></catgry>" for code, text in
                   ((0, "not at all"), (10, "fully"), (99, "Unknown")))  # fmt: skip
    limits = '<valrng><range min="{}" max="{}"/></valrng><varFormat type="numeric"/>'
    source = tmp_path / "c.xml"
    source.write_text(
        f'<codeBook><dataDscr><var name="satisfied">{limits.format(0, 10)}{ends}</var>'
        f'<var name="happy"><varFormat type="numeric"/>{ends}</var>'
        f'<var name="wgt">{limits.format("0.0", "25.0")}</var></dataDscr></codeBook>', encoding="utf-8",
    )  # fmt: skip
    satisfied, happy, weight = read_draft_source(source, tmp_path).columns
    assert (satisfied.values, satisfied.bounds, satisfied.missing) == ((), ("0", "10"), ("99",))
    assert (happy.values, happy.bounds, happy.unread) == ((), None, "0 = not at all; 10 = fully")
    assert (weight.type, weight.bounds, weight.decimals) == (CellType.NUMBER, ("0", "25"), 1)


def test_columns_with_other_missing_codes_share_no_definition(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", ["a", "b"])
    rows = [["a", "1=x; 2=y", "-1"], ["b", "1=x; 2=y", "-2"]]
    book = write_csv(tmp_path / "b.csv", ["Name", "Values", "Missing"], *rows)
    text = draft_contract(read_draft_source(table, tmp_path, header_line=True, codebook=book), "t")
    assert 'missing: ["-1"]' in text
    assert 'missing: ["-2"]' in text


def test_words_about_a_variable_that_stand_once_are_not_those_of_its_first_value() -> None:
    found = apprentices(Meaning="Wording")
    assert (found["subsidy"].values, found["subsidy"].description) == (
        (("J", ""), ("N", "")), "Training subsidy granted",
    )  # fmt: skip


def test_a_key_of_rows_is_no_person(tmp_path: Path) -> None:
    source = tmp_path / "x.odcs.yaml"
    head, tail = (
        CASES.partition("      - {name: case_id")[0],
        "{name: entry_key, logicalType: string, primaryKey: true}\n",
    )
    source.write_text(f"{head}      - {tail}", encoding="utf-8")
    text = draft_contract(read_draft_source(source, tmp_path), "x")
    assert "COLUMN naming one person; entry_key names a row, a case or a household" in text
