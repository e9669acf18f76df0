"""Predictions for groups of people by attributes of a contract, in a plan, and in the custodian's record."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.anonymity.predict.coarser import FINEST, coarser_levels
from crowdgate.anonymity.predict.group import PredictionTargets, predict_group
from crowdgate.anonymity.predict.laws import INDEPENDENT, JOINT, with_decline
from crowdgate.anonymity.predict.subject import subject_of
from crowdgate.releases.working_copy import bundled
from crowdgate.risk import degrees
from crowdgate.risk.bins import Bins
from crowdgate.risk.class_sizes import ClassSizes
from crowdgate.risk.drawn_groups import most_singletons
from crowdgate.risk.margins_only import singletons_bounds
from crowdgate.risk.prediction import predict_singletons
from crowdgate.risk.singletons import expected
from tests.examples import examples
from tests.forecast.test_plan_from import TABLES, public, released
from tests.kinds.registers import register_workshop
from tests.reports import listings_of
from tests.workshop import Workshop, crowdgate

CENSUS = bundled("data_contracts") / "census_income.yaml"


def margins(workshop: Workshop) -> None:
    """Give the contract public margins of age as well."""
    (workshop.contract.parent / "age.csv").write_text(
        "value,count\n" + "".join(f"{age if age < 99 else '99+'},{1 + age % 3}\n" for age in range(100)),
        encoding="utf-8",
    )
    workshop.edit(workshop.contract, "{name: 50 years, width: 50}]}",
                  "{name: 50 years, width: 50}]}\n          - {property: margins, value: age.csv}")  # fmt: skip


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    capsys.readouterr()
    assert crowdgate("predict", *arguments, "--json") == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_without_counts_attributes_fall_independently_by_their_margins(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    margins(workshop)
    found = said(capsys, workshop.contract, "--people", "7,40", "--of", "ward,age=50 years")
    assert found["population"] == 1000
    low = sum(1 + age % 3 for age in range(50))
    ages = np.array([low, sum(1 + age % 3 for age in range(100)) - low])
    for row, people in zip(found["alone"], (7, 40), strict=True):
        foretold = predict_singletons(Bins.from_counts(np.outer(ages, [5, 3, 2])), people)
        assert row["by"] == INDEPENDENT
        assert row["singletons"] == pytest.approx(foretold.singletons, rel=1e-12)
        assert row["spread"] == pytest.approx(foretold.spread, rel=1e-12)
        assert row["at_least_one"] == pytest.approx(foretold.at_least_one, rel=1e-9)
        assert [row[f"up_to_{size}"] for size in foretold.shares] == pytest.approx([*foretold.shares.values()])
        bounds = singletons_bounds([ages / ages.sum(), [0.5, 0.3, 0.2]], people)
        in_a_table = sum(min(people * share, 2) for share in (0.5, 0.3, 0.2))  # two ages, six classes at most
        assert [row["low"], row["high"]] == pytest.approx([bounds.low, max(bounds.high, in_a_table)])
        assert row["low"] <= row["singletons"] <= row["high"]
        assert row["small_low"] <= row["up_to_5"] <= row["small_high"]
    (told,) = found["degrees"]
    classes = Bins.from_counts(np.outer(ages, [5, 3, 2]))
    assert (told["classes"], told["shannon"]) == pytest.approx((8, degrees.shannon_entropy(classes)))
    assert told["likeliest"] == "probable innocence"
    notes = " ".join(found["notes"])
    for words in ("as if attributes were independent", "who knows that the person is among these people", "more alike"):
        assert words in notes


def test_the_ends_of_independence_stand_in_terminal_and_page(
    workshop: Workshop, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    margins(workshop)
    page = tmp_path / "page.md"
    assert crowdgate("predict", workshop.contract, "--of", "ward,age=50 years", "--page", page) == 0
    for text in (capsys.readouterr().out, page.read_text(encoding="utf-8").lower()):
        assert "the least and the most by any joint law with these margins" in text
    assert "Bits of information in the answers of a person" in page.read_text(encoding="utf-8")
    (row,) = said(capsys, workshop.contract, "--of", "ward", "--people", "20")["alone"]
    assert (row["low"], row["high"]) == (None, None)


def test_all_quasi_identifiers_exact_are_the_default_and_the_population_is_the_budgets() -> None:
    found = subject_of(CENSUS, None, None)
    assert found.people == 300_000
    assert [*found.levels] == [name for name, each in found.contract.by_name.items() if each.role == "quasi-identifier"]
    assert {level.name for level in found.levels.values()} == {"exact"}


def test_a_release_relates_attributes_and_independence_stands_beside_it(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    # at epsilon 40 hardly any count has noise
    workshop.edit(workshop.policy, "epsilon: 2", "epsilon: 40")
    workshop.edit(workshop.budget, "epsilon: 6", "epsilon: 40")
    folder = released(workshop, TABLES.replace("at_most: 2", "at_most: 40"))
    found = said(capsys, workshop.contract, "--from", folder, "--of", "age=50 years,ward", "--people", "20")
    assert [row["by"] for row in found["alone"]] == [JOINT, INDEPENDENT, f"{JOINT} less {INDEPENDENT}"]
    first, second, apart = found["alone"]
    assert first["low"] <= first["singletons"] <= first["high"]
    assert apart["singletons"] == pytest.approx(first["singletons"] - second["singletons"])
    assert found["from"]["source"] == "the published counts of release tables/1/2030-01-01"
    # 100 people of each of 6 pairs; the contract's margins of wards are 5, 3 and 2
    assert first["singletons"] == pytest.approx(predict_singletons(Bins.uniform(6), 20).singletons, abs=0.1)


def test_counts_that_would_relate_too_many_classes_are_refused_before_they_are_read(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert crowdgate("predict", CENSUS, "--from", "nowhere", "--of", "age,education,industry,weeks_worked") == 2
    assert "2049775 classes; expected at most 1048576 classes" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--of", "agee"], "'agee' is not an attribute of contract clinic with a domain; expected one of age, "
            "ward; write"),
        (["--of", "ward=exat"], "'ward' has no level 'exat'; expected one of exact, any; write 'exact'"),
        (["--of", "ward,ward"], "an attribute is listed twice"),
        (["--of", "ward", "--people", "0"], "'0'; expected a whole number from 1 to 1000"),
        (["--of", "ward", "--people", "20,1001"], "'1001'; expected a whole number from 1 to 1000"),
        (["--of", "ward", "--people", "2.5"], "'2.5'; expected a whole number"),
        (["--of", "ward", "--population", "0"], "'0'; expected a whole number from 1 to 1000000000000"),
        (["--of", "ward", "--at-most", "1.5"], "expected a share from 0 to 1"),
        (["--of", "ward", "--cost", "-1"], "expected a number of at least 0"),
        (["--of", "age"], "'age' has no public margins; expected margins in the contract, --from"),
        (["--of", "ward", "--page", "x.txt"], "write 'x.html'"),
    ],
)  # fmt: skip
def test_a_wrong_option_is_one_error(
    workshop: Workshop, capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    assert crowdgate("predict", workshop.contract, *options) == 2
    told = capsys.readouterr().err.strip().splitlines()
    assert len(told) == 1
    assert words in told[0]


def test_outside_a_working_copy_the_population_is_asked_for(
    workshop: Workshop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = tmp_path / "alone"
    alone.mkdir()
    for name in ("clinic.yaml", "ward.csv"):
        (alone / name).write_bytes((workshop.contract.parent / name).read_bytes())
    assert crowdgate("predict", alone / "clinic.yaml", "--of", "ward") == 2
    assert "no budget of the population clinic-patients states how many people" in capsys.readouterr().err
    assert said(capsys, alone / "clinic.yaml", "--of", "ward", "--population", "50")["population"] == 50


# widths and group sizes

AGES = coarser_levels(subject_of(CENSUS, "age", None).contract.by_name["age"])


def test_the_finest_level_or_width_that_leaves_few_enough_alone_is_marked(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    margins(workshop)
    found = said(capsys, workshop.contract, "--of", "age,ward", "--people", "100", "--at-most", "0.1")
    of_age = [row for row in found["widths"] if row["attribute"] == "age"]
    assert [row["level"] for row in of_age] == [
        "exact", "intervals of 2", "intervals of 5", "10 years", "intervals of 20", "50 years", "any",
    ]  # fmt: skip
    shares = [row["share_alone"] for row in of_age]
    (finest,) = (at for at, row in enumerate(of_age) if row["meets"] == FINEST)
    assert all(share > 0.1 for share in shares[:finest])
    assert shares[finest] <= 0.1
    (least,) = found["group_sizes"]
    assert least["share_alone"] <= 0.1
    one_less = said(capsys, workshop.contract, "--of", "age,ward", "--people", str(least["people"] - 1))
    assert one_less["alone"][0]["share_alone"] > 0.1


@settings(max_examples=examples(20), deadline=None, derandomize=True)
@given(counts=st.lists(st.integers(0, 5), min_size=91, max_size=91).filter(any), people=st.integers(1, 500))
def test_intervals_that_nest_never_leave_more_people_alone(counts: list[int], people: int) -> None:
    shares = []
    for level in AGES:
        if level.name in ("exact", "10 years", "20 years", "any"):
            merged = np.bincount(level.of_values, counts, minlength=len(level))
            shares.append(expected(Bins.from_counts(merged), people))
    assert all(finer >= coarser - 1e-9 for finer, coarser in pairwise(shares))


@settings(max_examples=examples(30), deadline=None, derandomize=True)
@given(
    cells=st.lists(st.floats(0, 100), min_size=6, max_size=6),
    first=st.floats(0, 0.9),
    second=st.floats(0, 0.9),
)
def test_who_declines_is_a_value_more_and_nobody_is_lost(cells: list[float], first: float, second: float) -> None:
    table = np.array(cells).reshape(2, 3)
    found = with_decline(table, [first, second])
    assert found.shape == (2 + (first > 0), 3 + (second > 0))
    assert found.sum() == pytest.approx(table.sum())
    assert found[:2, :3] == pytest.approx(table * (1 - first) * (1 - second))


# plan and record


@pytest.mark.thorough
def test_a_plan_foretells_who_is_alone_with_what_is_counted(
    workshop: Workshop, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    margins(workshop)
    capsys.readouterr()
    assert crowdgate("plan", workshop.policy, "--json", "--page", tmp_path / "plan.md") == 0
    (row,) = json.loads(capsys.readouterr().out)["prediction"]
    found = predict_group(workshop.contract, "age=50 years,ward", None, None, PredictionTargets())
    alone = listings_of(found)[0].rows[0]
    assert row["singletons"] is None  # two attributes, by margins alone
    assert (row["low"], row["high"]) == (alone["low"], alone["high"])
    assert row["people"] == 1000
    page = (tmp_path / "plan.md").read_text(encoding="utf-8")
    assert "People expected to be unique in the table by all that is counted" in page
    assert crowdgate("plan", workshop.policy) == 0
    assert "people expected to be unique in the table" in capsys.readouterr().out


def test_a_plan_by_counts_shows_joint_figures_beside_independence(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    public(workshop)
    assert crowdgate("plan", workshop.policy, "--from", workshop.data, "--json") == 0
    rows = json.loads(capsys.readouterr().out)["prediction"]
    assert [row["by"] for row in rows][:2] == [JOINT, INDEPENDENT]


def test_a_plan_of_which_too_little_is_known_says_nothing(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crowdgate("plan", workshop.policy, "--json") == 0
    assert json.loads(capsys.readouterr().out)["prediction"] == []


def test_the_record_shows_the_prediction_beside_what_was_observed(
    workshop: Workshop, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    margins(workshop)
    workshop.edit(workshop.policy, "age: 50 years", "age: exact")
    monkeypatch.chdir(workshop.root)
    assert crowdgate("release", workshop.policy, "--as-of", "2030-01-01") == 0
    published = b"".join(each.read_bytes() for each in workshop.release_dir("2030-01-01").rglob("*") if each.is_file())
    assert b"prediction" not in published
    capsys.readouterr()
    assert crowdgate("record", "show", "clinic/1/2030-01-01", "--json") == 0
    found = json.loads(capsys.readouterr().out)["record"]["prediction"]
    # ages 17 i mod 100 by wards i mod 3: 300 combinations, each of two people
    assert (found["rows"], found["observed"]["alone"]) == (600, 0)
    assert found["observed"]["share in groups up to 5"] == 1
    ages = [1 + age % 3 for age in range(100)]
    foretold = predict_singletons(Bins.from_counts(np.outer(ages, [5, 3, 2])), 600)
    assert found["expected by independent margins"]["alone"] == pytest.approx(foretold.singletons)


def test_joint_counts_of_the_contract_relate_attributes_and_a_gate_says_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clinic = register_workshop(tmp_path)
    found = said(capsys, clinic.contract, "--people", "20", "--of", "ward,age=50 years")
    joint = {row["by"]: row for row in found["alone"]}[JOINT]
    assert joint["singletons"] == pytest.approx(expected(Bins.from_counts([30, 20, 10, 38, 2]), 20), rel=1e-9)
    assert found["from"]["source"] == "the joint public counts of the contract"
    assert crowdgate("check", clinic.policy, "--json") == 0
    verdicts = json.loads(capsys.readouterr().out)["policies"][0]["verdicts"]
    reasons = [each["reason"] for each in verdicts if each["gate"].startswith("expected_singletons")]
    worst = most_singletons(ClassSizes.of(np.array([30, 20, 10, 38, 2])), 1, 20)
    assert any(0 <= float(reason.partition(",")[0]) - worst < 0.01 for reason in reasons), reasons
