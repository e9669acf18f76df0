"""`crowdgate contract diff`: each difference between two contracts, breaking or not."""

import json
from pathlib import Path

import pytest

from crowdgate.contracts.reading import read_contract
from crowdgate.planning.bundle import KNOWN
from crowdgate.review.contract_diff import contract_changes
from tests.contracts.clinic import CONTRACT, write
from tests.workshop import SAMPLE, crowdgate

CHANGES = [
    # text before, text after, the column, words of the difference, breaking
    ("value: clinic-patients", "value: others", None, "another population: clinic-patients before, others now", True),
    ("rows: 1}", "rows: 2}", None, "another privacy unit: a person by the column patient, "
     "with at most 1 row before, a person by the column patient, with at most 2 rows now", True),
    ("format: csv", "format: parquet", None, "another format of the table", True),
    ("rowsAtMost, value: 5000", "rowsAtMost, value: 6000", None, "another bound on rows: 5000 before, 6000 now", False),
    ("min_value: 3.5", "min_value: 4", None, "min_value 3.5, max_value 9 before, ", False),
    ("mustBeBetween: [10, 5000]", "mustBeBetween: [1, 5000]", None,
     "rows at least 10 and at most 5000 before, rows at least 1 and at most 5000 now", False),
    ("{property: population", f"{{property: sample, value: {SAMPLE}}}\n      - {{property: population", None,
     "another sample: none before, spring, drawn with probability 0.5 now", True),
    ("{property: population", "{property: analysis, value: [{table: [ward]}]}\n      - {property: population", None,
     "other numbers that users need", False),
    ("version: 1.0.0", "version: 1.1.0", None, "version 1.0.0 before, 1.1.0 now", False),
    ("- name: note", "- name: remark", "note", "the column is gone", True),
    ("- name: note", "- name: remark", "remark", "a new column", False),
    ("description: Where", "description: Place", "ward", "another description", False),
    ("[heart, lung, NO, unknown], source", "[lung, heart, NO, unknown], source", "ward", "another order of", True),
    ("NO, unknown], source: book", "NO, unknown], source: web", "ward", "another source of the domain", False),
    ("NO, unknown], source", "NO, unknown], missing: [x], source", "ward", "other texts mean a missing", True),
    ("NO, unknown], source", "NO, unknown], labels: {NO: none}, source", "ward", "values are gone: 'NO'", True),
    ("from: 0, to: 1, step", "from: 0, to: 1.5, step", "dose", "new values: '1.1', '1.2'", False),
    ("from: 0, to: 1, step: 0.1", "from: 0, to: 1, step: 0.1, precision: 0.01", "dose", "numbers are read in", True),
    ("{chest: [heart, lung], other: [NO, unknown]}", "{chest: [heart], other: [lung, NO, unknown]}", "ward",
     "the level 'chest' has other groups for 'lung'", True),
    ("{name: chest, tree", "{name: part, tree", "ward", "the level 'chest' is gone", True),
    ("{name: chest, tree", "{name: part, tree", "ward", "a new level 'part'", False),
    ("{property: invalid, value: level}", "{property: invalid, value: drop}", "town", "another fate of invalid", True),
    ("validValues: [heart, lung, NO]", "validValues: [heart, NO]", "ward", "row rules accept other values", True),
    ("          - {property: margins, value: age.csv}\n", "", "age", "other public margins", False),
    ("          - {property: privacyRole, value: sensitive}\n          - {property: domain, value: {from: 0,",
     "          - {property: privacyRole, value: other}\n          - {property: domain, value: {from: 0,", "dose",
     "another privacy role: sensitive before, other now", True),
]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize(("old", "new", "column", "words", "breaking"), CHANGES)
def test_each_difference_is_told_with_what_it_breaks(
    tmp_path: Path, old: str, new: str, column: str | None, words: str, breaking: bool
) -> None:
    text = CONTRACT.replace(", customProperties: [{property: delimiter, value: ;}]", "")
    assert old in text
    (tmp_path / "new").mkdir()
    first, second = write(tmp_path, text), write(tmp_path / "new", text.replace(old, new, 1))
    was, now = (read_contract(path, KNOWN.servers) for path in (first, second))
    (found,) = [each for each in contract_changes(was, now) if each.column == column and words in each.words]
    assert found.breaking is breaking
    assert contract_changes(was, was) == []


def test_a_breaking_difference_asks_for_a_major_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "new").mkdir()
    broken = CONTRACT.replace("- name: note", "- name: remark")
    first, second = write(tmp_path, CONTRACT), write(tmp_path / "new", broken)
    assert crowdgate("contract", "diff", first, first) == 0
    assert capsys.readouterr().out == "no difference\n"
    assert crowdgate("contract", "diff", first, second) == 3
    assert capsys.readouterr().out.splitlines() == [
        "breaking: 1 of 2 differences; write a new major version, after 1.0.0",
        "  breaking: note: the column is gone",
        "  not breaking: remark: a new column",
    ]
    assert crowdgate("contract", "diff", first, second, "--json") == 3
    assert [each["breaking"] for each in json.loads(capsys.readouterr().out)["changes"]] == [True, False]
    write(tmp_path / "new", broken.replace("version: 1.0.0", "version: 2.0.0"))
    assert crowdgate("contract", "diff", first, second) == 3
    assert capsys.readouterr().out.splitlines()[0] == "breaking: 1 of 3 differences"
