"""Questionnaire: what people are asked, and what is known beforehand of how they answer."""

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field, model_validator

from crowdgate.limits import MOST_ANSWERS, MOST_SEVERAL
from crowdgate.policy.policy import Name, People, whole_between
from crowdgate.policy.values import Flag, Strict, after, schema_of

SHARES_APART = Fraction(1, 10**6)
"""Shares of answers must add up to 1 within it."""


def _share(number: Fraction) -> Fraction:
    if not 0 <= number <= 1:
        raise ValueError("a share from 0 to 1")
    return number


Share = Annotated[Fraction, after(_share), schema_of("number", minimum=0, maximum=1)]
Others = Annotated[int, whole_between(1, MOST_ANSWERS), schema_of("integer", minimum=1, maximum=MOST_ANSWERS)]


class Asked(Strict):
    """Whom the form is for: how many people, in numbers and in words."""

    people: People
    who: Annotated[str, Field(min_length=1)]


class Question(Strict):
    """One question: an attribute of the contract at a level, whose public margins say how people answer; or answers
    with their shares; or a question that is left out because nothing is known of its answers.

    `others` are further answers of which only their number is known: they share what is left equally. Where `several`
    answers may be given each share is that of the people who give it. `decline` is the share of those who would rather
    not say. `coarser` names ways to ask less: groups of answers.
    """

    name: Name
    ask: str = ""
    attribute: str | None = None
    level: str = "exact"
    answers: Annotated[dict[str, Share], Field(min_length=1)] | None = None
    others: Others | None = None
    several: Flag = False
    decline: Share = Fraction(0)
    coarser: Annotated[dict[str, dict[str, list[str]]], Field(default_factory=dict)]
    skip: str | None = None

    @model_validator(mode="after")
    def _of_one_sort(self) -> "Question":
        if sum(each is not None for each in (self.attribute, self.answers, self.skip)) != 1:
            raise ValueError("one of attribute, answers and skip (why it is left out)")
        if self.answers is None and (self.others is not None or self.several or self.coarser):
            raise ValueError("others, several and coarser beside answers only")
        if self.decline == 1:
            raise ValueError("decline: a share below 1")
        return self

    @model_validator(mode="after")
    def _shares(self) -> "Question":
        if self.answers is None:
            return self
        stated = sum(self.answers.values(), Fraction(0))
        if self.several:
            if self.others is not None or self.coarser:
                raise ValueError("neither others nor coarser where several answers may be given")
            if len(self.answers) > MOST_SEVERAL:
                raise ValueError(f"at most {MOST_SEVERAL} answers of which several may be given")
        elif self.others is None and abs(stated - 1) > SHARES_APART:
            raise ValueError(f"shares that add up to 1, not to {float(stated):.6g}; or others: how many more there are")
        elif self.others is not None and stated >= 1:
            raise ValueError(f"shares that leave some for the others, and do not add up to {float(stated):.6g}")
        return self

    @model_validator(mode="after")
    def _groups(self) -> "Question":
        known = sorted(self.answers or ())
        for name, groups in self.coarser.items():
            if sorted(answer for group in groups.values() for answer in group) != known:
                raise ValueError(f"every answer in exactly one group of {name!r}")
        return self


class QuestionnaireMetadata(Strict):
    """What the form is called, and where its shares are from."""

    name: Name
    title: Annotated[str, Field(min_length=1)]
    description: str = ""


class QuestionnaireSpec(Strict):
    """Who is asked what."""

    population: Asked
    contract: str | None = None
    questions: Annotated[list[Question], Field(min_length=1)]

    @model_validator(mode="after")
    def _names(self) -> "QuestionnaireSpec":
        names = [question.name for question in self.questions]
        if len(set(names)) != len(names):
            raise ValueError("each question under a name of its own")
        if self.contract is None and any(question.attribute is not None for question in self.questions):
            raise ValueError("contract: the id of the contract whose attributes are asked for")
        return self


class Questionnaire(Strict):
    """One questionnaire file."""

    api_version: Annotated[Literal["crowdgate/v1"], Field(alias="apiVersion")]
    kind: Literal["Questionnaire"]
    metadata: QuestionnaireMetadata
    spec: QuestionnaireSpec
