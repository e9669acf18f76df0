"""`check` compares a contract with the header of its table: names, types, delimiter, compression; never a cell."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.errors import Code, ConfigurationError, Problem
from crowdgate.limits import LONGEST_HEADER
from crowdgate.review.check import check
from crowdgate.review.files import lint
from crowdgate.sources import files
from crowdgate.sources.csv_header import read_header
from crowdgate.sources.parquet_schema import parquet_header
from crowdgate.sources.table_header import CellType
from tests.examples import examples
from tests.workshop import MARK, Workshop, crowdgate, good_rows, write_csv

TYPES = {
    CellType.WHOLE: [pa.int8(), pa.int64(), pa.uint16(), pa.dictionary(pa.int32(), pa.int64())],
    CellType.NUMBER: [pa.float16(), pa.float32(), pa.float64(), pa.decimal128(9, 2)],
    CellType.TEXT: [pa.string(), pa.binary(), pa.large_string(), pa.dictionary(pa.int32(), pa.string()), pa.uuid()],
    CellType.FLAG: [pa.bool_()],
    CellType.DAY: [pa.date32()],
    CellType.MOMENT: [pa.timestamp("ms"), pa.timestamp("us", "UTC")],
    CellType.TIME: [pa.time32("ms"), pa.time64("us")],
    CellType.UNKNOWN: [pa.null()],
    CellType.NESTED: [
        pa.list_(pa.int32()),
        pa.struct([("a", pa.int32()), ("b", pa.list_(pa.string()))]),
        pa.map_(pa.string(), pa.int8()),
    ],
}  # fmt: skip
EACH = [(found, kind) for found, kinds in TYPES.items() for kind in kinds]


def problems_of(workshop: Workshop) -> list[Problem]:
    with pytest.raises(ConfigurationError) as caught:
        check(workshop.policy)
    assert {problem.code for problem in caught.value.problems} == {Code.HEADER}
    assert MARK not in str(caught.value)
    return list(caught.value.problems)


def as_csv(workshop: Workshop, delimiter: str = ",", stated: str | None = None) -> Path:
    """The workshop's table as CSV, with a delimiter that the contract states as another one."""
    path = workshop.data.with_suffix(".csv")
    write_csv(path, good_rows(20))
    path.write_text(path.read_text(encoding="utf-8").replace(",", delimiter), encoding="utf-8")
    own = "" if stated is None else f", customProperties: [{{property: delimiter, value: '{stated}'}}]"
    workshop.edit(workshop.contract, "path: patients.parquet, format: parquet", f"path: {path.name}, format: csv{own}")
    return path


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(st.text(st.characters(codec="utf-8"), max_size=5), st.sampled_from(EACH)), max_size=12))
def test_a_footer_names_its_columns_and_their_types_as_arrow_does(
    tmp_path_factory: pytest.TempPathFactory, columns: list[tuple[str, tuple[CellType, pa.DataType]]]
) -> None:
    path = tmp_path_factory.mktemp("t") / "t.parquet"
    pq.write_table(pa.schema([(name, kind) for name, (_, kind) in columns]).empty_table(), path)
    header = parquet_header(path, {}, ())
    assert header.names == tuple(pq.read_schema(path).names)
    assert [column.type for column in header.columns] == [found for _, (found, _) in columns]
    assert [column.fault for column in header.columns] == [None] * len(columns)


@settings(max_examples=examples(60))
@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=3), st.integers(0, 9000))
def test_a_header_ends_where_its_record_ends(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], more: int
) -> None:
    """However long it is, and whatever follows: quoted names may hold line ends and delimiters."""
    names = [f"a{name}{'x' * more}" for name in names]
    line = ",".join('"' + name.replace('"', '""') + '"' for name in names).encode()
    path = tmp_path_factory.mktemp("t") / "t.csv"
    for end in (b"\n", b"\r\n", b"\r"):
        path.write_bytes(line + end + b'"' * 3 + b"\xff,\n" * 2000)
        header = read_header(path, ",")
        assert (header.names, header.body) == (tuple(names), len(line) + len(end))


def test_check_says_what_it_read(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("check", workshop.policy) == 0
    said = "names and types in the footer of patients.parquet; no cell, no count"
    assert f"  Read            {said}\n" in capsys.readouterr().out
    as_csv(workshop)
    assert crowdgate("check", workshop.policy, "--json") == 0
    said = "names in the header line of patients.csv; no cell, no count"
    assert json.loads(capsys.readouterr().out)["policies"][0]["table"] == {"read": said, "not_read_because": None}


def test_a_step_without_a_precision_is_a_warning(workshop: Workshop) -> None:
    """It is told of the contract and of its policies, and no more once the step has a precision, or is 1."""

    def told() -> list[int]:
        checked = [lint(workshop.contract), lint(workshop.policy)]
        return [sum(warning.code == "CG229" for warning in each.warnings) for each in checked]

    assert told() == [0, 0]
    workshop.edit(workshop.contract, "{from: 0, to: 99, top: true, source: ", "{from: 0, to: 95, step: 5, source: ")
    assert told() == [1, 1]
    (warning,) = [each for each in check(workshop.policy).warnings if each.code == "CG229"]
    assert "age has only 0, 5 and so on: every other whole number is outside its domain" in warning.words
    workshop.edit(workshop.contract, "step: 5, source", "step: 5, precision: 1, source")
    assert told() == [0, 0]


def test_a_table_that_is_elsewhere_is_a_warning(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    workshop.data.rename(workshop.data.with_name("patient.parquet"))
    assert crowdgate("check", workshop.policy) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "CG217" in line]
    assert "the table patients.parquet is not here (No such file or directory; there is patient.parquet)" in line
    assert crowdgate("check", workshop.policy, "--strict") == 3


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), OSError(5, "Input/output error")])
def test_a_table_that_is_here_and_cannot_be_read_is_an_error(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    """A policy and its contract have one problem, at the server's path."""

    def refused(*_: object) -> None:
        raise error

    monkeypatch.setattr(files, "table_files", refused)
    (problem,) = problems_of(workshop)
    assert problem.found == f"patients.parquet can't be read: {error.strerror}"
    (of_contract,) = lint(workshop.contract).problems
    assert (of_contract.found, of_contract.line) == (problem.found, problem.line)


def test_a_contract_whose_table_is_elsewhere_is_right_with_a_warning(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    workshop.data.unlink()
    assert crowdgate("check", workshop.contract) == 0
    right, warning = capsys.readouterr().out.splitlines()
    assert right.endswith("right (DataContract)")
    assert "CG217" in warning
    assert "the table patients.parquet is not here (No such file or directory)" in warning
    assert crowdgate("check", workshop.contract, "--strict") == 3
    assert [(each.code, each.severity) for each in lint(workshop.contract).remarks] == [("CG217", "warning")]


def test_a_misspelled_column_is_told_with_its_line(workshop: Workshop) -> None:
    for old, new in (("name: ward\n", "name: Ward\n"), ("name: age\n", "name: aeg\n"), ("name: note", "name: remark")):
        workshop.edit(workshop.contract, old, new)
    workshop.edit(workshop.policy, "age: 50 years, ward", "aeg: 50 years, Ward")
    workshop.edit(workshop.policy, "over: [ward]", "over: [Ward]")
    ward, age, note = sorted(problems_of(workshop), key=lambda problem: ["Ward", "aeg", "remark"].index(problem.where))
    assert ward.found == "patients.parquet has no column 'Ward'; there is 'ward'"
    assert ward.corrected == "      - name: ward"
    assert (age.instead, age.corrected) == ("age", "      - name: age")
    assert (note.instead, note.corrected) == (None, None)
    text = workshop.contract.read_text(encoding="utf-8").splitlines()
    assert [text[(problem.line or 0) - 1] for problem in (ward, age, note)] == [
        f"      - name: {name}" for name in ("Ward", "aeg", "remark")
    ]


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (pa.array([True]), "the column holds true or false"),
        (pa.array([0]).cast(pa.timestamp("ms")), "the column holds moments"),
        (pa.array([[1]]), "the column holds lists or structures"),
    ],
)
def test_a_type_that_cannot_hold_the_domain_is_told(workshop: Workshop, cells: pa.Array, found: str) -> None:
    table = pq.read_table(workshop.data).slice(0, 1)
    pq.write_table(table.set_column(table.schema.get_field_index("age"), "age", cells), workshop.data)
    (problem,) = problems_of(workshop)
    assert (problem.where, problem.found) == ("age", found)


def test_numbers_are_no_names_and_a_domain_of_digits_has_whole_numbers(workshop: Workshop) -> None:
    table = pq.read_table(workshop.data)
    ward = table.schema.get_field_index("ward")
    pq.write_table(table.set_column(ward, "ward", pa.array([1] * len(table))), workshop.data)
    (problem,) = problems_of(workshop)
    assert (problem.where, problem.found, problem.expected) == (
        "ward", "the column holds whole numbers", "values of its domain",
    )  # fmt: skip
    workshop.edit(workshop.contract, "[north, south, east]", "['1', south, east]")
    workshop.edit(workshop.contract, "          - {property: margins, value: ward.csv}\n", "")
    workshop.edit(workshop.policy, "    - {measure: expected_singletons, at_most: 4, over: [ward]}\n", "")
    assert check(workshop.policy).table.read is not None


@pytest.mark.parametrize(("own", "stated"), [(";", None), (",", ";"), ("\t", None), ("|", "~")])
def test_another_delimiter_is_told(workshop: Workshop, own: str, stated: str | None) -> None:
    as_csv(workshop, own, stated)
    (problem,) = problems_of(workshop)
    assert problem.expected == f"{{property: delimiter, value: {own!r}}}, which gives the contract's columns"


def test_a_table_without_a_header_line_shows_none_of_its_cells(workshop: Workshop) -> None:
    path = as_csv(workshop)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[1:]).replace("north", "wards"), encoding="utf-8")
    problems = problems_of(workshop)
    assert len(problems) == 4
    assert not any("there is" in problem.found for problem in problems)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "patients.csv: the file is empty: it has no header"),
        (b"patient,age,ward,note,,\n", "patients.csv: column 6 of the header has the name of a column before it"),
        (b"patient,age,ward,note,age\n", "patients.csv: column 5 of the header has the name of a column before it"),
        (b"patient,age,w\xe4rd\n", "patients.csv: the header is not in UTF-8"),
        ("patient,age".encode("utf-16"), "patients.csv: the header is not in UTF-8"),
        (b'"patient,age\n' * 9, "patients.csv: the header cannot be read as UTF-8 text with delimiter ','"),
        (b"x" * (LONGEST_HEADER + 9), "patients.csv: the header cannot be read as UTF-8 text with delimiter ','"),
        (b"PAR1.......", "patients.csv: this is no CSV but a Parquet file: expected format parquet"),
    ],
)
def test_a_header_that_cannot_serve_is_told(workshop: Workshop, content: bytes, found: str) -> None:
    as_csv(workshop).write_bytes(content)
    assert found in [problem.found for problem in problems_of(workshop)]


def test_a_byte_order_mark_is_no_part_of_the_first_name(workshop: Workshop) -> None:
    path = as_csv(workshop)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert check(workshop.policy).table.read is not None


@pytest.mark.parametrize("size", [0, 3, 11, 500])
def test_a_damaged_footer_is_told(workshop: Workshop, size: int) -> None:
    data = workshop.data.read_bytes()
    workshop.data.write_bytes(data[:size] + b"PAR1" * (size % 2))
    (problem,) = problems_of(workshop)
    assert problem.found == "patients.parquet: not a readable Parquet file: its footer is missing or damaged"


def test_an_unknown_compression_is_told(workshop: Workshop) -> None:
    """The number of a compression in the first row group is changed to 3, LZO, which no reader knows."""
    pq.write_table(pq.read_table(workshop.data), workshop.data, compression="zstd")
    data = bytearray(workshop.data.read_bytes())
    # field 4 of type i32 after field 3, a list of one text: the name, then 0x15 and the zigzag of 6
    at = data.rindex(b"\x18\x04ward"[2:] + b"\x15\x0c")
    data[at + 5] = 6
    workshop.data.write_bytes(bytes(data))
    (problem,) = problems_of(workshop)
    assert problem.where == "ward"
    assert problem.found.startswith("the column is compressed in an unknown way")
