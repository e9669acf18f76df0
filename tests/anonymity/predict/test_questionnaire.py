"""Questionnaires, question by question (Koot 2012, appendix B)."""

import json
import math
from datetime import date
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from crowdgate.anonymity.predict.entry import TrustedKeys
from crowdgate.anonymity.predict.figures import number
from crowdgate.anonymity.predict.group import PredictionTargets
from crowdgate.anonymity.predict.laws import INDEPENDENT
from crowdgate.anonymity.predict.predict import predict
from crowdgate.anonymity.predict.questionnaire import predict_questionnaire, respondents_alike
from crowdgate.documents.yaml_text import read_document
from crowdgate.errors import ConfigurationError
from crowdgate.policy.parsing import parse
from crowdgate.policy.questionnaire import Questionnaire
from crowdgate.releases.working_copy import bundled
from crowdgate.risk.bins import Bins
from crowdgate.risk.group_size import singleton_share
from crowdgate.risk.singletons import expected
from tests.anonymity.predict.forms import Text, form_of, forms, written
from tests.examples import examples
from tests.policy.pages import code_blocks
from tests.reports import listings_of
from tests.workshop import Workshop, crowdgate

UNSIGNED = TrustedKeys((), date(2030, 1, 1))
CONCERTGEBOUW = bundled("policies") / "questionnaires" / "concertgebouw.yaml"


def classes(question: Text) -> list[Fraction]:
    """Return the share of every possible answer, computed by hand."""
    shares = [Fraction(each) for each in question["answers"].values()]
    if question.get("several"):
        both = [(share, 1 - share) for share in shares]
        found = [_times(each) for each in product(*both)]
    else:
        others = int(question.get("others", 0))
        found = shares + ([(1 - sum(shares, Fraction(0))) / others] * others if others else [])
    decline = Fraction(question["decline"])
    return [share * (1 - decline) for share in found] + ([decline] if decline else [])


def _times(factors: tuple[Fraction, ...]) -> Fraction:
    share = Fraction(1)
    for factor in factors:
        share *= factor
    return share


@settings(max_examples=examples(40), deadline=None, derandomize=True)
@given(asked=forms)
def test_the_classes_of_a_form_are_all_combinations_of_its_answers(asked: list[Text]) -> None:
    form = form_of(asked)
    found = form.bins(INDEPENDENT, form.questions)
    cells = [_times(each) for each in product(*map(classes, asked))]
    assert found.cells == pytest.approx(len(cells))
    assert expected(found, 50) == pytest.approx(expected(Bins.of(cells), 50), rel=1e-9)
    best, _, worst = respondents_alike(found, 1000)
    assert (best, worst) == pytest.approx((1000 * float(max(cells)), 1000 * float(min(filter(None, cells)))))


@settings(max_examples=examples(40), deadline=None, derandomize=True)
@given(asked=forms)
def test_every_further_question_leaves_fewer_identities_and_more_people_alone(asked: list[Text]) -> None:
    form = form_of(asked)
    before, alone = (1000.0, 1000.0, 1000.0), 0.0
    for at in range(1, len(asked) + 1):
        bins = form.bins(INDEPENDENT, form.questions[:at])
        after, now = respondents_alike(bins, 1000), expected(bins, 1000)
        assert after[0] <= before[0] * (1 + 1e-12)
        assert after[2] <= before[2] * (1 + 1e-12)
        assert now >= alone - 1e-9
        before, alone = after, now


@settings(max_examples=examples(40), deadline=None, derandomize=True)
@given(asked=forms)
def test_asking_less_never_leaves_more_people_alone(asked: list[Text]) -> None:
    form = form_of(asked)
    now = singleton_share(form.bins(INDEPENDENT, form.questions), 200)
    for question in form.questions:
        for way in form.ways(question):
            assert singleton_share(form.bins(INDEPENDENT, form.questions, {question.name: way}), 200) <= now + 1e-9


def test_the_median_respondent_is_the_median_of_people_not_of_classes() -> None:
    assert respondents_alike(Bins.of([Fraction(6, 10), *[Fraction(1, 10)] * 4]), 100) == pytest.approx((60, 60, 10))
    assert respondents_alike(Bins.of([Fraction(4, 10), *[Fraction(1, 10)] * 6]), 100) == pytest.approx((40, 10, 10))


# Table B.3


def test_table_b_3_is_recomputed_and_its_text_has_a_slip_of_arithmetic() -> None:
    """For income the text says "the anonymity set size is reduced to 94k citizens". 16e6 over the table's own factors
    (3.33, 1.26, 3, 2.7, 2.3) is 204,688; the table prints 204,347; by the shares from which the factors were computed
    it is 203,721."""
    steps = _rows(listings_of(predict_questionnaire(CONCERTGEBOUW, None, PredictionTargets()))[0].rows)
    best = [number(row["best"]) for row in steps]
    printed = [4_804_804, 3_813_337, 1_271_112, 470_782, 204_347, 4]
    assert best == pytest.approx(printed, rel=0.02)
    factors = [number(row["factor"]) for row in steps]
    assert factors == pytest.approx([3.33, 1.26, 3, 2.7, 2.3, 50_000], rel=0.02)
    assert pytest.approx(204_688, abs=1) == 16e6 / 3.33 / 1.26 / 3 / 2.7 / 2.3
    assert best[4] == pytest.approx(203_721, abs=1)
    assert abs(best[4] - 94_000) > 100_000
    assert best[5] == pytest.approx(4.07, abs=0.01)


def test_the_form_says_what_it_leaves_out_and_takes_as_independent() -> None:
    found = predict_questionnaire(CONCERTGEBOUW, None, PredictionTargets())
    said = " ".join(found.to_json()["notes"])
    assert "Question children is left out: no statistics could be linked to its answers." in said
    assert "independent of each other" in said
    assert found.to_json()["plain"].startswith(
        "Each of 16,000,000 people (inhabitants of the Netherlands) who answers all 6 questions shares the answers"
        " with 3 others at best."
    )
    assert "children" not in {row["question"] for row in listings_of(found)[0].rows}


def _rows(rows: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in rows]


def test_the_readmes_questionnaire_is_one(tmp_path: Path) -> None:
    (block,) = (each for each in code_blocks("yaml") if "kind: Questionnaire" in each)
    (tmp_path / "form.yaml").write_text(block, encoding="utf-8")
    form = parse(Questionnaire, read_document(tmp_path / "form.yaml"))
    assert [question.name for question in form.spec.questions] == [
        "age",
        "work",
        "education",
        *("height", "weight"),
        "pets",
        "children",
    ]


# what helps


def test_the_coarsening_that_helps_most_comes_first() -> None:
    asked = [
        {"name": "wide", "answers": {f"a{i}": "0.05" for i in range(20)},
         "coarser": {"halves": {"low": [f"a{i}" for i in range(10)], "high": [f"a{i}" for i in range(10, 20)]}}},
        {"name": "narrow", "answers": {"yes": "0.5", "no": "0.3", "other": "0.2"}},
    ]  # fmt: skip
    form = form_of(asked)
    assert form.ways(form.questions[0]) == ["halves", "left out"]
    assert form.ways(form.questions[1]) == ["the two rarest answers as one", "left out"]
    halves = form.bins(INDEPENDENT, form.questions[:1], {"wide": "halves"})
    assert (halves.cells, halves.probabilities.tolist()) == (2, [0.5])
    merged = form.bins(INDEPENDENT, form.questions[1:], {"narrow": "the two rarest answers as one"})
    assert merged.cells == 2


def test_ways_are_ranked_by_who_is_left_alone(tmp_path: Path) -> None:
    path = written(tmp_path, [
        {"name": "wide", "answers": {f"a{i}": "0.05" for i in range(20)}},
        {"name": "narrow", "answers": {"yes": "0.5", "no": "0.5"}},
    ], 40)  # fmt: skip
    less = _rows(listings_of(predict_questionnaire(path, None, PredictionTargets()))[-1].rows)
    assert [(row["question"], row["way"]) for row in less][:2] == [("wide", "left out"), ("narrow", "left out")]
    shares = [row["share_alone"] for row in less]
    assert shares == sorted(shares)
    assert all(row["fewer_alone"] >= 0 for row in less)


# attributes of a contract


def test_attributes_of_a_contract_are_asked_with_its_margins_and_relate_by_counts(workshop: Workshop) -> None:
    from tests.forecast.test_plan_from import public

    public(workshop)
    asked: list[Text] = [
        {"name": "ward", "attribute": "ward", "decline": "0.2"},
        {"name": "sex", "answers": {"f": "0.5", "m": "0.5"}},
    ]
    path = written(workshop.policy.parent, asked, 600, "clinic")
    steps = _rows(listings_of(predict_questionnaire(path, None, PredictionTargets()))[0].rows)
    assert [row["best"] for row in steps] == pytest.approx([600 * 0.5 * 0.8, 600 * 0.25 * 0.8])
    asked.append({"name": "age", "attribute": "age", "level": "50 years"})
    path = written(workshop.policy.parent, asked, 600, "clinic")
    found = predict_questionnaire(path, workshop.data, PredictionTargets())
    steps = _rows(listings_of(found)[0].rows)
    assert [row["by"] for row in steps] == ["joint figures"] * 3 + ["independence"] * 3
    # 600 people, 100 of each pair of age and ward; a fifth declines to name the ward
    assert steps[2]["best"] == pytest.approx(600 / 6 * 0.8 / 2)
    assert steps[2]["worst"] == pytest.approx(600 / 2 * 0.2 / 2)
    alone = [row for row in _rows(listings_of(found)[1].rows) if row["by"] == "joint figures"]
    assert alone[0]["low"] <= alone[0]["singletons"] <= alone[0]["high"]


# bad input


def wrong(questions: list[Text], tmp_path: Path, contract: str | None = None) -> str:
    with pytest.raises(ConfigurationError) as found:
        predict(written(tmp_path, questions, contract=contract), None, None, None, PredictionTargets(), UNSIGNED)
    assert len(found.value.problems) == 1
    return str(found.value)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({"answers": {"a": "0.5", "b": "0.4"}}, "add up to 1, not to 0.9"),
        ({"answers": {"a": "-0.5", "b": "1"}}, "a share from 0 to 1"),
        ({"answers": {"a": "1"}, "others": "3"}, "leave some for the others"),
        ({"answers": {"a": "0.5"}, "others": "0"}, "a whole number from 1 to"),
        ({"answers": {"a": "0.5", "b": "0.5"}, "decline": "1"}, "a share below 1"),
        ({"answers": {"a": "1"}, "attribute": "age"}, "one of attribute, answers, numeric and skip"),
        ({}, "one of attribute, answers, numeric and skip"),
        ({"skip": "why", "several": "true"}, "beside answers only"),
        ({"answers": {"a": "0.5", "b": "0.5"}, "coarser": {"all": {"x": ["a"]}}}, "exactly one group of 'all'"),
        ({"answers": {f"a{i}": "0.5" for i in range(21)}, "several": "true"}, "at most 20 answers"),
        ({"answers": {"a": "1"}, "sevral": "true"}, "write 'several'"),
        ({"attribute": "age"}, "contract: the id of the contract"),
    ],
)  # fmt: skip
def test_a_wrong_question_is_one_error_with_its_line(question: Text, said: str, tmp_path: Path) -> None:
    message = wrong([{"name": "q", **question}], tmp_path)
    assert said in message
    assert message.startswith(f"{tmp_path / 'form.yaml'}:")


def test_a_name_used_twice_is_refused(tmp_path: Path) -> None:
    assert "a name of its own" in wrong([{"name": "q", "answers": {"a": "1"}} for _ in range(2)], tmp_path)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({"attribute": "agee"}, "'agee' is not an attribute of contract clinic with a domain"),
        ({"attribute": "age", "level": "10 year"}, "'age' has no level '10 year'; expected one of exact, 10 years"),
        ({"attribute": "patient"}, "'patient' is not an attribute"),
    ],
)  # fmt: skip
def test_an_unknown_attribute_or_level_names_the_nearest(workshop: Workshop, question: Text, said: str) -> None:
    message = wrong([{"name": "q", **question}], workshop.policy.parent, "clinic")
    assert said in message


def test_one_bin_and_a_million_million_bins_have_exact_limits(tmp_path: Path) -> None:
    path = written(tmp_path, [{"name": "q", "answers": {"a": "1"}}])
    (step,) = _rows(listings_of(predict_questionnaire(path, None, PredictionTargets()))[0].rows)
    assert (step["best"], step["worst"], step["alone"]) == (1000, 1000, 0)
    asked = [{"name": "q", "answers": {"a": "1e-12"}, "others": "999999999999"}]
    found = predict_questionnaire(written(tmp_path, asked, 10**6), None, PredictionTargets())
    (row,) = _rows(listings_of(found)[1].rows)
    n, k = 10**12, 10**6
    assert row["singletons"] == pytest.approx(k * math.exp((k - 1) * math.log1p(-1 / n)), rel=1e-13)
    assert row["all_alone"] == pytest.approx(0.6065, abs=1e-3)  # exp(-k(k - 1)/2N)


def test_options_of_contracts_are_refused_beside_a_questionnaire(capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("predict", CONCERTGEBOUW, "--of", "age", "--cost", "1") == 2
    said = capsys.readouterr().err
    assert said.count("this option is for contracts: a questionnaire has its own") == 2


@pytest.mark.thorough
def test_json_holds_what_the_terminal_shows(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = tmp_path / "form.md"
    assert crowdgate("predict", CONCERTGEBOUW, "--people", "100,1000", "--json", "--page", page) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["questionnaire"] == "concertgebouw"
    assert [row["people"] for row in said["alone"]] == [100, 1000]
    assert said["plain"] in page.read_text(encoding="utf-8")
    assert len(said["questions"]) == 6


def test_a_form_that_names_no_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.yaml"
    path.write_text("kind: Questionaire\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="write 'Questionnaire'"):
        predict(path, None, None, None, PredictionTargets(), UNSIGNED)
