"""The bundled policy on the bundled data: it publishes, each gate can withhold, and the budget ends releases."""

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from crowdgate.ledger.ledger import open_ledger
from crowdgate.releases.working_copy import DEMO_POLICY, DEMO_TABLES, bundled, init
from crowdgate.verification.release import verify
from tests.workshop import crowdgate

POPULATION = "us-cps-1994-95"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return init(tmp_path / "copy", "test")


def spent(copy: Path) -> float:
    return float(open_ledger(f"sqlite:///{copy / 'ledger' / 'ledger.db'}", None).spent(POPULATION).epsilon)


TIGHTER = {
    "guarantee_epsilon": ("guarantee_epsilon, at_most: 1}", "guarantee_epsilon, at_most: 0.99}", 0),
    "guarantee_delta": ("guarantee_delta, at_most: 1e-9}", "guarantee_delta, at_most: 9e-10}", 0),
    "pso_bound": ("pso_bound, at_most: 0.02", "pso_bound, at_most: 0.0009", 0),
    "expected_singletons": ("expected_singletons, at_most: 100", "expected_singletons, at_most: 20", 0),
    "singletons": (
        "singletons, at_most: 500, charge: {share: 0.05}",
        "singletons, at_most: 9, charge: {share: 0.25}",
        1,
    ),
    "released_rows": ("released_rows, at_least: 80000", "released_rows, at_least: 95000", 1),
    "released_classes": ("released_classes, at_least: 200", "released_classes, at_least: 300", 1),
    "represented_share": ("represented_share, at_least: 0.9", "represented_share, at_least: 0.999", 1),
    "worst_share_error": ("worst_share_error, at_most: 0.05", "worst_share_error, at_most: 0.000001", 1),
    "margins_met": ("margins_met, at_least: 0.3", "margins_met, at_least: 0.999", 1),
    "absent_values": (
        "absent_values, at_most: 0, with: {size: 10000}",
        "absent_values, at_most: 0, with: {size: 1, ways: 2}",
        1,
    ),
    "effective_rows": ("effective_rows, at_least: 40000", "effective_rows, at_least: 95000", 1),
}


@pytest.mark.thorough
@pytest.mark.parametrize("measure", TIGHTER)
def test_every_blocking_gate_of_the_bundled_policy_can_withhold(
    copy: Path, measure: str, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = copy / DEMO_POLICY
    text = policy.read_text()
    old, new, cost = TIGHTER[measure]
    assert old in text
    policy.write_text(text.replace(old, new))
    assert crowdgate("release", policy, "--as-of", "2030-01-01", "--json") == 3
    ended = json.loads(capsys.readouterr().out)
    assert (ended["outcome"], ended["path"]) == ("withheld", None)
    (failed,) = [verdict for verdict in ended["verdicts"] if verdict["outcome"] != "pass"]
    assert failed["gate"].startswith(measure)
    assert "must be at" in failed["reason"]
    assert [path for path in (copy / "releases").rglob("*") if path.is_file() and path.suffix != ".head"] == []
    assert spent(copy) == cost


def test_the_bundled_table_names_every_blocking_gate() -> None:
    gates = yaml.safe_load((bundled("policies").parent / DEMO_POLICY).read_text())["spec"]["gates"]
    assert [gate["measure"] for gate in gates if gate.get("severity") != "advise"] == list(TIGHTER)


@pytest.mark.thorough
def test_the_bundled_budget_allows_four_releases(copy: Path) -> None:
    codes = [crowdgate("release", copy / DEMO_POLICY, "--as-of", f"2030-01-0{day}") for day in range(1, 7)]
    assert codes == [0, 0, 0, 0, 5, 5]
    assert spent(copy) == 4


@pytest.mark.thorough
def test_no_cell_of_a_bundled_release_runs_in_a_spreadsheet(copy: Path) -> None:
    assert crowdgate("release", copy / DEMO_POLICY, "--as-of", "2030-01-01") == 0
    folder = copy / "releases" / "census-income" / "2" / "2030-01-01"
    for name in ("data.csv", "dictionary.csv"):
        with (folder / name).open(newline="") as file:
            assert not any(cell.startswith(tuple("=+-@\t\r")) for row in csv.reader(file) for cell in row)


@pytest.mark.thorough
def test_both_formats_hold_the_same_rows(copy: Path) -> None:
    assert crowdgate("release", copy / DEMO_POLICY, "--as-of", "2030-01-01") == 0
    folder = copy / "releases" / "census-income" / "2" / "2030-01-01"
    with (folder / "data.csv").open(newline="") as file:
        header, *rows = list(csv.reader(file))
    table = pq.read_table(folder / "data.parquet")
    assert table.column_names == header
    assert list(zip(*(column.to_pylist() for column in table.columns), strict=True)) == [
        (*row[:-1], float(row[-1])) for row in rows
    ]


TIGHTER_TABLES = {
    "guarantee_epsilon": ("guarantee_epsilon, at_most: 1}", "guarantee_epsilon, at_most: 0.99}", 0),
    "pso_bound": ("pso_bound, at_most: 0.02", "pso_bound, at_most: 0.0011", 0),
    "trusted_share": ("trusted_share, at_least: 0.6", "trusted_share, at_least: 0.99", 1),
    "total_relative_error": ("total_relative_error, at_most: 0.001", "total_relative_error, at_most: 0.00001", 1),
}


@pytest.mark.thorough
@pytest.mark.parametrize("measure", TIGHTER_TABLES)
def test_every_blocking_gate_of_the_bundled_tables_can_withhold(copy: Path, measure: str) -> None:
    old, new, cost = TIGHTER_TABLES[measure]
    text = (copy / DEMO_TABLES).read_text()
    assert old in text
    (copy / DEMO_TABLES).write_text(text.replace(old, new))
    assert crowdgate("release", copy / DEMO_TABLES, "--as-of", "2030-01-01") == 3
    assert spent(copy) == cost


@pytest.mark.thorough
def test_the_bundled_tables_are_published_and_verify(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("demo", "--tables", copy) == 0
    path = Path(capsys.readouterr().out.strip().splitlines()[-1])
    claims = verify(path, f"sqlite:///{copy / 'ledger' / 'ledger.db'}").manifest.to_json()
    assert len(claims["data"]["tables"]) == 24
    total = pq.read_table(path / "01-count.parquet")["value"][0].as_py()
    assert abs(total - 299_285) < 200  # the standard error is 18


SYNTHETIC = "policies/census_income_synthetic.yaml"
TIGHTER_SYNTHETIC = {
    "guarantee_epsilon": ("guarantee_epsilon, at_most: 1}", "guarantee_epsilon, at_most: 0.99}", 0),
    "pso_bound": ("pso_bound, at_most: 0.02", "pso_bound, at_most: 0.0011", 0),
    "synthetic_pair_error": ("synthetic_pair_error, at_most: 0.1", "synthetic_pair_error, at_most: 0.00001", 1),
    "synthetic_mean_error": ("synthetic_mean_error, at_most: 0.01", "synthetic_mean_error, at_most: 0.00001", 1),
    "trusted_pairs": ("trusted_pairs, at_least: 0.95", "trusted_pairs, at_least: 1", 1),
}


@pytest.mark.thorough
@pytest.mark.parametrize("cost", [0, 1])
def test_every_blocking_gate_of_the_bundled_synthetic_rows_can_withhold(
    copy: Path, cost: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """All static gates are tested at once, and all of the released rows at once: on three columns, to save time."""
    policy, tighter = copy / SYNTHETIC, {name: of for name, of in TIGHTER_SYNTHETIC.items() if of[2] == cost}
    text = policy.read_text()
    for old, new, _ in tighter.values():
        assert old in text
        text = text.replace(old, new)
    quick = yaml.safe_load(text)
    mechanism = quick["spec"]["mechanism"]
    mechanism["attributes"] = {name: mechanism["attributes"][name] for name in ("sex", "race", "income")}
    mechanism |= {"impossible": [], "pair_error": 0.0001}
    policy.write_text(yaml.safe_dump(quick))
    assert crowdgate("release", policy, "--as-of", "2030-01-01", "--json") == 3
    verdicts = json.loads(capsys.readouterr().out)["verdicts"]
    assert [each["gate"].split()[0] for each in verdicts if each["outcome"] == "fail"] == list(tighter)
    assert spent(copy) == cost


def test_the_bundled_synthetic_policy_names_every_blocking_gate() -> None:
    gates = yaml.safe_load((bundled("policies").parent / SYNTHETIC).read_text())["spec"]["gates"]
    assert [gate["measure"] for gate in gates] == list(TIGHTER_SYNTHETIC)


@pytest.mark.thorough
def test_the_comparison_of_many_columns_says_that_the_rows_that_stay_are_unknown(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crowdgate("plan", copy / SYNTHETIC, "--compare", "--json") == 0
    found = json.loads(capsys.readouterr().out)["compared"]
    assert len(found["tables"]) == 10 + 45
    _, rows, tables = found["which"]
    assert "unknown" in rows
    assert "unknown" not in tables
