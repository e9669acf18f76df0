"""`crowdgate plan --from`: accepted and refused counts, and proposals that meet targets."""

import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml

from crowdgate.forecast.outlook import outlook
from crowdgate.kind.forecast import Basis
from crowdgate.number_text import Value
from tests.workshop import Workshop, crowdgate

TABLES = """\
  mechanism:
    kind: dp_tables
    levels: {age: 50 years, ward: exact}
    tables: [{total: true}, {all: 1}, {all: 2}]
  gates:
    - {measure: guarantee_epsilon, at_most: 2}
"""


def tables_policy(workshop: Workshop, text: str = TABLES) -> Path:
    """Write a policy of tables next to the workshop's and return its path."""
    policy = workshop.policy.read_text(encoding="utf-8")
    before, after = policy[: policy.index("  mechanism:")], policy[policy.index("  publish:") :]
    path = workshop.policy.with_name("tables.yaml")
    path.write_text(before.replace("name: clinic", "name: tables") + text + after, encoding="utf-8")
    return path


def released(workshop: Workshop, text: str = TABLES) -> Path:
    """Make a release of tables."""
    assert crowdgate("release", tables_policy(workshop, text), "--as-of", "2030-01-01") == 0
    return workshop.root / "releases" / "tables" / "1" / "2030-01-01"


def public(workshop: Workshop) -> None:
    workshop.edit(workshop.contract, "{property: rowsAtMost, value: 1000}",
                  "{property: rowsAtMost, value: 1000}\n      - {property: public, value: true}")  # fmt: skip


def figure(said: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in said["figures"] if each["name"] == name)


@pytest.mark.thorough
def test_a_verified_release_of_tables_is_what_a_plan_rests_on(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = released(workshop)
    capsys.readouterr()
    assert crowdgate("plan", workshop.policy, "--from", folder, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["from"] == {
        "source": "the published counts of release tables/1/2030-01-01",
        "population": "clinic-patients",
        "attributes_without_counts": [],
        "attributes_with_unknown_shares": {},
    }
    kept = figure(said, "kept_share")
    assert kept["basis"] == Basis.RELATED
    # 600 people: 100 of each pair of 2 ages and 3 wards, of which at k 22 and beta .5 all stay. The noise has a
    # standard error of 2 or less. At ten of them Bin(80, .5) is below 22 with probability 1.3e-5. The two empty cells
    # together add half a class only if their noise is above 38, where Bin(38, .5) reaches 22 with probability .21
    assert kept["low"] <= 1.0 <= kept["high"]
    assert kept["value"] > 0.95
    assert 6 - 6 * 1.3e-5 <= figure(said, "classes")["value"] <= 6.5
    assert len(said["expected_errors"]) == 3


@pytest.mark.thorough
def test_the_text_and_the_page_name_the_release_and_the_range(
    workshop: Workshop, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder, page = released(workshop), tmp_path / "plan.md"
    capsys.readouterr()
    assert crowdgate("plan", workshop.policy, "--from", folder, "--page", page) == 0
    shown = capsys.readouterr().out
    rests = "rest on the published counts of release tables/1/2030-01-01, of the population clinic-patients."
    assert rests in shown
    assert str(Basis.RELATED) in shown
    assert rests in page.read_text(encoding="utf-8")


def test_a_release_that_does_not_verify_is_refused(workshop: Workshop) -> None:
    folder = released(workshop)
    table = next(folder.glob("*age*.csv"))
    lines = table.read_text(encoding="utf-8").splitlines(keepends=True)
    table.write_text("".join([*lines, lines[-1]]), encoding="utf-8")
    assert crowdgate("plan", workshop.policy, "--from", folder) == 6


def test_rows_without_margins_are_refused(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 0
    capsys.readouterr()
    assert crowdgate("plan", workshop.policy, "--from", workshop.release_dir("2030-01-01")) == 2
    assert "rows alone do not show who is missing" in capsys.readouterr().err


def test_values_that_the_contract_does_not_have_are_refused(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = workshop.root / "elsewhere"
    shutil.move(released(workshop), folder)
    for old, new in (("[north, south, east]", "[north, south, west]"), ("north,5", "north,5")):
        path = workshop.contract if "[" in old else workshop.contract.with_name("ward.csv")
        workshop.edit(path, old, new)
    margins = workshop.contract.with_name("ward.csv")
    workshop.edit(margins, "east", "west")
    capsys.readouterr()
    assert crowdgate("plan", workshop.policy, "--from", folder) == 2
    refusal = capsys.readouterr().err
    assert "'ward': a value 'east' that no level has" in refusal


def test_a_table_is_counted_only_where_its_contract_says_that_it_is_public(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crowdgate("plan", workshop.policy, "--from", workshop.data) == 2
    assert "does not say that it is public" in capsys.readouterr().err
    copy = workshop.root / "copy.parquet"
    shutil.copy(workshop.data, copy)
    assert crowdgate("plan", workshop.policy, "--from", copy) == 2
    assert "no contract describes this table" in capsys.readouterr().err
    public(workshop)
    assert crowdgate("plan", workshop.policy, "--from", copy) == 2
    capsys.readouterr()
    assert crowdgate("plan", workshop.policy, "--from", workshop.data, "--json") == 0
    kept = figure(json.loads(capsys.readouterr().out), "kept_share")
    assert kept["basis"] == Basis.COUNTED
    assert kept["low"] <= kept["value"] <= kept["high"]


def test_a_table_of_two_contracts_is_public_only_if_both_say_so(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    other = workshop.contract.read_text(encoding="utf-8").replace("id: clinic\n", "id: hospital\n")
    public(workshop)
    workshop.contract.with_name("hospital.yaml").write_text(other, encoding="utf-8")
    assert crowdgate("plan", workshop.policy, "--from", workshop.data) == 2
    assert "contract hospital does not say that it is public" in capsys.readouterr().err


@pytest.mark.parametrize("beta", ["1", "0.1"])
def test_the_plan_of_tables_foretells_the_standard_errors_that_are_published(workshop: Workshop, beta: str) -> None:
    """Errors are known beforehand without a sample. With one, the squares over a table add up to a share of the total:
    the forecast has the true one, 600, and the release a noisy one, within four of its standard errors. False alarms
    have probability 6e-5; errors that are off by a half are seen with probability .99."""
    public(workshop)
    sampled = "" if beta == "1" else f"    sampling: {{beta: {beta}}}\n"
    text = TABLES.replace("    levels:", f"{sampled}    levels:")
    folder = released(workshop, text)
    expected = outlook(tables_policy(workshop, text), workshop.data).forecast.rows("expected")
    published = sorted(path for path in folder.glob("[0-9]*.parquet"))
    assert len(expected) == len(published) == 4
    off = 0 if beta == "1" else 4 * number(expected[0]["consistent_standard_error"]) / 600
    for row, path in zip(expected, published, strict=True):
        errors = pq.read_table(path)["standard_error"].to_numpy()
        squared = np.mean(errors**2) / number(row["consistent_standard_error"]) ** 2
        assert 1 - off - 1e-9 <= squared <= 1 + off + 1e-9


@pytest.mark.parametrize("beta", ["1", "0.1"])
def test_the_expected_share_of_trustworthy_counts_has_the_published_one(workshop: Workshop, beta: str) -> None:
    """Without a sample, cells of 100 or more have errors of 2 and are trustworthy. Three empty cells are not, unless
    their noise is above 6, four standard errors: false alarms below 1e-4. A sample of a tenth shows none well enough.
    """
    public(workshop)
    sampled = "" if beta == "1" else f"    sampling: {{beta: {beta}}}\n"
    text = TABLES.replace("    levels:", f"{sampled}    relative_error: 0.25\n    levels:")
    folder = released(workshop, text)
    forecast = outlook(tables_policy(workshop, text), workshop.data).forecast
    flags = [flag for path in folder.glob("[0-9]*.parquet") for flag in pq.read_table(path)["trustworthy"].to_pylist()]
    (share,) = (each for each in forecast.figures if each.name == "trusted_share")
    assert number(share.low) <= np.mean(flags) <= number(share.high)
    assert number(share.high) - number(share.low) <= 0.1


def test_what_is_proposed_for_rows_keeps_the_share_when_it_is_planned(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    public(workshop)
    options = ("--from", workshop.data, "--rows", "age,ward", "--keep", "0.8", "--json")
    assert crowdgate("plan", workshop.policy, *options) == 0
    (answer,) = json.loads(capsys.readouterr().out)["wishes"]
    (proposal,) = answer["proposals"]
    assert proposal["met"]
    policy = yaml.safe_load(workshop.policy.read_text(encoding="utf-8"))
    policy["spec"]["mechanism"] = proposal["mechanism"]
    policy["spec"]["gates"] = [{"measure": "guarantee_epsilon", "at_most": 2}]
    workshop.policy.write_text(yaml.safe_dump(policy), encoding="utf-8")
    found = outlook(workshop.policy, workshop.data).forecast
    (kept,) = (each for each in found.figures if each.name == "kept_share")
    assert isinstance(kept.low, float)
    assert kept.low >= 0.8


@pytest.mark.thorough
def test_where_rows_can_not_do_it_tables_are_advised(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    public(workshop)
    workshop.edit(workshop.policy, "{epsilon: 2, delta: 0.01}", "{epsilon: 0.6, delta: 1e-9}")
    options = ("--from", workshop.data, "--rows", "age,ward", "--keep", "0.99", "--json")
    assert crowdgate("plan", workshop.policy, *options) == 0
    (answer,) = json.loads(capsys.readouterr().out)["wishes"]
    assert answer["advice"].startswith("use tables")
    assert not any(each["met"] for each in answer["proposals"])


@pytest.mark.thorough
def test_tables_within_an_error_are_proposed_with_the_kind_that_reaches_it(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    public(workshop)
    options = ("--from", workshop.data, "--within", "0.3", "--above", "50", "--json")
    assert crowdgate("plan", workshop.policy, *options) == 0
    (answer,) = json.loads(capsys.readouterr().out)["wishes"]
    met = {each["mechanism"]["kind"]: each["met"] for each in answer["proposals"]}
    assert met["dp_tables"]
    assert all(each["reached"] <= 0.3 for each in answer["proposals"] if each["met"])
    assert crowdgate("plan", workshop.policy, "--from", workshop.data, "--within", "0.0001", "--json") == 0
    (answer,) = json.loads(capsys.readouterr().out)["wishes"]
    assert answer["advice"].startswith("no kind of release")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--within", "5 %"), "a number above 0 and at most 1"),
        (("--above", "10"), "--within ERROR as well"),
        (("--keep", "0.9"), "--rows COLUMNS as well"),
        (("--rows", "agee"), "write 'age'"),
        (("--rows", "patient"), "can't be released"),
        (
            ("--rows", "age"),
            "'age' has no public margins; expected margins in the contract, or --from with counts of it",
        ),
    ],
)
def test_a_wish_that_is_none_is_refused(
    workshop: Workshop, capsys: pytest.CaptureFixture[str], options: tuple[str, str], words: str
) -> None:
    assert crowdgate("plan", workshop.policy, *options) == 2
    assert words in capsys.readouterr().err


def with_margins(workshop: Workshop) -> None:
    workshop.edit(workshop.policy, "    attributes: {age: 50 years, ward: exact}",
                  "    attributes: {age: 50 years, ward: exact}\n    margins: {epsilon: 0.5}")  # fmt: skip


@pytest.mark.thorough
def test_rows_with_margins_tell_a_later_plan(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    with_margins(workshop)
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 0
    capsys.readouterr()
    assert crowdgate("plan", workshop.policy, "--from", workshop.release_dir("2030-01-01"), "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["from"]["source"] == "the published counts of release clinic/1/2030-01-01"
    assert figure(said, "kept_share")["basis"] == Basis.RELATED
    # 100 people in each of six classes; noise of standard error near 20 on each count
    assert figure(said, "kept_share")["value"] > 0.9


@pytest.mark.thorough
def test_the_plan_shows_what_margins_cost_and_recommends_what_is_best(workshop: Workshop) -> None:
    public(workshop)
    with_margins(workshop)
    found = outlook(workshop.policy, workshop.data).forecast
    without, own = found.rows("margins")
    assert (without["margins"], own["margins"]) == (0, Fraction(1, 2))
    assert without["weighted_error"] is None
    assert number(without["k"]) < number(own["k"]) == number(found.figure("k"))
    assert own["kept_share"] == found.figure("kept_share")
    (best,) = found.rows("recommended_margins")
    assert number(best["weighted_error"]) <= number(own["weighted_error"])


def number(value: Value) -> float:
    assert isinstance(value, int | float | Fraction)
    return float(value)
