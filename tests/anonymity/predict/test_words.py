"""Numbers of predictions as people read them: nothing possible is rounded to never, to nobody or to everybody."""

import json
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdgate.number_text import PEOPLE, PROBABILITY, SHARE, format_value, percent
from crowdgate.releases.working_copy import bundled
from crowdgate.risk.bins import Bins
from crowdgate.risk.prediction import predict_singletons
from crowdgate.risk.singletons import distribution
from tests.examples import examples
from tests.workshop import crowdgate

CENSUS = bundled("data_contracts") / "census_income.yaml"
CONCERTGEBOUW = bundled("policies") / "questionnaires" / "concertgebouw.yaml"


@given(st.floats(0, 1))
def test_only_0_and_1_are_shown_as_0_and_1(number: float) -> None:
    assert (format_value(number, SHARE) in ("0.00%", "100.00%")) == (number in (0, 1))
    assert (format_value(number, PROBABILITY) in ("0", "1")) == (number in (0, 1))


def test_shares_probabilities_and_people_in_words() -> None:
    assert [format_value(each, SHARE) for each in (1e-5, -1e-5, 0.99999, -0.99999, 0.5, -0.0)] == [
        "below 0.01%", "above -0.01%", "above 99.99%", "below -99.99%", "50.00%", "0.00%",
    ]  # fmt: skip
    assert [format_value(each, PROBABILITY) for each in (1 - 1e-9, 3e-31, 5e-324)] == [
        "above 0.9999",
        "3e-31",
        "below 1e-300",
    ]
    assert [format_value(each, PEOPLE) for each in (300000, 12345.6, 3.14159, 1e20, 1e-9)] == [
        "300,000", "12,346", "3.14", "1e+20", "below 1e-6",
    ]  # fmt: skip
    assert [percent(each) for each in (0.5, Fraction(1, 10000), Fraction(1))] == ["50 %", "0.01 %", "100 %"]


@settings(max_examples=examples(30), deadline=None, derandomize=True)
@given(st.lists(st.integers(1, 50), min_size=1, max_size=5), st.integers(1, 12))
def test_probabilities_that_somebody_or_everybody_is_alone_are_those_of_the_law(cells: list[int], people: int) -> None:
    found, law = predict_singletons(Bins.from_counts(cells), people), distribution(Bins.from_counts(cells), people)
    assert found.at_least_one == pytest.approx(1 - law[0], abs=1e-9)
    assert found.all_singletons == pytest.approx(law[-1], abs=1e-9)


def test_what_is_nearly_certain_or_impossible_is_neither() -> None:
    """Among 1,000 people in 10 bins about 1e-42 are unique, a probability that is lost next to 1; among 40 in 1e12 bins
    some share a bin with probability 8e-10."""
    crowd = predict_singletons(Bins.uniform(10), 1000)
    assert crowd.singletons == pytest.approx(1000 * 0.9**999, rel=1e-9)
    assert 0 < crowd.at_least_one == pytest.approx(crowd.singletons, rel=1e-9)
    sparse = predict_singletons(Bins.uniform(10**12), 40)
    assert sparse.at_least_one < 1
    assert sparse.all_singletons == pytest.approx(math.exp(-40 * 39 / 2e12), rel=1e-15)
    assert 0 < predict_singletons(Bins.uniform(20_000), 10_000).all_singletons < 1e-300
    one = predict_singletons(Bins.uniform(7), 1)
    assert (one.at_least_one, one.all_singletons) == (1, 1)
    assert predict_singletons(Bins.uniform(1), 7).at_least_one == 0
    assert predict_singletons(Bins.uniform(7), 8).all_singletons == 0


def test_a_probability_whose_inverse_is_no_float_is_still_told() -> None:
    """About 1e-315 of 18,743 people in 26 bins are expected to be unique."""
    found = predict_singletons(Bins.uniform(26), 18_743)
    assert 0 < found.singletons < 1e-308
    assert 0 <= found.at_least_one <= found.singletons


def test_a_logarithm_of_0_is_null_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    def fail(text: str) -> Any:
        raise AssertionError(f"{text} is no JSON")

    assert crowdgate("predict", CENSUS, "--of", "sex", "--people", "1,7", "--json") == 0
    rows = json.loads(capsys.readouterr().out, parse_constant=fail)["alone"]
    assert [row["log_none_alone"] is None for row in rows] == [True, False]
    assert [row["log_all_alone"] is None for row in rows] == [False, True]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("file", "options"),
    [(CENSUS, ["--of", "age,sex,race", "--at-most", "0.25", "--cost", "1"]), (CONCERTGEBOUW, ["--people", "120000"])],
)
def test_thousands_are_set_apart_and_shares_are_percents(
    file: Path, options: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    assert crowdgate("predict", file, *options, "--page", page) == 0
    for text in (capsys.readouterr().out, page.read_text(encoding="utf-8")):
        assert not re.search(r"[^.,\d]\d{5,}", text), re.findall(r".*[^.,\d]\d{5,}.*", text)
        assert "at most 0.25" not in text
        assert ("at most 25 %" in text) == ("--at-most" in options)


def test_who_is_alone_among_many_is_told_as_people_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("predict", CENSUS, "--of", "age,sex,race") == 0
    text = capsys.readouterr().out
    assert "of whose 300,000 people 3.25 (below 0.01%) are expected to be unique" in text
    assert " (0.00%)" not in text
