"""Margins from a statistical office's table: with a title, a total, footnotes and thousands separators."""

import csv
from pathlib import Path

import pytest

from crowdgate.contracts.reading import read_contract
from crowdgate.planning.bundle import KNOWN
from tests.contracts.clinic import CONTRACT, problems_of, write

TABLE = """\
"Table 7: Patients by ward, 2024",,
,,
Ward,Region,Patients (end of year)
heart (1),all,"1,204"
lung,all,301 (p)
NO,all,0
Wards together,all,"1,505"
,,
(1) With the day clinic.,,
Source: Office of Statistics,,
"""
STATED = "{file: wards.csv, value: Ward, count: Patients (end of year), total: Wards together}"
DOMAIN = "{property: domain, value: {values: [heart, lung, NO, unknown], source: book}}"


def contract(folder: Path, table: str, stated: str = STATED) -> Path:
    path = write(folder, CONTRACT.replace(DOMAIN, f"{DOMAIN}\n          - {{property: margins, value: {stated}}}"))
    (folder / "wards.csv").write_text(table, encoding="utf-8")
    return path


@pytest.mark.parametrize("table", [TABLE, TABLE.replace('"1,204"', "1204").replace(",", ";"), "\ufeff" + TABLE])
def test_counts_are_read_from_the_table_as_it_was_published(tmp_path: Path, table: str) -> None:
    path = contract(tmp_path, table.replace('"1;505"', "1 505"))
    found = read_contract(path, KNOWN.servers)
    assert found.by_name["ward"].margins == (1204, 301, 0, 0)
    assert tmp_path / "wards.csv" in found.files


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ('"1,505"', '"1,530"', 7, "the total 1530, where all counts add up to 1505"),
        ("lung,", "lungs,", 5, "the value 'lungs'"),
        ("lung,", "heart,", 5, "a second line for the value 'heart'"),
        ("NO,all,0", "NO,all,..", 6, "the count '..'"),
        ("NO,all,0", "NO,all,", 6, "the count ''"),
        ("NO,all,0", 'NO,all,"1,5"', 6, "the count '1,5'"),
        ("Wards together", "All", 7, "the value 'All'"),
        ('"1,505"', '"1,510"', 7, "the total 1510, where all counts add up to 1505"),  # unknown has no line
        ('Wards together,all,"1,505"\n', "", None, "0 lines of the total 'Wards together'"),
        ("NO,all,0", 'Wards together,all,"1,500"\nNO,all,0', None, "2 lines of the total 'Wards together'"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_at_its_line(
    tmp_path: Path, old: str, new: str, line: int | None, words: str
) -> None:
    assert old in TABLE
    (problem,) = problems_of(contract(tmp_path, TABLE.replace(old, new)))
    assert (Path(problem.file).name, problem.line, problem.found) == ("wards.csv", line, words)


def test_rounded_counts_need_not_add_up_exactly(tmp_path: Path) -> None:
    path = contract(tmp_path, TABLE.replace('"1,505"', '"1,510"').replace("NO,all", "unknown,all,0\nNO,all"))
    assert sum(read_contract(path, KNOWN.servers).by_name["ward"].margins or ()) == 1505


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        (STATED.replace("Ward,", "Wards,"), "no line of wards.csv names, once each, the columns 'Wards' and"),
        (STATED.replace("wards.csv", "gone.csv"), "the file 'gone.csv' can't be read"),
        (STATED.replace("total", "sum"), "an unknown key"),
    ],
)
def test_what_the_contract_says_of_the_table_must_be_there(tmp_path: Path, stated: str, words: str) -> None:
    (problem,) = problems_of(contract(tmp_path, TABLE, stated))
    assert words in problem.found
    assert Path(problem.file).name == "clinic.yaml"


def test_a_table_that_names_a_column_twice_is_refused(tmp_path: Path) -> None:
    (problem,) = problems_of(contract(tmp_path, TABLE.replace("Region", "Ward")))
    assert "no line of wards.csv names, once each, the columns" in problem.found


def test_a_table_that_is_no_csv_is_refused(tmp_path: Path) -> None:
    longest = csv.field_size_limit(1000)
    try:
        (problem,) = problems_of(contract(tmp_path, TABLE.replace("Source", '"' + "x" * 2000)))
    finally:
        csv.field_size_limit(longest)
    assert "no line of wards.csv names, once each, the columns" in problem.found
