"""Programs that `python -m tests.benchmarks` compares do the same work, and the table says so."""

from datetime import date
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.benchmarks import core_work
from tests.benchmarks.__main__ import BASE, Row, page, table
from tests.benchmarks.people import make_people_workshop, write_people
from tests.benchmarks.processes import Cost


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("people") / "people.parquet"
    write_people(path, 2000)
    return path


def test_crowdgate_and_pyarrow_count_the_same_groups(data: Path, tmp_path: Path) -> None:
    policy = make_people_workshop(tmp_path / "copy", data, "0.5")
    found = core_work.count_by_pyarrow(data)
    assert found == core_work.count_by_crowdgate(policy)
    assert found[0] > 100


@pytest.mark.skipif(find_spec("duckdb") is None, reason="DuckDB is not installed")
def test_duckdb_counts_the_same_groups(data: Path) -> None:
    assert core_work.count_by_duckdb(data) == core_work.count_by_pyarrow(data)


@pytest.mark.skipif(find_spec("polars") is None, reason="Polars is not installed")
def test_polars_counts_the_same_groups(data: Path) -> None:
    assert core_work.count_by_polars(data) == core_work.count_by_pyarrow(data)


def test_a_page_of_the_table_says_when_and_on_what_it_was_measured() -> None:
    found = page("5 rows", "ours 1", date(2030, 1, 2))
    assert found.startswith("# Benchmarks")
    assert all(words in found for words in ("2030-01-02", "cores", "pyarrow ", "5 rows", "```text\nours 1\n```"))


def test_crowdgate_and_opendp_draw_the_same_number_of_cells() -> None:
    assert core_work.noise_by_crowdgate(100) == core_work.noise_by_opendp(100) == 100


def test_the_table_gives_ratios_to_the_imports_and_to_the_rival() -> None:
    rows = [Row(BASE, ["-c", ""]), Row("theirs", ["-c", ""]), Row("ours", ["-c", ""], "theirs"), Row("none", None)]
    costs = {BASE: Cost(0.2, 1), "theirs": Cost(0.4, 1), "ours": Cost(0.5, 1)}
    head, *lines = ([*line.split()] for line in table(rows, costs))
    assert head[-1] == "rival"
    assert lines[1:] == [["theirs", "0.40", "2.00"], ["ours", "0.50", "2.50", "1.25", "theirs"],
                         ["none", "not", "installed"]]  # fmt: skip


def test_a_rival_that_is_not_installed_leaves_no_ratio() -> None:
    rows = [Row(BASE, ["-c", ""]), Row("theirs", None), Row("ours", ["-c", ""], "theirs")]
    assert [*table(rows, {BASE: Cost(0.2, 1), "ours": Cost(0.5, 1)})][-1].split() == ["ours", "0.50", "2.50"]
