"""Drafts from a table and its codebook: data dictionaries as offices write them, sheets, tables of contracts."""

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from crowdgate.contracts.reading import read_contract
from crowdgate.errors import ConfigurationError
from crowdgate.planning.bundle import KNOWN
from crowdgate.review.templates.codebook_values import ListedValues, listed_values
from crowdgate.review.templates.contract_draft import DraftColumn, draft_contract
from crowdgate.review.templates.draft_dictionary import dictionary_columns
from crowdgate.review.templates.draft_sources import read_draft_source
from crowdgate.sources.table_header import CellType
from tests.review.test_contract_draft import decided
from tests.sources.table_files import write_workbook
from tests.workshop import MARK

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
        ("-9=Not ascertained; 01=Yes; 02=No", "-9 Not ascertained 01 Yes 02 No"),
        ("N1,N2,R,1,2", "N1  N2  R  1  2 "),
        ("true/false", "true  false "),
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
        ("0 to 140", ListedValues(bounds=("0", "140"))),
        ("5-92=Responses; -88=I don't know", ListedValues(bounds=("5", "92"), missing=("-88",))),
        ("0-9621.053", ListedValues(bounds=("0", "9622"))),
        ("0 to 140 | 999=unknown", ListedValues(bounds=("0", "140"), missing=("999",))),
        ("0 to 140; 999", ListedValues(bounds=("0", "140"), missing=("999",))),
        ("0-90=Years; 91=91 or older", ListedValues()),
        ("997=DON'T KNOW", ListedValues(missing=("997",))),
        ("997=DON'T KNOW; 998=Refused", ListedValues(missing=("997", "998"))),
        ("997=more than 996", ListedValues()),
        ("free text, at most 50 characters", ListedValues()),
        ("1=a; 1=b", ListedValues()),
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
    found = {each.name: each for each in dictionary_columns(Path("d.csv"), rows, table)}
    assert [*found] == [*table[:-1]]
    assert found["phone"].direct
    assert (found["age_yrs"].type, found["age_yrs"].bounds) == (CellType.WHOLE, ("0", "110"))
    assert found["seen"].type is CellType.DAY
    assert found["race___15"] == DraftColumn("race___15", CellType.TEXT, "Other (Race)", TICKED)
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
    (found,) = dictionary_columns(Path("d.csv"), rows, ("sex", "other"))
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
    assert domains["r_sex"].labels == ("Refused", "Male", "Female")
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
    values = "1=of\x7ff; 2\x80=b"
    book = write_csv(tmp_path / "b.csv", ["name", "label", "values"], ["sex", "Sex\u2028of\x85a\x0cperson\x7f", values])
    source = read_draft_source(table, tmp_path, header_line=True, codebook=book)
    (found,) = YAML().load(draft_contract(source, "t"))["schema"][0]["properties"]
    assert found["description"] == "Sex of a person\x7f"
    assert found["customProperties"][1]["value"]["values"] == ["1", "2\x80"]


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
        ("b.csv", b"variable,label\nsex,\xff", "no table in CSV"),
        ("b.txt", MARK, "no codebook"),
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
