"""Releases from a contract that makes one row of all rows of a person: published, described, verified, refused."""

from fractions import Fraction
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from crowdgate.api import read_release
from crowdgate.contracts.reading import read_contract
from crowdgate.errors import ConfigurationError, VerificationFailed
from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.planning.bundle import KNOWN
from crowdgate.planning.plan import plan_policy
from crowdgate.releases import release as job
from crowdgate.review.contract_diff import contract_changes
from tests.forging import reseal
from tests.workshop import Row, Workshop, crowdgate, make_workshop, verified

SLOT = "2030-01-01"
VALUES = """\
      - property: personValues
        value:
          age: {greatest: age}
          ward: {same: ward}
          ever_north: {any: ward, values: [north]}
          visits: {count: age, most: 4}
"""
MECHANISM = """\
  mechanism:
    kind: dp_tables
    noise: laplace
    levels: {age: 50 years, ever_north: exact}
    tables:
      - {total: true}
      - {all: 2}
      - {attributes: {ward: exact}}
      - {sum: visits, by: [ever_north]}
  gates:
    - {measure: pso_bound, at_most: 1}
  publish: {to: releases, formats: [parquet, csv]}
"""


def visits(people: int) -> list[Row]:
    """Rows of persons with one to four visits each, of which the first half has one in the north."""
    wards = ("south", "east")
    return [
        {
            "patient": f"p{person}", "age": 20 + 10 * visit, "note": "",
            "ward": "north" if visit == 0 and person < people // 2 else wards[person % 2],
        }
        for person in range(people)
        for visit in range(1 + person % 4)
    ]  # fmt: skip


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    made = make_workshop(tmp_path / "w")
    made.edit(made.contract, "{property: privacyUnit, value: row}", "{property: privacyUnit, value: {person: patient}}")
    made.edit(made.contract, "    properties:\n", f"{VALUES}    properties:\n")
    made.edit(made.budget, "unit: row", "unit: 'person:patient'")
    text = made.policy.read_text(encoding="utf-8")
    made.policy.write_text(text[: text.index("  mechanism:")] + MECHANISM, encoding="utf-8")
    made.write(visits(400))
    return made


def released(workshop: Workshop) -> Path:
    path = job.release(Request(workshop.policy, SLOT), draw_key).path
    assert path is not None
    return path


def test_a_release_counts_each_person_once_and_says_how(workshop: Workshop) -> None:
    path = released(workshop)
    claims = verified(path, workshop.ledger)
    assert claims["mechanism"]["rows_per_unit"] == 1
    assert claims["estimand"]["persons"]["ever_north"] == {"rule": "any", "column": "ward", "values": ["north"]}
    readme = (path / "README.md").read_text(encoding="utf-8")
    assert "Every person counts once, with one row that is made of all of the person's rows" in readme
    assert "ever_north is yes if at least one row of the person has ward north, otherwise no." in readme
    assert "ever_north is yes if at least one row" in (path / "dictionary.csv").read_text(encoding="utf-8")
    # 400 persons, 1,000 rows: noise of scale 4 / 2 differs by 60 with a probability below 1e-12
    (total,) = pq.read_table(path / "1-count.parquet")["value"].to_pylist()
    assert abs(total - 400) < 60
    table = pq.read_table(path / "2-count-by-age-50-years-ever-north-exact.parquet").to_pydict()
    assert set(table["ever_north"]) == {"no", "yes"}
    assert abs(sum(n for n, ever in zip(table["value"], table["ever_north"], strict=True) if ever == "yes") - 200) < 60


# 100 persons each have 1, 2, 3 and 4 rows, so shares of .6 and .95 are 40 and 80 persons away from another bin. Four
# numbers with noise of scale 2, of weights of .6 at most, differ by 40 with a probability below 1e-6.
def test_quantiles_of_the_rows_of_a_person_tell_which_bound_cuts_off_few(workshop: Workshop) -> None:
    workshop.edit(
        workshop.policy, "{sum: visits, by: [ever_north]}", "{quantiles: visits, level: exact, at: [0.6, 0.95]}"
    )
    tables = {path.name: path for path in released(workshop).glob("4-quantiles*.parquet")}
    (found,) = (pq.read_table(path).to_pydict() for path in tables.values())
    assert found["bin"] == ["3", "4+"]


def test_a_difference_in_how_persons_are_made_is_told(workshop: Workshop) -> None:
    was = read_contract(workshop.contract, KNOWN.servers)
    for old, new, words in (
        ("any: ward, values: [north]", "all: ward, values: [north]", "another way to make a person's value"),
        ("values: [north, south, east]", "values: [north, south, east, west]", "new values: 'west'"),
    ):
        text = workshop.contract.read_text(encoding="utf-8")
        workshop.edit(workshop.contract, old, new)
        found = contract_changes(was, read_contract(workshop.contract, KNOWN.servers))
        assert any(words in each.words for each in found), [each.words for each in found]
        workshop.contract.write_text(text, encoding="utf-8")


def test_the_sensitivity_is_that_of_one_row_whatever_the_rows_of_a_person(workshop: Workshop) -> None:
    queries = verified(released(workshop), workshop.ledger)["mechanism"]["queries"]
    assert [query["sensitivity"] for query in queries] == [1, 1, 1, 4]


def test_explain_check_plan_and_rehearse_know_persons(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("explain", workshop.policy) == 0
    assert "All rows of a person make the one row" in " ".join(capsys.readouterr().out.split())
    assert crowdgate("contract", "show", workshop.contract) == 0
    assert "ever_north (quasi-identifier): ever_north is yes if at least one row" in capsys.readouterr().out
    for command in ("check", "plan", "rehearse"):
        assert crowdgate(command, workshop.policy) == 0, capsys.readouterr().err
    capsys.readouterr()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("{person: patient}", "{person: patient, rows: 3}", "a table of persons has one row of each"),
        ("any: ward, values: [north]", "any: ward", "`values` beside any or all"),
        ("any: ward, values: [north]", "any: ward, values: [nort]", "values of its domain"),
        ("any: ward, values: [north]", "any: ward, same: ward", "exactly one of any, all, count"),
        ("any: ward, values: [north]", "anny: ward, values: [north]", "one of any, all, count, same"),
        ("count: age, most: 4", "count: age", "`most` beside count"),
        ("same: ward", "same: note", "a column of this contract with a domain"),
        ("ever_north: {any", "note: {any", "another name"),
    ],
)
def test_a_wrong_rule_is_refused_with_what_to_write(workshop: Workshop, old: str, new: str, told: str) -> None:
    workshop.edit(workshop.contract, old, new)
    with pytest.raises(ConfigurationError) as caught:
        plan_policy(workshop.policy)
    assert told in " ".join(problem.expected for problem in caught.value.problems)


def test_rows_of_persons_are_no_attributes_of_the_policy(workshop: Workshop) -> None:
    workshop.edit(workshop.contract, "          ward: {same: ward}\n", "")
    with pytest.raises(ConfigurationError) as caught:
        plan_policy(workshop.policy)
    assert "unknown attribute 'ward'" in " ".join(problem.found for problem in caught.value.problems)


def test_truncated_people_can_not_be_asked_for(workshop: Workshop) -> None:
    gate = "    - {measure: truncated_people, at_most: 0.1, charge: {epsilon: 0.1}}\n"
    workshop.edit(workshop.policy, "  gates:\n", f"  gates:\n{gate}")
    with pytest.raises(ConfigurationError) as caught:
        plan_policy(workshop.policy)
    assert "nobody has more rows than are used" in caught.value.problems[0].found


def test_labels_that_a_rule_can_not_give_do_not_verify(workshop: Workshop) -> None:
    path = released(workshop)
    other = {"rule": "same", "column": "ward"}
    reseal(path, lambda claims: claims["estimand"]["persons"].update(ever_north=other))
    with pytest.raises(VerificationFailed, match="invalid cells that the manifest states"):
        verified(path)


def test_safe_rows_of_persons_are_released(workshop: Workshop) -> None:
    text = workshop.policy.read_text(encoding="utf-8")
    rows = """\
  mechanism:
    kind: safe_k_anonymity
    sampling: {beta: 0.5}
    attributes: {ever_north: exact, visits: exact}
  gates:
    - {measure: pso_bound, at_most: 1}
  publish: {to: releases, formats: [csv]}
"""
    workshop.policy.write_text(text[: text.index("  mechanism:")] + rows, encoding="utf-8")
    path = released(workshop)
    claims = verified(path, workshop.ledger)
    assert Fraction(claims["guarantee"]["epsilon"]) <= 2
    held = read_release(path).frames["data"]
    assert {*held["ever_north"]} == {"no", "yes"}
    assert {*held["visits"]} == {"1", "2", "3", "4+"}
    assert 100 < len(held) < 300  # half of 400 persons, 10 standard deviations; a row each would be 500
    assert claims["estimand"]["persons"]["visits"] == {"rule": "count", "column": "age", "most": 4}
