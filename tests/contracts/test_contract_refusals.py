"""Every refusal of a contract, with the file and line of the mistake."""

import re
from pathlib import Path

import pytest

from tests.contracts.clinic import CONTRACT, line_of, problems_of, write

ROLE = "{property: privacyRole, value: sensitive}"
AGE = "{from: -10, to: 20, step: 5, top: true, bottom: true, source: book}"
WARD = "{values: [heart, lung, NO, unknown], source: book}"
CHEST = "{name: chest, tree: {chest: [heart, lung], other: [NO, unknown]}}"
KNOWN = "arguments: {validValues: [heart, lung, NO]}, mustBe: 0}"
MEAN = "{type: expect_column_mean_to_be_between, kwargs: {min_value: 3.5, max_value: 9}}"
SHARE = "metric: invalidValues, unit: percent, mustBeLessThan: 2.5}"
DUPLICATES = "{metric: duplicateValues, unit: percent, mustBe: 0}"
ROWS = "rowsAtMost, value: 5000"
SAMPLE = "{{name: spring, method: {}, beta: 0.1, secret: {}, size: {}}}"
REFUSALS = [
    # the standard
    ("v3.1.0", "v3.0.2", "'v3.0.2'", "apiVersion: v3.1.0"),
    ("kind: DataContract", "kind: Contract", "'Contract'", "DataContract"),
    ("status: active", "statos: active", "a key that the Open Data Contract Standard (ODCS) does not have", "status"),
    ("logicalType: integer", "logicalType: int", "'int'", "integer"),
    ("logicalType: integer", "logicalTipe: integer", "a key that the Open Data Contract Standard (ODCS) does "
        "not have", "logicalType"),
    ("mustBeBetween: [10, 5000]", "mustBeBetwen: [10, 5000]", "a key that the Open Data Contract Standard "
        "(ODCS) does not have", "mustBeBetween"),
    # table
    ("{property: rowsAtMost, value: 5000}", "{property: rowsAtMot, value: 5000}", "unknown custom", "rowsAtMost"),
    ("rowsAtMost, value: 5000", "population, value: x", "stated twice", "each custom property once"),
    ("rowsAtMost, value: 5000", "rowsAtMost, value: 0", "'0'", "1 or more"),
    ("rowsAtMost, value: 5000", "public, value: yes", "'yes'", "true or false"),
    ("value: clinic-patients", "value: =patients", "begins with =", "published"),
    ("{person: patient, rows: 1}", "{person: patient, rows: 1001}", "a bound of 1001 rows", "at most 1000 rows"),
    (ROWS, f"sample, value: {SAMPLE.format('fixed-size', 'true', 'unpublished')}", "fixed-size",
     "delta of at least its share"),
    (ROWS, f"sample, value: {SAMPLE.format('bernoulli', 'false', 'unpublished')}", "false", "secret"),
    (ROWS, f"sample, value: {SAMPLE.format('bernoulli', 'true', 'published')}", "published", "delta is"),
    (ROWS, "sample, value: {name: s, beta: 1}", "'1'", "below 1"),
    ("{person: patient, rows: 1}", "person", "'person'", "row or {person"),
    ("{person: patient, rows: 1}", "{person: patent}", "no property 'patent'", "patient"),
    ("{person: patient, rows: 1}", "{person: ward}", "has another privacyRole", "direct-identifier"),
    ("{person: patient, rows: 1}", "{person: patient, row: 1}", "unknown key", "rows"),
    ("metric: rowCount", "metric: nullValues", "that tables can't have", "rowCount"),
    # servers
    ("format: csv", "format: cvs", "'cvs'", "csv"),
    ("value: ;", "value: ab", "'ab'", "one character"),
    ("property: delimiter", "property: delimeter", "unknown custom", "delimiter"),
    ("path: visits.csv", "path: ''", "''", "the path of the table"),
    ("format: csv", "format: csv, encoding: ISO-8859-1", "'ISO-8859-1'", "UTF-8"),
    # properties
    ("description: Where", "physicalName: w", "physicalName differs", "ward"),
    ("description: Where", "properties: [{name: a, logicalType: string}]", "nested properties", "flat table"),
    ("name: note", "name: ward", "a second property", "each property once"),
    ("name: ward\n", "name: '@ward'\n", "begins with =", "published"),
    (ROLE, "{property: privacyRole, value: quasi}", "'quasi'", "quasi-identifier"),
    (ROLE, "{property: privacyRoll, value: sensitive}", "unknown custom", "privacyRole"),
    (AGE, AGE[:-1] + ", levels: [{name: 10, width: 10}]}", "a property of the column within its domain",
     "{property: levels, value: ...}"),
    (AGE, AGE.replace("to: 20", "to: 20,000"), "a comma in a number", "no mark between thousands"),
    (WARD, '{values: {"1": heart, "2": lung}, source: book}', "values as keys",
     'values: ["1", "2", ...], labels: {...}'),
    (WARD, "{values: [\u201cheart\u201d, lung], source: book}", "curly quotation marks", 'straight ones: "heart"'),
    (WARD, "{values: [heart|liver], source: book}", "one value that looks like several", "each value on its own"),
    (WARD, "{values: [heart|lung], source: book}", "values without commas between them", "a comma after each value"),
    ("value: clinic-patients", "value: Clinic Patients", "'Clinic Patients'", "clinic-patients"),
    ("description: Where", "privacyRole: sensitive", "a key that the Open Data Contract Standard (ODCS) does not have",
     "customProperties with {property: privacyRole, value: ...} in its list"),
    ("format: csv", "format: xlsx", "'xlsx'", "excel"),
    ("{property: invalid, value: level}", "{property: invalid, value: keep}", "'keep'", "'drop' or 'level'"),
    # domains
    (AGE, "{from: -10, to: 20, step: 7, source: book}", "end exactly on `to`", "domains-and-levels.md"),
    (AGE, "{from: -10, to: 20, step: x, source: book}", "'x'", "a number"),
    (AGE, "{from: -10, to: x, source: book}", "'x'", "a number"),
    (AGE, "{from: -10, to: 20}", "nothing", "source"),
    (AGE, "{from: -10, to: 20, source: ' '}", "' '", "not empty"),
    (AGE, "{from: -10, source: book}", "a mapping", "either from and to"),
    (AGE, "{from: -10, to: 20, values: [a], source: book}", "a mapping", "either from and to"),
    (AGE, "{from: -10, to: 20, stepp: 5, source: book}", "unknown key", "step"),
    (AGE, "{from: 0, to: 99999999, source: book}", "larger step", "domains-and-levels.md"),
    (WARD, "{values: [], source: book}", "non-empty", "domains-and-levels.md"),
    (WARD, "{values: [heart, heart], source: book}", "'heart' is listed twice", "each value once"),
    (WARD, "{values: {file: towns.csv, column: twn}, source: book}", "no column 'twn'", "town"),
    (WARD, "{values: {file: gone.csv, column: a}, source: book}", "No such file", "readable CSV"),
    (WARD, '{values: {file: "a\\0b", column: a}, source: book}', "null", "a CSV file"),
    ("{from: 2024-01-01,", "{from: 2024-02-30,", "'2024-02-30'", "a day"),
    ("{from: 2024-01-01,", "{step: 2, from: 2024-01-01,", "step, top, bottom or precision", "only from, to"),
    *[
        (WARD, f"{{values: [heart, lung, NO, {label}], source: book}}", said, "published")
        for label, said in [
            *[(f"'{first}a'", "a spreadsheet would run") for first in "=+-@"],
            *[('"\\ta"', "space"), ('"\\ra"', "space"), ("' a'", "space"), ("'a '", "space"), ("''", "is empty")],
            *[('"a\\nb"', "control"), ('"a\\0b"', "control"), ('"a\\u2028b"', "control")],
            *[("'*'", "reserved"), ("(invalid)", "reserved")],
        ]
    ],
    # levels
    (CHEST, "{name: chest, tree: {chest: [heart, lung], other: "
        "['NO']}}", "'unknown' is in no group", 'write "*" in the group of all others'),
    (CHEST, "{name: chest, tree: {a: [heart, lung, NO], b: [NO, "
        "unknown]}}", "'NO' is in two groups", "domains-and-levels.md"),
    (CHEST, "{name: chest, tree: {a: [haert, lung, NO, unknown]}}", "'haert'", "heart"),
    (CHEST, f"{CHEST}, {{name: all, tree: {{all: [chest, othr]}}}}", "'othr'", "other"),
    ("{name: 10 years, width: 10}", "{name: 10 years, width: 10, origin: "
        "2}", "an origin, such as", "domains-and-levels.md"),
    ("{name: 10 years, width: 10}", "{name: a, cuts: [6, 7]}", "between the cut 7 and", "domains-and-levels.md"),
    ("{name: 10 years, width: 10}", "{name: a, cuts: [0, x]}", "'x'", "a number"),
    (CHEST, "{name: chest, prefix: 1, origin: 5}", "a mapping", "`origin` only together with `width`"),
    (CHEST, "{name: chest, tree: {'=1': [heart, lung, NO, unknown]}}", "a spreadsheet would run", "published"),
    (CHEST, "{name: chest, tree: {'*': [heart, lung, NO, unknown]}}", "reserved", "published"),
    (CHEST, "{name: chest, width: 5}", "numeric domain", "domains-and-levels.md"),
    (CHEST, "{name: chest, part: day}", "domain of dates", "domains-and-levels.md"),
    (CHEST, "{name: chest, prefix: 0}", "'0'", "1 or more"),
    (CHEST, "{name: chest, prefix: 1, width: 5}", "a mapping", "exactly one of"),
    (CHEST, "{name: chest}", "a mapping", "exactly one of"),
    (CHEST, "{name: chest, prefiks: 1}", "unknown key", "prefix"),
    (CHEST, "{name: chest, file: gone.csv}", "No such file", "readable CSV"),
    (CHEST, "{name: chest, file: towns.csv, column: half}", "no row for 'heart'", "domains-and-levels.md"),
    *[(CHEST, f"{{name: {name}, prefix: 1}}", "the level name", "another") for name in ("exact", "any", "(invalid)")],
    (CHEST, "{name: a, prefix: 1}, {name: a, prefix: 1}", "a second level called 'a'", "a different name"),
    ("{name: letter, prefix: 1}", "{name: a, prefix: 1}, {name: b, prefix: "
        "2}", "splits the group 'A*****'", "merges whole groups of 'a'"),
    ("{name: month, part: month}", "{name: month, part: week}", "'week'", "day, month, quarter, year"),
    ("{name: 10 years, width: 10}", "{name: 10 years, width: 7}", "multiple of its step", "domains-and-levels.md"),
    ("column: half", "column: halb", "no column 'halb'", "half"),
    (CHEST, "{name: chest, tree: x}", "'x'", "a mapping"),
    (CHEST, "{name: [chest], prefix: 1}", "a list", "text"),
    (f"[{CHEST}]", "5", "'5'", "a list"),
    # rules
    ("mustBeBetween: [10, 5000]", "unit: percent, mustBe: 1", "a unit or arguments", "rowCount in rows"),
    ("name: lower", "name: known", "a second rule called 'known'", "a different name"),
    (KNOWN, "arguments: {validValues: [hart]}, mustBe: 0}", "'hart'", "heart"),
    (KNOWN, "arguments: {validValues: []}, mustBe: 0}", "no value of the column's domain meets", "at least one value"),
    (KNOWN, "arguments: {validValues: [unknown, NO]}, mustBe: 1}", "a limit other than 0", "mustBe: 0"),
    (KNOWN, "arguments: {validValue: [heart]}, mustBe: 0}", "'validValue'", "validValues or pattern"),
    (KNOWN, "arguments: {pattern: '('}, mustBe: 0}", "'('", "regular expression"),
    (KNOWN, "arguments: {pattern: '[[a]'}, mustBe: 0}", "'[[a]'", "without a warning"),
    (SHARE, "metric: invalidValues, mustBeLessThan: 2.5}", "nothing", "unit: percent"),
    (SHARE, "metric: invalidValues, unit: percent, mustNotBe: 2.5}", "mustNotBe", "exactly one of mustBe"),
    (SHARE, "metric: invalidValues, unit: percent, mustBe: x}", "'x'", "a number"),
    (SHARE, "metric: nullValues, unit: percent, arguments: {a: 1}, mustBe: "
        "1}", "takes no arguments", "without `arguments`"),
    (SHARE, "metric: duplicateValues, unit: percent, mustBe: "
        "0}", "duplicateValues on a column that is not", "person column"),
    (SHARE, "type: text, description: good}", "that columns can't have", "invalidValues"),
    (DUPLICATES, "{metric: nullValues, unit: percent, mustBe: 0}", "without a domain", "property `domain`"),
    ("mustBeBetween: [10, 5000]", "mustBeBetween: [5000, 10]", "two numbers in order", "the smaller one first"),
    ("engine: greatExpectations", "engine: soda", "'soda'", "engine: crowdgate or engine: greatExpectations"),
    ("engine: greatExpectations", "engine: crowdgate", "'type, kwargs'", "metric: mean and one of mustBe"),
    (f"engine: greatExpectations, implementation: {MEAN}", "engine: crowdgate, implementation: {metric: mean, min: 1}",
     "'min'", "metric: mean and one of mustBe"),
    (f"engine: greatExpectations, implementation: {MEAN}",
     "engine: crowdgate, implementation: {metric: mean, mustNotBe: 1}", "mustNotBe", "exactly one of mustBe"),
    (MEAN, "{type: expect_column_values_to_be_increasing, kwargs: {}}", "'expect_column_values_to_be_increasing'",
     "an expectation that counts of values decide"),
    (MEAN, "{type: expect_column_values_to_be_in_set, kwargs: {value_set: [1, x]}}", "the value 'x'",
     "a value of the column's domain"),
    (MEAN, "{type: expect_column_values_to_be_in_set, kwargs: {}}", "nothing", "the key value_set"),
    (MEAN, "{type: expect_column_values_to_be_unique, kwargs: {mostly: 90}}", "'90'", "a share from 0 to 1"),
    (MEAN, "{type: expect_column_quantile_values_to_be_between, kwargs: {quantile_ranges: {quantiles: [0.5]}}}",
     "no range for each quantile", "value_ranges"),
    (MEAN, "{type: expect_column_mean_to_be_between, kwargs: {}}", "no interval", "min_value"),
    (MEAN, "{type: expect_column_mean_to_be_between, kwargs: {min: 1}}", "unknown key", "min_value"),
    ("name: lower, metric: invalidValues, arguments: {pattern: \"[a-z]+\"}, mustBe: 0",
     f"name: m, type: custom, engine: greatExpectations, implementation: {MEAN}", "not numeric", "numeric domain"),
]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("old", "new", "found", "expected"), REFUSALS, ids=[f"{new[:50]}" for _, new, _, _ in REFUSALS]
)
def test_a_mistake_is_refused_where_it_stands(tmp_path: Path, old: str, new: str, found: str, expected: str) -> None:
    assert CONTRACT.count(old) >= 1
    problems = problems_of(write(tmp_path, CONTRACT.replace(old, new, 1)))
    line = line_of(old)
    here = [problem for problem in problems if found in problem.found]
    assert here, "\n".join(map(str, problems))
    assert (Path(here[0].file).name, here[0].line) == ("clinic.yaml", line), str(here[0])
    assert expected in f"{here[0].expected} {here[0].instead}"


def test_a_key_of_two_lines_is_told_in_one(tmp_path: Path) -> None:
    old = "{property: rowsAtMost,"
    assert CONTRACT.count(old) == 1
    problems = problems_of(write(tmp_path, CONTRACT.replace(old, '{property: "rows\\nAtMost",', 1)))
    assert any(r"rows\nAtMost" in str(problem) for problem in problems)
    assert not any("\n" in str(problem) for problem in problems)


@pytest.mark.parametrize(
    ("gone", "found", "expected"),
    [
        ("      - {property: population, value: clinic-patients}\n", "no population", "population on the table"),
        ("      - {property: privacyUnit, value: {person: patient, rows: 1}}\n", "no privacyUnit", "privacyUnit"),
        ("          - {property: privacyRole, value: sensitive}\n", "a column without a privacyRole", "privacyRole"),
        (f"          - {{property: domain, value: {WARD}}}\n", "levels without a domain", "a domain beside it"),
        (f"          - {{property: domain, value: {AGE}}}\n", "margins without a domain", "a domain beside it"),
        (
            re.search(r"  - \{server: disk.*\n", CONTRACT)[0],  # type: ignore[index]
            "no server of type duckdb or local or postgres or s3, so it is unknown where the table is",
            "a server with type: duckdb or local or postgres or s3",
        ),
        ("id: clinic\n", "no key id", "requires"),
        ("        logicalType: string\n", "no key logicalType", "requires"),
    ],
)
def test_what_a_contract_must_say_is_missed(tmp_path: Path, gone: str, found: str, expected: str) -> None:
    problems = problems_of(write(tmp_path, CONTRACT.replace(gone, "", 1)))
    here = [problem for problem in problems if problem.found == found]
    assert here, "\n".join(map(str, problems))
    assert expected in here[0].expected
    assert here[0].line is not None


def test_row_rules_that_exclude_each_other_are_refused(tmp_path: Path) -> None:
    text = CONTRACT.replace(KNOWN, "arguments: {validValues: ['NO']}, mustBe: 0}")
    (problem,) = problems_of(write(tmp_path, text))
    assert (problem.where, problem.line, problem.found) == (
        "ward.quality",
        line_of(KNOWN) - 1,
        "row rules that no value meets together",
    )


def test_a_table_without_properties_is_refused(tmp_path: Path) -> None:
    text = CONTRACT[: CONTRACT.index("    properties:")]
    assert "no properties" in [problem.found for problem in problems_of(write(tmp_path, text))]


def test_a_levels_file_that_groups_a_value_twice_is_refused(tmp_path: Path) -> None:
    text = CONTRACT.replace(CHEST, "{name: chest, file: age.csv, column: count}")
    problems = problems_of(write(tmp_path, text, age_csv="value,count\nheart,1\nheart,2\n"))
    here = [problem for problem in problems if problem.found == "the value 'heart' is in age.csv twice"]
    assert [problem.line for problem in here] == [line_of(CHEST)]


def test_a_second_table_is_refused(tmp_path: Path) -> None:
    problems = problems_of(write(tmp_path, CONTRACT + "  - name: other\n"))
    assert [problem.found for problem in problems] == ["a contract of 2 tables"]


@pytest.mark.parametrize(
    ("name", "text", "line", "found", "expected"),
    [
        ("age.csv", "value,count\n0,1\n0,2\n", 3, "a second line for the value '0'", "one line for each value"),
        ("age.csv", "value,count\n0,1\n1,2\n", 3, "'1'", "a value of the domain"),
        ("age.csv", "value,count\n0,-1\n", 2, "the count '-1'", "0 or more"),
        ("age.csv", "value,count\n0,1.5\n", 2, "the count '1.5'", "0 or more"),
        ("age.csv", "value,count\n0,0\n", None, "all counts are 0", "at least one"),
        ("age.csv", "value,n\n0,1\n", 1, "other columns", "value,count"),
        ("age.csv", "value,count\n0\n", 2, "1 cells", "2 cells"),
        ("age.csv", "", 1, "no header", "names each column"),
        ("towns.csv", "town,town\na,b\n", 1, "two columns of one name", "names each column"),
        ("towns.csv", "town,half\nAachen,west,x\n", 2, "3 cells", "2 cells"),
    ],
)
def test_a_mistake_in_a_csv_file_is_refused_there(
    tmp_path: Path, name: str, text: str, line: int | None, found: str, expected: str
) -> None:
    problem = problems_of(write(tmp_path, **{name.replace(".", "_"): text}))[0]
    assert (Path(problem.file).name, problem.line) == (name, line)
    assert found in problem.found
    assert expected in problem.expected


@pytest.mark.parametrize(
    ("text", "found", "expected"),
    [
        ("town,half\nAachen,west\nAachen,east\n", "'Aachen' is listed twice", "each value once"),
        ("town,half\nAachen,west\nApolda,east\n", "splits the group 'A*****'", "merges whole groups of 'letter'"),
        ("town,half\nAachen,@west\n", "'@west' begins with", "published"),
        ('town,half\n"Aachen,west\n', "'towns.csv' is not valid CSV: unexpected end of data", "CSV file"),
        ("town,half\nAa\ud800chen,west\n", "'towns.csv' is not valid CSV: it is not UTF-8 text", "UTF-8"),
    ],
)
def test_a_levels_file_that_cannot_serve_is_refused_in_the_contract(
    tmp_path: Path, text: str, found: str, expected: str
) -> None:
    problems = problems_of(write(tmp_path, towns_csv=text))
    here = [problem for problem in problems if found in problem.found]
    assert here, "\n".join(map(str, problems))
    assert (Path(here[0].file).name, here[0].line is not None) == ("clinic.yaml", True)
    assert expected in here[0].expected


def test_all_problems_of_a_contract_come_at_once(tmp_path: Path) -> None:
    text = CONTRACT
    for old, new in [
        ("status:", "statos:"),
        (AGE, "{from: 1}"),
        ("column: half", "column: halb"),
        ("value: ;", "value: ab"),
    ]:
        text = text.replace(old, new, 1)
    problems = problems_of(write(tmp_path, text))
    lines = [line_of(old) for old in ("status:", "value: ;", AGE, "column: half")]
    assert sorted(problem.line or 0 for problem in problems) == lines


@pytest.mark.parametrize(("old", "new"), [(AGE, "{frm: 1}"), (CHEST, "{}"), ("unit: percent", "unitt: percent")])
def test_what_follows_from_a_slip_is_not_reported(tmp_path: Path, old: str, new: str) -> None:
    problems = problems_of(write(tmp_path, CONTRACT.replace(old, new, 1)))
    assert {problem.line for problem in problems} == {line_of(old)}


def test_a_message_never_shows_a_whole_value(tmp_path: Path) -> None:
    problems = problems_of(write(tmp_path, CONTRACT.replace("status: active", "status: [" + "secret, " * 50 + "]")))
    assert all(len(str(problem)) < 400 and str(problem).count("secret") < 2 for problem in problems)


@pytest.mark.parametrize(
    "levels",
    [
        "{name: a, tree: {x: [heart, lung], y: [NO, unknwn]}}",
        "{name: a, tree: {x: [heart, lung], y: [NO, unknown]}}, {name: b, tree: {z: [x, yy]}}",
        "{name: a, tree: {x: [heart, lung], y: [NO, unknwn]}}, {name: b, tree: {z: [x, y]}}",
        "{name: a, tree: {x: [heart, lung], y: [NO, unknwn]}}, {name: b, tree: {z: [x, y]}}, {name: c, tree: {w: [z]}}",
        "{name: a, file: gone.csv}, {name: b, tree: {z: [x, y]}}",
    ],
)
def test_one_wrong_name_is_one_problem(tmp_path: Path, levels: str) -> None:
    """Correct names next to it, and names in levels that use its level, are no problems."""
    (problem,) = problems_of(write(tmp_path, CONTRACT.replace(CHEST, levels)))
    wrong = next(name for name in ("unknwn", "yy", "gone.csv") if name in levels)
    assert f"'{wrong}'" in problem.found


def test_bands_must_nest_in_the_levels_before_them(tmp_path: Path) -> None:
    two = "{name: a, cuts: [0, 10]}\n              - {name: b, cuts: [5]}"
    (problem,) = problems_of(write(tmp_path, CONTRACT.replace("{name: 10 years, width: 10}", two)))
    assert problem.where == "age.levels.b"
    assert problem.found == "this level splits the group '0 to 5' of the level before it"
    assert "merges whole groups of 'a'" in problem.expected
