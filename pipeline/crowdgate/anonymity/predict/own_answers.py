"""A person's own answers, question by question: the number of people who give the same (Koot 2012, section 7.1.2).

Answers stay in memory only while they are counted. No message, result or file contains one.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from crowdgate.anonymity.predict.laws import JOINT
from crowdgate.anonymity.predict.numeric import share_at, share_of_both, width_name
from crowdgate.anonymity.predict.questionnaire_file import QuestionnaireModel
from crowdgate.domain import INVALID, parse_number
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.policy.questionnaire import QuestionSpec

OTHER = "other"
"""Input for an answer that the form does not list."""
MOST_LISTED = 20
Ask = Callable[[str], str | None]
"""Function that asks a question and returns the answered line, or None at the end of input."""


@dataclass(frozen=True)
class SameAnswers:
    """Expected number of people who give the same answers to all questions up to this one, including the respondent."""

    question: str
    people: float


@dataclass(frozen=True)
class OwnAnswers:
    """Counts for one person's answers and the populations of the shares, without the answers themselves."""

    form: str
    population: int
    steps: tuple[SameAnswers, ...]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the counts as an object of JSON."""
        counts = [{"question": each.question, "people": each.people} for each in self.steps]
        about = {"questionnaire": self.form, "population": self.population, "notes": list(self.notes)}
        return {"outcome": "counted", **about, "people": counts}


def count_answers(form: QuestionnaireModel, ask: Ask) -> OwnAnswers:
    """Ask every counted question, and count after each the people who give the same answers. An empty answer declines:
    it excludes nobody.

    Raises ConfigurationError for an answer that a question does not have (naming line and question, never the answer),
    and where answers end too early.
    """
    return OwnAnswers(form.file.metadata.name, form.people, tuple(_counts_by_question(form, ask)), form.whose)


def _counts_by_question(form: QuestionnaireModel, ask: Ask) -> Iterator[SameAnswers]:
    own, chosen, numbers = 1.0, dict[str, int](), dict[str, Fraction]()
    for line, question in enumerate(form.questions, start=1):
        given = ask(prompt(form, question))
        if given is None:
            raise ConfigurationError(
                _answer_problem(line, question, "no answer", "a line for each question, empty to decline")
            )
        if given.strip():
            if question.numeric is not None:
                numbers[question.name] = _numeric_answer(question, given, line)
            elif question.attribute is None:
                own *= float(_answer_share(question, given, line))
            else:
                chosen[question.attribute] = _answer_code(form, question, given, line)
        yield SameAnswers(
            question.name, form.people * own * _numbers_share(form, numbers) * _attributes_share(form, chosen)
        )


def prompt(form: QuestionnaireModel, question: QuestionSpec) -> str:
    """Return the text that asks a question, with its possible answers in brackets."""
    listed = options(form, question)
    several = "; several separated by semicolons" if question.several else ""
    return f"{question.ask or question.name} [{' | '.join(listed)}{several}; empty: rather not say] "


def options(form: QuestionnaireModel, question: QuestionSpec) -> list[str]:
    """Return the possible answers to a question as texts; of an attribute with more than MOST_LISTED values only the
    first three and the last."""
    if question.numeric is not None:
        return [f"a number, of {width_name(question.numeric.width)}"]
    if question.attribute is None:
        return [*(question.answers or ()), *([OTHER] if question.others else [])]
    assert form.laws is not None, "it asks for an attribute"
    labels = list(form.laws.axes[question.attribute].labels)
    return labels if len(labels) <= MOST_LISTED else [*labels[:3], "...", labels[-1]]


def _answer_share(question: QuestionSpec, given: str, line: int) -> Fraction:
    answers = question.answers or {}
    if question.several:
        return _ticked_share(question, answers, {each.strip() for each in given.split(";")}, line)
    if given.strip() == OTHER and question.others:
        return (1 - sum(answers.values(), Fraction(0))) / question.others
    if given.strip() not in answers:
        raise ConfigurationError(_unknown_answer(line, question, list(answers)))
    return answers[given.strip()]


def _ticked_share(question: QuestionSpec, answers: dict[str, Fraction], ticked: set[str], line: int) -> Fraction:
    if not ticked <= {*answers, ""}:
        raise ConfigurationError(_unknown_answer(line, question, list(answers)))
    share = Fraction(1)
    for answer, stated in answers.items():
        share *= stated if answer in ticked else 1 - stated
    return share


def _answer_code(form: QuestionnaireModel, question: QuestionSpec, given: str, line: int) -> int:
    """Return the code of an answer at the level of the question's attribute. The answer `given` is a label of that
    level, or an exact value, which is replaced by the level's value that contains it."""
    assert form.laws is not None, "it asks for an attribute"
    assert form.contract is not None, "it asks for an attribute"
    level, domain = form.laws.axes[question.attribute or ""], form.contract.by_name[question.attribute or ""].domain
    assert domain is not None, "it is releasable"
    if given.strip() in level.labels:
        return level.labels.index(given.strip())
    code = domain.code(given.strip())
    if code == INVALID:
        raise ConfigurationError(_unknown_answer(line, question, options(form, question)))
    return int(level.codes[code])


def _attributes_share(form: QuestionnaireModel, chosen: dict[str, int]) -> float:
    if form.laws is None or not chosen:
        return 1.0
    axes = {name: form.laws.axes[name] for name in form.laws.axes if name in chosen}
    found, at = form.laws.at(axes), tuple(chosen[name] for name in axes)
    if form.bases[0] == JOINT and found.joint is not None:
        return float(found.joint.people[at] / found.joint.people.sum())
    return float(np.prod([found.shares[name][code] for name, code in zip(axes, at, strict=True)]))


def _numeric_answer(question: QuestionSpec, given: str, line: int) -> Fraction:
    """Return the number that an answer states. Raises ConfigurationError for no number, and for one that nobody has."""
    number = parse_number(given.strip())
    assert question.numeric is not None, "it asks for a number"
    if number is None or share_at(question.numeric, number) <= 0:
        raise ConfigurationError(
            _answer_problem(
                line, question, "this is not an answer to the question", "a number that its distribution allows"
            )
        )
    return number


def _numbers_share(form: QuestionnaireModel, numbers: Mapping[str, Fraction]) -> float:
    """Return the share of people whose numbers are in the same intervals as `numbers` (by question)."""
    share, alone = 1.0, dict(numbers)
    for one, other, rho in form.pairs:
        if one.name in alone and other.name in alone and one.numeric is not None and other.numeric is not None:
            both = [alone.pop(each.name) for each in (one, other)]
            share *= share_of_both(one.numeric, other.numeric, rho, both)
    for each in form.questions:
        if each.name in alone and each.numeric is not None:
            share *= share_at(each.numeric, alone[each.name])
    return share


def _unknown_answer(line: int, question: QuestionSpec, known: list[str]) -> Problem:
    return _answer_problem(line, question, "this is not an answer to the question", f"one of {', '.join(known)}")


def _answer_problem(line: int, question: QuestionSpec, found: str, expected: str) -> Problem:
    return Problem("standard input", line, question.name, found, expected)
