"""Drafts of contracts: valid but for the items that a person must decide, from public descriptions alone."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.contracts.reading import read_contract
from crowdgate.documents.yaml_text import read_document
from crowdgate.errors import Code, ConfigurationError, FileFault, Problem
from crowdgate.planning.bundle import KNOWN
from crowdgate.review.check import check
from crowdgate.review.table_check import check_table
from crowdgate.review.templates.contract_draft import draft_contract
from crowdgate.review.templates.draft_sources import MOST_DRAFTED, read_draft_source
from crowdgate.sources.arrow_schema import arrow_columns
from crowdgate.sources.table_header import CellType
from tests.examples import examples
from tests.review.test_table_check import EACH
from tests.workshop import MARK, Workshop, crowdgate

SCHEMA = json.loads((Path(__file__).parents[2] / "policies" / "schema" / "data-contract.json").read_text("utf-8"))
CODEBOOK = """<?xml version="1.0"?>
<codeBook xmlns="ddi:codebook:2_5"><dataDscr>
<var name="sex"><labl>Sex</labl><invalrng><item VALUE="7"/><range min="90"/></invalrng>
<catgry><catValu>1</catValu><labl>Male</labl><catStat>77</catStat></catgry>
<catgry><catValu>2</catValu><labl>Female</labl></catgry><catgry missing="Y"><catValu>9</catValu></catgry>
<catgry><catValu>7</catValu></catgry><catgry><catValu>97</catValu></catgry></var>
<var name="q1"><catgry><catValu>0</catValu></catgry><catgry><catValu>1</catValu></catgry></var>
<var name="q2"><catgry><catValu>0</catValu></catgry><catgry><catValu>1</catValu></catgry></var>
<var name="income" dcml="0"><invalrng><range min="-9" max="-1"/></invalrng>
<valrng><range min="0" max="90"/></valrng><varFormat type="numeric"/></var>
<var name="wage" dcml="0"><invalrng><range min="-9" max="-1"/></invalrng><varFormat type="numeric"/></var>
</dataDscr></codeBook>
"""


def drafted(source: Path, **options: tuple[str, ...]) -> str:
    return draft_contract(
        read_draft_source(source, source.parent, options.get("columns"), header_line=True), "t", options.get("domains")
    )


def problems_of(folder: Path, text: str) -> list[Problem]:
    path = folder / "draft.yaml"
    path.write_text(text, encoding="utf-8")
    try:
        read_contract(path, KNOWN.servers)
    except ConfigurationError as error:
        return list(error.problems)
    return []


LEFT = re.compile(r'"CHANGE \((?:each value|in place of|the least).*\)"')
"""The text of a domain that is left to decide."""


def decided(text: str, *domains: str, edits: Sequence[tuple[str, str]] = ()) -> str:
    """Return a draft in which a person has decided; the domains in their order."""
    for domain in domains:
        text = LEFT.sub(lambda _, new=domain: new, text, count=1)  # type: ignore[misc]
    row, people = text.index('"CHANGE (row if'), text.index('"CHANGE (a name')
    text = (
        text[:row]
        + "row}\n"
        + text[text.index("\n", row) + 1 : people]
        + "people}\n"
        + text[text.index("\n", people) + 1 :]
    )
    for left in re.findall(r'"(CHANGE \((?:the table|who fixed|where this range).*?\))"', text):
        text = text.replace(f'"{left}"', "t.csv" if left.startswith("CHANGE (the table") else "the questionnaire")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    return text


NAMES = st.one_of(
    st.sampled_from(
        ["age", "sex", "patient_id", "q1", "q2", "q3", "zip", "income", "no", "on", "name", "ward", "Birth Date"]
    ),
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=6),
)


@pytest.mark.thorough
@settings(max_examples=examples(120))
@given(st.dictionaries(NAMES, st.sampled_from(EACH), min_size=1, max_size=12))
def test_a_draft_is_valid_but_for_what_is_left_to_decide(
    tmp_path_factory: pytest.TempPathFactory, columns: dict[str, tuple[CellType, pa.DataType]]
) -> None:
    """The items are exactly the values that say CHANGE, each at its own line; the standard accepts the draft."""
    folder = tmp_path_factory.mktemp("t")
    source = folder / "t.parquet"
    pq.write_table(pa.schema([(name, kind) for name, (_, kind) in columns.items()]).empty_table(), source)
    if not any(name.strip() and found is not CellType.NESTED for name, (found, _) in columns.items()):
        return
    text = drafted(source)
    problems = problems_of(folder, text)
    assert [problem for problem in problems if problem.code is not Code.UNDECIDED] == []
    assert len(problems) == text.count('"CHANGE (') >= 2
    lines = text.splitlines()
    assert all("CHANGE" in lines[(problem.line or 0) - 1] for problem in problems)
    document = read_document(folder / "draft.yaml")
    names = [each["name"] for each in document.data["schema"][0]["properties"]]
    assert names == [name for name, (found, _) in columns.items() if name.strip() and found is not CellType.NESTED]


def test_a_header_becomes_a_contract_that_check_allows(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    """Nine lines of the draft are edited; the clinic's policy then runs on it."""
    workshop.contract.unlink()
    source = workshop.data
    assert crowdgate("contract", "draft", source, "--to", workshop.contract, "--id", "clinic") == 0
    assert crowdgate("contract", "draft", source, "--to", workshop.contract) == 1
    assert crowdgate("check", workshop.contract) == 2
    said = capsys.readouterr().err
    assert said.count("[CG118]") == 3
    assert MARK not in workshop.contract.read_text(encoding="utf-8") + said
    text = decided(
        workshop.contract.read_text(encoding="utf-8").replace(
            "population, value: people", "population, value: clinic-patients"
        ),
        "{values: [north, south, east], source: clinic handbook}",
        edits=[
            (
                "{name: 5 years, width: 5}, {name: 10 years, width: 10}, {name: 20 years, width: 20}",
                "{name: 50 years, width: 50}",
            )
        ],
    ).replace("value: people}", "value: clinic-patients}")
    workshop.contract.write_text(text, encoding="utf-8")
    workshop.edit(workshop.policy, "    - {measure: expected_singletons, at_most: 4, over: [ward]}\n", "")
    assert check(workshop.policy).allowed


@settings(max_examples=examples(60))
@given(st.dictionaries(NAMES, st.sampled_from(EACH), min_size=1, max_size=12), st.booleans())
def test_the_schema_of_an_arrow_file_gives_names_and_types_of_its_columns(
    tmp_path_factory: pytest.TempPathFactory, columns: dict[str, tuple[CellType, pa.DataType]], as_stream: bool
) -> None:
    """The schema is enough: the file is cut after it."""
    path = tmp_path_factory.mktemp("t") / "t.arrow"
    schema = pa.schema([(name, kind) for name, (_, kind) in columns.items()])
    path.write_bytes((b"" if as_stream else b"ARROW1\0\0") + schema.serialize().to_pybytes())
    assert [(each.name, each.type) for each in arrow_columns(path)] == [
        (name, found) for name, (found, _) in columns.items()
    ]
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(FileFault, match="its schema is missing or damaged"):
        arrow_columns(path)


@pytest.mark.parametrize("write", [pa.ipc.new_file, pa.ipc.new_stream])
def test_a_contract_is_drafted_from_an_arrow_file(tmp_path: Path, write: Any) -> None:
    table = pa.table({"age": [17], "ward": pa.array([MARK]).dictionary_encode()})
    source = tmp_path / "t.feather"
    with write(source, table.schema) as file:
        file.write_table(table)
    text = drafted(source)
    assert MARK not in text
    assert "name: ward, logicalType: string" in text or "name: ward  #" in text
    assert {problem.code for problem in problems_of(tmp_path, text)} == {Code.UNDECIDED}


def test_the_delimiter_is_found_on_the_header_line(tmp_path: Path) -> None:
    source = tmp_path / "visits.csv"
    source.write_bytes(b'\xef\xbb\xbfpatient id;"age; in years";sex\n' + MARK.encode() + b"\xff\n")
    text = drafted(source)
    assert 'format: csv, customProperties: [{property: delimiter, value: ";"}, {property: decimalMark,' in text
    assert [each["name"] for each in _data(tmp_path, text)["schema"][0]["properties"]] == [
        "patient id",
        "age; in years",
        "sex",
    ]
    assert MARK not in text


def _data(folder: Path, text: str) -> dict:  # type: ignore[type-arg]
    path = folder / "draft.yaml"
    path.write_text(text, encoding="utf-8")
    found: dict = read_document(path).data  # type: ignore[type-arg]
    return found


def test_columns_of_one_kind_share_a_definition(tmp_path: Path) -> None:
    """22 columns of 0 and 1 take a line each, and one decision."""
    source = tmp_path / "t.parquet"
    names = [f"item{i}" for i in range(22)]
    pq.write_table(pa.schema([(name, pa.int8()) for name in names]).empty_table(), source)
    text = drafted(source, domains=tuple(names))
    assert len(text.splitlines()) < 40
    text = decided(text, "{from: 0, to: 1, source: questionnaire}")
    assert problems_of(tmp_path, text) == []
    contract = read_contract(tmp_path / "draft.yaml", KNOWN.servers)
    assert {attribute.domain.labels for attribute in contract.attributes if attribute.domain} == {("0", "1")}
    assert all(attribute.releasable for attribute in contract.attributes)
    jsonschema.Draft202012Validator(SCHEMA).validate(read_document(tmp_path / "draft.yaml").typed)


def test_a_codebook_gives_values_and_bounds_and_no_frequency(tmp_path: Path) -> None:
    source = tmp_path / "survey.xml"
    source.write_text(CODEBOOK, encoding="utf-8")
    text = drafted(source, domains=("sex", "q1", "q2", "income"))
    assert "77" not in text
    assert problems_of(tmp_path, decided(text)) == []
    contract = read_contract(tmp_path / "draft.yaml", KNOWN.servers)
    domains = {name: attribute.domain for name, attribute in contract.by_name.items()}
    assert [len(domain.labels) for domain in domains.values() if domain is not None] == [2, 2, 2, 91]
    assert text.count("like, value: yesno}") == 2


def test_a_person_decides_what_a_codebook_may_have_taken_from_the_table(tmp_path: Path) -> None:
    """A statistical package writes the values and extremes that occur into its codebook, and ranges of codes that are
    no values.
    """
    source = tmp_path / "survey.xml"
    source.write_text(CODEBOOK, encoding="utf-8")
    text = drafted(source, domains=("sex", "income", "wage"))
    left = problems_of(tmp_path, text)
    assert {problem.code for problem in left} == {Code.UNDECIDED}
    assert [problem.where for problem in left] == [
        "servers.path", "schema.t", "schema.t.privacyUnit", "schema.t.population", "t.wage.domain",
    ]  # fmt: skip
    assert "a range marked `extremes?` may be that of the cells: replace it, unless it is public" in text
    assert [line.split("name: ")[1].split(" ")[0] for line in text.splitlines() if "; extremes?" in line] == ["income"]
    assert "-9" not in text


def test_a_contract_of_another_tool_is_completed(tmp_path: Path) -> None:
    source = tmp_path / "other.yaml"
    source.write_text(
        """\
apiVersion: v3.1.0
kind: DataContract
id: other
version: 1.0.0
status: active
servers: [{server: x, type: local, path: a.csv, format: csv}]
schema:
  - name: t
    properties:
      - {name: key, logicalType: string, primaryKey: true}
      - {name: age, logicalType: integer, description: Years, logicalTypeOptions: {minimum: 0, maximum: 120}}
      - name: sex
        logicalType: string
        quality: [{metric: invalidValues, arguments: {validValues: [m, f]}, mustBe: 0}]
""",
        encoding="utf-8",
    )
    text = drafted(source)
    assert problems_of(tmp_path, decided(text)) == []
    by_name = read_contract(tmp_path / "draft.yaml", KNOWN.servers).by_name
    assert by_name["key"].role == "direct-identifier"
    assert (by_name["age"].domain, by_name["sex"].domain) != (None, None)
    assert by_name["sex"].domain is not None
    assert by_name["sex"].domain.labels == ("m", "f")


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("t.csv", "17,north,ZZMARKZZ\n18,south,x\n", "line 1 has a number or a day in column 1"),
        ("t.csv", "a,2024-01-01\n", "line 1 has a number or a day in column 2"),
        ("t.csv", "", "the file is empty: it has no header"),
        ("t.csv", "age,age\n", "column 2 has the name of a column before it"),
        ("t.parquet", "", "not a readable Parquet file: its footer is missing or damaged"),
        ("t.txt", "", "a file of type .txt"),
        ("t.sav", MARK, "not a readable file of SPSS, Stata or SAS with the suffix that its format has"),
        ("t.xlsx", MARK, "not a readable Excel workbook"),
        ("t.arrow", MARK, "not a readable Arrow file: its schema is missing or damaged"),
        ("t.arrow", "", "not a readable Arrow file: its schema is missing or damaged"),
        ("t.xml", "<a>\n<b>", "no XML: line 2, column 3"),
        ("t.xml", "<!DOCTYPE a><a/>", "XML with declarations of its own"),
        ("t.yaml", "a: 1\n", "no contract with a table"),
        ("t.csv", ",".join(f"c{i}" for i in range(5000)), f"more than {MOST_DRAFTED} columns"),
    ],
)
def test_a_source_that_says_too_little_is_refused(tmp_path: Path, name: str, content: str, found: str) -> None:
    source = tmp_path / name
    source.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        read_draft_source(source, tmp_path, header_line=True)
    (problem,) = caught.value.problems
    assert problem.found == found
    assert MARK not in str(problem)


def test_a_draft_loses_no_row_by_empty_cells_and_asks_how_numbers_are_written(tmp_path: Path) -> None:
    source = tmp_path / "t.csv"
    source.write_text("nom;age;sex;full_name\n", encoding="utf-8")
    text = drafted(source)
    assert text.count("invalid, value: level") == 2
    assert text.count("privacyRole, value: direct-identifier") == 2
    left = [problem.where for problem in problems_of(tmp_path, text)]
    assert left[:2] == ["servers.customProperties.decimalMark", "servers.customProperties.dayForm"]
    with pytest.raises(ConfigurationError, match="no column 'sexe'"):
        drafted(source, domains=("sexe",))


def test_of_5000_columns_the_needed_ones_are_drafted(tmp_path: Path) -> None:
    source = tmp_path / "t.csv"
    source.write_text(",".join(f"c{i}" for i in range(5000)), encoding="utf-8")
    assert drafted(source, columns=("c7", "c4999")).count("- {name: c") == 2
    with pytest.raises(ConfigurationError, match="no column 'c5000'"):
        drafted(source, columns=("c5000",))


ADULT = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,"
    "capital-loss,hours-per-week,native-country,income-per-year"
)
ACS = (
    "PUMA,AGEP,SEX,MSP,HISP,RAC1P,NOC,NPF,HOUSING_TYPE,OWN_RENT,DENSITY,INDP,INDP_CAT,EDU,PINCP,PINCP_DECILE,POVPIP,"
    "DVET,DREM,DPHY,DEYE,DEAR,PWGTP,WGTP"
)
TABLES: dict[str, tuple[str | None, dict[str, str]]] = {
    # the header line (None: the bundled Parquet), and the domain of each column that is to be published
    "adult": (
        ADULT,
        {
            "age": "",
            "education": "[Bachelors, HS-grad, 11th, Masters]",
            "marital-status": "[Never-married, Divorced, Married-civ-spouse, Separated, Widowed]",
            "race": "[White, Black, Asian-Pac-Islander, Amer-Indian-Eskimo, Other]",
            "sex": "[Female, Male]",
            "native-country": "[United-States, Mexico, Cuba]",
            "income-per-year": '["<=50K", ">50K"]',
        },
    ),
    "acs": (
        ACS,
        {
            "SEX": "['1', '2'], labels: {1: Male, 2: Female}",
            "RAC1P": "['1', '2', '3', '4', '5', '6', '7', '8', '9']",
            "EDU": "['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11', '12'], missing: [N]",
            "DVET": "['0', '1', '2', '3', '4', '5', '6'], missing: [N]",
            "DREM": "['1', '2'], missing: [N]",
        },
    ),
    "census": (
        None,
        {"age": "", "sex": "[Female, Male]", "race": "[Black, Other, White]", "wage_per_hour": "from: 0, to: 9999"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_a_real_table_is_described_with_at_most_fifteen_lines_edited(name: str, tmp_path: Path) -> None:
    header, domains = TABLES[name]
    source = tmp_path / f"{name}.csv"
    source.write_text(f"{header}\n", encoding="utf-8")
    if header is None:
        source = Path(__file__).parents[2] / "data_contracts" / "census_income.parquet"
    found = read_draft_source(source, tmp_path, header_line=True)
    domains = {each: value for each, value in domains.items() if each in {column.name for column in found.columns}}
    draft = draft_contract(found, name, tuple(domains))
    lines, column = draft.splitlines(), ""
    for at, line in enumerate(lines):
        column = line.partition("name: ")[2].partition(",")[0].partition("  ")[0].strip('"') or column
        stated = domains.get(column, "")
        stated = f"values: {stated}" if stated.startswith("[") else stated
        lines[at] = LEFT.sub(lambda _, new=stated: f"{{{new}, source: codebook}}", line)  # type: ignore[misc]
    text = decided("\n".join(lines) + "\n")
    edited = sum(old != new for old, new in zip(draft.splitlines(), text.splitlines(), strict=True))
    assert edited <= 15
    assert problems_of(tmp_path, text) == []
    contract = read_contract(tmp_path / "draft.yaml", KNOWN.servers)
    assert [each.name for each in contract.attributes if each.releasable] == [*domains]
    assert check_table(contract).read is not None


def test_line_1_of_a_csv_file_is_read_only_if_a_person_says_that_it_is_a_header(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a file without a header it is somebody's record."""
    source = tmp_path / "t.csv"
    source.write_text(f"{MARK},F,01/02/1990,diabetes\n")
    assert crowdgate("contract", "draft", source, "--to", tmp_path / "t.yaml") == 2
    said = capsys.readouterr()
    assert "--header-line" in said.err
    assert MARK not in said.out + said.err
    assert not (tmp_path / "t.yaml").exists()


@pytest.mark.parametrize("text", ["<c/>".encode("utf-16"), b'<?xml version="1.0" encoding="foo"?><c/>'])
def test_a_codebook_is_in_utf_8(tmp_path: Path, text: bytes) -> None:
    source = tmp_path / "c.xml"
    source.write_bytes(text)
    with pytest.raises(ConfigurationError, match="in UTF-8"):
        read_draft_source(source, tmp_path)
