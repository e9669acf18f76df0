"""Questions for numbers in intervals, with a known distribution."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from crowdgate.anonymity.predict.group import PredictionTargets
from crowdgate.anonymity.predict.laws import INDEPENDENT
from crowdgate.anonymity.predict.numeric import WIDER
from crowdgate.anonymity.predict.own_answers import count_answers
from crowdgate.anonymity.predict.questionnaire import predict_questionnaire
from crowdgate.anonymity.predict.questionnaire_file import LEFT_OUT, QuestionnaireModel, read_questionnaire
from crowdgate.errors import ConfigurationError
from crowdgate.risk.bins import Bins
from crowdgate.risk.correlated import bivariate_normal
from crowdgate.risk.products import product
from crowdgate.risk.singletons import expected
from crowdgate.risk.widths import normal
from tests.anonymity.predict.forms import Text, form_of, written
from tests.reports import listings_of

HEIGHT: Text = {"law": "normal", "mean": "170", "sd": "9.5", "width": "2"}
WEIGHT: Text = {"law": "normal", "mean": "70", "sd": "12", "width": "4"}
HEIGHT_AND_WEIGHT: list[Text] = [
    {"name": "height", "numeric": {**HEIGHT, "correlated": {"with": "weight", "rho": "0.5"}}},
    {"name": "weight", "numeric": WEIGHT},
]


def bins(form: QuestionnaireModel, ways: dict[str, str] | None = None) -> Bins:
    return form.bins(INDEPENDENT, form.questions, ways)


@pytest.mark.parametrize(
    ("numeric", "shares"),
    [
        ({"law": "uniform", "low": "3", "high": "10", "width": "3"}, [3 / 7, 3 / 7, 1 / 7]),
        ({"law": "uniform", "low": "4", "high": "11", "width": "3"}, [3 / 7, 3 / 7, 1 / 7]),
        ({"law": "exponential", "mean": "2", "width": "50"}, [1 - np.exp(-25), np.exp(-25)]),
        ({"law": "normal", "mean": "1", "sd": "2", "width": "1000"}, [ndtr(0.5), ndtr(-0.5)]),
        ({"law": "histogram", "edges": ["0", "10", "30"], "counts": ["1", "3"], "width": "10"}, [1 / 4, 3 / 8, 3 / 8]),
    ],
)  # fmt: skip
def test_intervals_have_the_shares_of_the_law_and_answers_too(numeric: Text, shares: list[float]) -> None:
    form = form_of([{"name": "number", "numeric": numeric}])
    found = bins(form)
    assert sorted(np.repeat(found.probabilities, found.counts.astype(int)))[-len(shares) :] == pytest.approx(
        sorted(shares), rel=1e-9
    )
    start = Fraction(numeric.get("low", "0"))
    inside = [str(float(start + at * Fraction(numeric["width"]) + Fraction(1, 2))) for at in range(len(shares))]
    if numeric["law"] == "normal":
        inside[1] = "-0.5"
    people = [count_answers(form, lambda _, each=each: each).steps[0].people for each in inside]  # type: ignore[misc]
    assert people == pytest.approx([1000 * share for share in shares], rel=1e-9)


@pytest.mark.thorough
def test_numbers_that_go_together_are_counted_together() -> None:
    form = form_of(HEIGHT_AND_WEIGHT)
    both = bivariate_normal("9.5", 12, "0.5", 2, 4, 170, 70)
    assert expected(bins(form), 100) == pytest.approx(expected(both, 100), rel=1e-3)
    apart = product([normal(170, "9.5", 2), normal(70, 12, 4)])
    assert expected(bins(form), 100) < expected(apart, 100)
    assert expected(bins(form, {"weight": LEFT_OUT}), 100) == pytest.approx(expected(normal(170, "9.5", 2), 100))
    wider = bins(form, {"height": "intervals of 10", "weight": "intervals of 20"})
    assert expected(wider, 100) == pytest.approx(
        expected(bivariate_normal("9.5", 12, "0.5", 10, 20, 170, 70), 100), rel=1e-3
    )
    low, high = form.bounds(INDEPENDENT, 100)["low"], form.bounds(INDEPENDENT, 100)["high"]
    assert low <= expected(bins(form), 100) <= high


def test_own_answers_to_numbers_that_go_together() -> None:
    form = form_of(HEIGHT_AND_WEIGHT, 10**6)
    given = iter(["170.4", "71"])
    first, second = (each.people for each in count_answers(form, lambda _: next(given)).steps)
    assert first == pytest.approx(10**6 * (ndtr(2 / 9.5) - 0.5))
    both = 2 * ndtr(2 / 12 / np.sqrt(0.75)) - 1  # Y from 68 to 72, given X at its mean
    assert second == pytest.approx(first * both, rel=0.01)


@pytest.mark.thorough
def test_the_finest_intervals_that_leave_few_enough_alone(tmp_path: Path) -> None:
    found = predict_questionnaire(written(tmp_path, HEIGHT_AND_WEIGHT), None, PredictionTargets("100", "0.3"))
    rows: list[dict[str, Any]] = [
        dict(row) for each in listings_of(found) if each.name == "widths" for row in each.rows
    ]
    form = form_of(HEIGHT_AND_WEIGHT)
    for row, (name, step) in zip(rows, (("height", 2), ("weight", 4)), strict=True):
        alone = {
            step * times: expected(bins(form, {name: f"intervals of {step * times}"}), 100) / 100 for times in WIDER[1:]
        }
        enough = [width for width, share in alone.items() if share <= 0.3]
        assert (row["width"], row["share_alone"]) == (enough[0], alone[enough[0]])
    assert "taken together, as bivariate Normal with correlation 0.5" in " ".join(found.to_json()["notes"])
    with pytest.raises(ConfigurationError, match="asks for no number"):
        predict_questionnaire(
            written(tmp_path, [{"name": "sex", "answers": {"f": "0.5", "m": "0.5"}}]),
            None,
            PredictionTargets(None, "0.3"),
        )


@pytest.mark.parametrize(
    ("numeric", "words"),
    [
        ({**HEIGHT, "width": "0"}, "a number above 0"),
        ({**HEIGHT, "width": "1e-9"}, "a wider one: Delta must make at most"),
        ({**HEIGHT, "sd": "-1"}, "a number above 0"),
        ({**HEIGHT, "low": "1"}, "mean and sd for law normal"),
        ({"law": "normal", "mean": "1", "width": "1"}, "mean and sd for law normal"),
        ({"law": "uniform", "low": "5", "high": "5", "width": "1"}, "low below high"),
        ({"law": "exponential", "mean": "0", "width": "1"}, "a mean above 0"),
        ({"law": "histogram", "edges": ["0", "1"], "counts": ["1", "1"], "width": "1"}, "one more than counts"),
        ({"law": "histogram", "edges": ["0", "1"], "counts": ["0"], "width": "1"}, "not all 0"),
        ({"law": "exponential", "mean": "2", "width": "1", "correlated": {"with": "weight", "rho": "0"}}, "law normal"),
        ({**HEIGHT, "correlated": {"with": "weight", "rho": "1"}}, "between -1 and 1"),
        ({**HEIGHT, "correlated": {"with": "hieght", "rho": "0.5"}}, "not with 'hieght'"),
        ({**HEIGHT, "correlated": {"with": "height", "rho": "0.5"}}, "each question correlated with at most one other"),
        ({"law": "gamma", "width": "1"}, "'uniform'"),
    ],
)  # fmt: skip
def test_a_wrong_law_is_one_error(tmp_path: Path, numeric: Text, words: str) -> None:
    path = written(tmp_path, [{"name": "height", "numeric": numeric}, {"name": "weight", "numeric": WEIGHT}])
    with pytest.raises(ConfigurationError) as found:
        read_questionnaire(path, None)
    assert len(found.value.problems) == 1
    assert words in str(found.value)


def test_an_answer_that_nobody_gives_is_none() -> None:
    form = form_of([{"name": "age", "numeric": {"law": "uniform", "low": "0", "high": "100", "width": "5"}}])
    for given in ("old", "-1", "100.5"):
        with pytest.raises(ConfigurationError, match="a number that its distribution allows") as found:
            count_answers(form, lambda _, given=given: given)  # type: ignore[misc]
        assert given not in str(found.value)
