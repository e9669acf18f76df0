"""A person counts their own answers (Koot 2012, section 7.1.2): the counts are right, and no answer is stored
anywhere."""

import io
import json
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings

from crowdgate.anonymity.predict.own_answers import OTHER, count_answers
from crowdgate.anonymity.predict.questionnaire_file import QuestionnaireModel, read_questionnaire
from crowdgate.errors import ConfigurationError
from tests.anonymity.predict.forms import Text, form_of, forms, written
from tests.examples import examples
from tests.workshop import Workshop, crowdgate

SECRET = "ZZANSWERZZ"
ASKED = [
    {"name": "colour", "answers": {SECRET: "0.25", "red": "0.75"}},
    {"name": "pets", "answers": {"cat": "0.5", "dog": "0.2"}, "several": "true"},
    {"name": "town", "answers": {"large": "0.4"}, "others": "6"},
]


def counts(path: Path, *lines: str, source: Path | None = None) -> list[float]:
    return people_of(read_questionnaire(path, source), *lines)


def people_of(form: QuestionnaireModel, *lines: str) -> list[float]:
    given = iter(lines)
    return [each.people for each in count_answers(form, lambda _: next(given, None)).steps]


def test_each_answer_leaves_its_share_and_a_decline_leaves_all(tmp_path: Path) -> None:
    path = written(tmp_path, ASKED)
    assert counts(path, SECRET, "cat", "large") == pytest.approx([250, 250 * 0.5 * 0.8, 250 * 0.4 * 0.4])
    assert counts(path, "red", "cat; dog", OTHER) == pytest.approx([750, 75, 7.5])
    assert counts(path, "", " ", "\n") == [1000, 1000, 1000]
    assert counts(path, "red", ";", "large") == pytest.approx([750, 750 * 0.4, 120])


@settings(max_examples=examples(25), deadline=None, derandomize=True)
@given(asked=forms)
def test_the_people_of_all_possible_answers_are_all_people(asked: list[Text]) -> None:
    form = form_of(asked[:2])
    many = [[*possible(each)] for each in asked[:2]]
    total = sum(people_of(form, *(line for line, _ in lines))[-1] * times(lines) for lines in product(*many))
    assert total == pytest.approx(1000)


def possible(question: Text) -> Iterator[tuple[str, int]]:
    """Yield every answer, and the number of answers that it stands for."""
    if question.get("several"):
        for ticks in product(*((name, "") for name in question["answers"])):
            yield ";".join(ticks) or ";", 1
        return
    yield from ((name, 1) for name in question["answers"])
    if "others" in question:
        yield OTHER, int(question["others"])


def times(lines: tuple[tuple[str, int], ...]) -> int:
    out = 1
    for _, many in lines:
        out *= many
    return out


def test_attributes_are_answered_by_a_value_of_the_level_or_an_exact_one(workshop: Workshop) -> None:
    from tests.forecast.test_plan_from import public

    public(workshop)
    asked = [{"name": "age", "attribute": "age", "level": "50 years"}, {"name": "ward", "attribute": "ward"}]
    path = written(workshop.policy.parent, asked, 600, "clinic")
    for age in ("0 to 49", "17"):
        assert counts(path, age, "north", source=workshop.data) == pytest.approx([300, 100])


@pytest.mark.parametrize("line", [0, 1, 2])
def test_an_unknown_answer_is_told_by_line_and_question_and_never_repeated(tmp_path: Path, line: int) -> None:
    lines = [SECRET, "cat", "large"]
    lines[line] = f"my {SECRET} cat"
    with pytest.raises(ConfigurationError) as found:
        counts(written(tmp_path, ASKED), *lines)
    (problem,) = found.value.problems
    assert (problem.line, problem.where) == (line + 1, ASKED[line]["name"])
    assert "my" not in str(found.value)
    assert problem.instead is None


def test_answers_that_end_early_are_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="a line for each question"):
        counts(written(tmp_path, ASKED), "red")


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("as_json", [True, False])
def test_a_marked_answer_is_nowhere_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], known: bool, as_json: bool
) -> None:
    """The marked text is an answer of the form in one case; it is nowhere else in the folder, and is never printed."""
    mark = "YYMARKYY"
    answers = {mark if known else "red": "0.25", "blue": "0.75"}
    path = written(tmp_path, [{"name": "colour", "answers": answers}])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{mark}\n"))
    before = {each: each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()}
    assert crowdgate("predict", path, "--answers", "-", *(["--json"] if as_json else [])) == (0 if known else 2)
    shown = capsys.readouterr()
    assert mark not in shown.out + shown.err
    assert {each: each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()} == before
    if known and as_json:
        said = json.loads(shown.out)
        assert said == {
            "outcome": "counted",
            "questionnaire": "form",
            "population": 1000,
            "notes": [],
            "people": [{"question": "colour", "people": 250.0}],
        }


@pytest.mark.parametrize("as_json", [True, False])
def test_a_fault_while_answers_are_counted_tells_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    def break_(*_: object) -> None:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(QuestionnaireModel, "bins", break_)
    monkeypatch.setattr("crowdgate.anonymity.predict.own_answers._answer_share", break_)
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{SECRET}\n"))
    assert crowdgate("predict", written(tmp_path, ASKED), "--answers", "-", *(["--json"] if as_json else [])) == 1
    shown = capsys.readouterr()
    assert SECRET not in shown.out + shown.err


@pytest.mark.parametrize("options", [["--answers", "red"], ["--answers", "-", "--people", "5"]])
def test_answers_come_from_standard_input_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    assert crowdgate("predict", written(tmp_path, ASKED), *options) == 2
    assert "red" not in capsys.readouterr().err
