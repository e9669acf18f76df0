"""Warnings about contracts that are allowed and are often a mistake: each at its place, of the contract and its policy,
and none once the contract says what was meant.
"""

import pytest

from crowdgate.review.files import Remark, lint
from crowdgate.review.lint.contract_doubts import DOUBTS
from tests.review.newcomer import VISITS, VISITS_POLICY, write_visits
from tests.workshop import Workshop

AGE = "{from: 0, to: 90, top: true, source: Clinic handbook}"
WARD = "values: [Surgery, Maternity, Heart, Lung, Unknown]"
LABELS = "Surgery: OP, Maternity: M, Heart: H, Lung: L"
ROWS = "      - {property: rowsAtMost, value: 50000}\n"
PERSONS = "      - {property: personValues, value: {oldest: {greatest: age}}}\n"
FORM = ", {property: dayForm, value: YYYY-MM-DD}"
SHORT = '["2510", "2511", "3011"], source: Post office}}\n'
FIRST = "          - {property: firstCharacters, value: 4}\n"
NUMBER = [("logicalType: integer", "logicalType: number")]
DOUBTFUL: list[tuple[str, list[tuple[str, str]], int, int, str]] = [
    # the code of the warning; edits of the example; line and column; words
    ("CG232", [(FORM, "")], 7, 5, "a file with semicolons and days, and no dayForm"),
    ("CG232", NUMBER, 7, 5, "a file with semicolons and decimal numbers, and no decimalMark"),
    ("CG233", [(AGE, "{from: -1, to: 90, missing: [-1], source: Clinic handbook}")], 26, 58, "has '-1' in `missing`"),
    ("CG233", [(AGE, "{from: 0, to: 90, missing: [99, '90.0'], source: x}")], 26, 57, "has '90.0' in `missing`"),
    ("CG233", [(AGE, "{from: 0, to: 90, missing: [98 or 99], source: x}")], 26, 57, "only cells with this whole text"),
    ("CG233", [(WARD, f"{WARD}, labels: {{{LABELS}}}")], 45, 92, "no label for 'Unknown'"),
    ("CG233", [(AGE, "{from: 1920, to: 20055, source: Clinic handbook}")], 26, 52, "is a digit too many?"),
    ("CG233", [(SHORT, SHORT.replace("]", ', "99"]') + FIRST)], 39, 41, "read by its first 4 characters"),
    ("CG234", [("{person: patient_id, rows: 1}", "{person: patient_id}")], 11, 33, "privacyUnit states no rows"),
    ("CG235", [("name: ward", "name: ward  # role guessed"), ("name: age", "name: age  # role unknown; extremes?")],
     16, 5, "as a draft wrote it, guessed: ward; unknown: age. Unknown ones are quasi-identifier. Correct"),
]  # fmt: skip
MEANT: list[list[tuple[str, str]]] = [
    [],
    [*NUMBER, (FORM, f"{FORM}, {{property: decimalMark, value: .}}")],
    [*NUMBER, (FORM, f'{FORM}, {{property: decimalMark, value: ","}}')],
    [(AGE, "{from: 0, to: 90, missing: [99, -1], source: Clinic handbook}")],
    [("from: 2024-01-01,", "from: 2024-01-01, missing: [1900-01-01],")],
    [(WARD, f"{WARD}, labels: {{{LABELS}, Unknown: Unknown}}")],
    [(WARD, f"{WARD}, labels: {{Surgery: OP}}")],
    [("{person: patient_id, rows: 1}", "{person: patient_id}"), (ROWS, ROWS + PERSONS)],
    [(AGE, "{from: 2000, to: 20000, source: Clinic handbook}")],
    [(SHORT, SHORT + FIRST)],
    [("name: postcode", "name: postcode  # role checked")],
]  # fmt: skip
VALUES = [
    (["1 = Man", "2 = Kvinna"], True), (["1- 1st", "2- none", "9- Ignorado"], True), (["1-Sim", "2-Não"], True),
    (["M: Male", "F: Female"], True), (["0 - 9 years", "10 - 19 years"], False), (["10-19", "20-29"], False),
    (["1 = Man", "Kvinna"], False), (["Surgery", "Heart"], False), (["x-ray", "y-ray", "x-rays"], False),
    (["a-b", "a-c"], False),
]  # fmt: skip


def doubts(workshop: Workshop, file: str) -> list[Remark]:
    return [each for each in lint(workshop.root / file).remarks if each.code in DOUBTS]


def test_every_doubt_has_a_case() -> None:
    assert {code for code, *_ in DOUBTFUL} == {*DOUBTS}


@pytest.fixture
def example(workshop: Workshop) -> Workshop:
    write_visits(workshop)
    return workshop


@pytest.mark.parametrize(("code", "edits", "line", "column", "words"), DOUBTFUL, ids=[each[-1] for each in DOUBTFUL])
def test_a_doubt_is_told_at_its_place_of_the_contract(
    code: str, edits: list[tuple[str, str]], line: int, column: int, words: str, example: Workshop
) -> None:
    for old, new in edits:
        example.edit(example.root / VISITS, old, new)
    for file in (VISITS, VISITS_POLICY):
        (remark,) = doubts(example, file)
        assert (remark.code, remark.severity, remark.line, remark.column) == (code, "warning", line, column)
        assert remark.path == str(example.root / VISITS)
        assert words in remark.message


@pytest.mark.parametrize("edits", MEANT, ids=[str(each[-1:])[:60] for each in MEANT])
def test_what_is_stated_is_no_doubt(edits: list[tuple[str, str]], example: Workshop) -> None:
    for old, new in edits:
        example.edit(example.root / VISITS, old, new)
    assert lint(example.root / VISITS).problems == ()
    assert doubts(example, VISITS) == []


@pytest.mark.parametrize(("values", "is_doubtful"), VALUES, ids=[str(each[0]) for each in VALUES])
def test_values_that_look_like_codes_with_labels_are_a_doubt(
    values: list[str], is_doubtful: bool, example: Workshop
) -> None:
    path = example.root / VISITS
    example.edit(path, '{values: ["2510", "2511", "3011"], source', f"{{values: {values}, source")
    found = doubts(example, VISITS)
    assert [(each.line, each.column) for each in found] == ([(38, 40)] if is_doubtful else [])
    if values == VALUES[0][0]:
        assert 'values: ["1", "2"], labels: {"1": Man, "2": Kvinna}' in found[0].message


def test_the_domain_of_a_definition_is_told_at_the_definition(example: Workshop) -> None:
    path = example.root / VISITS
    example.edit(path, f"{{property: domain, value: {AGE}}}", "{property: like, value: ages}")
    shared = "{from: -1, to: 90, missing: [-1], source: book}"
    example.edit(path, ROWS, f"{ROWS}      - {{property: definitions, value: {{ages: {{domain: {shared}}}}}}}\n")
    assert [(each.code, each.line) for each in doubts(example, VISITS)] == [("CG233", 14)]


def test_a_decimal_point_in_a_file_with_semicolons_is_named(example: Workshop) -> None:
    """It is stated, so there is no warning; what was read says so."""
    path = example.root / VISITS

    def read() -> str:
        checked = lint(example.root / VISITS_POLICY).checked
        assert checked is not None
        return str(checked.table.read)

    assert read().endswith("no cell, no count")
    example.edit(path, *NUMBER[0])
    example.edit(path, FORM, f"{FORM}, {{property: decimalMark, value: .}}")
    assert read().endswith("Numbers in it are taken to have a decimal point: 1,5 would be outside each domain")
    example.edit(path, "decimalMark, value: .", 'decimalMark, value: ","')
    assert read().endswith("no cell, no count")


def test_a_table_that_is_elsewhere_is_told_at_the_path_of_the_contract(example: Workshop) -> None:
    example.edit(example.root / VISITS, "path: visits.csv", "path: visit.csv")
    for file in (VISITS, VISITS_POLICY):
        (remark,) = [each for each in lint(example.root / file).remarks if each.code == "CG217"]
        assert (remark.path, remark.line, remark.column) == (str(example.root / VISITS), 7, 35)
        assert "there is visits.csv" in remark.message
