"""Questionnaire: what people are asked, and what is known beforehand of how they answer."""

from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, model_validator

from crowdgate.limits import MOST_ANSWERS, MOST_PEOPLE, MOST_SEVERAL, MOST_STATED
from crowdgate.policy.policy import Name, People, whole_between
from crowdgate.policy.values import Flag, Strict, exact_number_after, schema_of

SHARES_APART = Fraction(1, 10**6)
"""Shares of answers must add up to 1 within it."""


def _share(number: Fraction) -> Fraction:
    if not 0 <= number <= 1:
        raise ValueError("a share from 0 to 1")
    return number


Share = Annotated[Fraction, exact_number_after(_share), schema_of("number", minimum=0, maximum=1)]
Others = Annotated[int, whole_between(1, MOST_ANSWERS), schema_of("integer", minimum=1, maximum=MOST_ANSWERS)]


class Respondents(Strict):
    """Whom the form is for: how many people, in numbers and in words, and the population's id where it is that of a
    contract."""

    people: People
    """How many people the form is for."""
    who: Annotated[str, Field(min_length=1)]
    """Who they are, in words."""
    id: Annotated[str, Field(min_length=1)] | None = None
    """The id of the population, where it is that of a contract."""


def _positive(number: Fraction) -> Fraction:
    if not 0 < number <= MOST_PEOPLE:
        raise ValueError(f"a number above 0 and at most {MOST_PEOPLE}")
    return number


def _between(number: Fraction) -> Fraction:
    if not -1 < number < 1:
        raise ValueError("a correlation between -1 and 1, neither of them")
    return number


def _known_number(number: Fraction) -> Fraction:
    if abs(number) > MOST_PEOPLE:
        raise ValueError(f"a number from -{MOST_PEOPLE} to {MOST_PEOPLE}")
    return number


Positive = Annotated[Fraction, exact_number_after(_positive), schema_of("number", exclusiveMinimum=0)]
Real = Annotated[Fraction, exact_number_after(_known_number), schema_of("number")]
Numbers = Annotated[list[Real], Field(min_length=1, max_length=MOST_STATED)]

LAWS = {
    "uniform": ("low", "high"),
    "exponential": ("mean",),
    "normal": ("mean", "sd"),
    "histogram": ("edges", "counts"),
}
"""Laws of numbers, and what each is stated by."""


class Correlation(Strict):
    """Which question a Normal number goes together with, and how closely: bivariate Normal with correlation `rho`."""

    with_: Annotated[Name, Field(alias="with")]
    """The name of the other question."""
    rho: Annotated[Fraction, exact_number_after(_between), schema_of("number", minimum=-1, maximum=1)]
    """The correlation, between -1 and 1."""


class NumericAnswer(Strict):
    """A number, asked for in intervals of a width, and what is known of it: a law with its parameters (uniform from low
    to high, exponential, Normal), or how many people (`counts`) are between each two of rising `edges`, evenly.

    Intervals start at 0, of a uniform number at its least value.
    """

    law: Literal["uniform", "exponential", "normal", "histogram"]
    """What is known of the number."""
    width: Positive
    """The width of the intervals that it is asked for in."""
    low: Real | None = None
    """The least value, for law uniform."""
    high: Real | None = None
    """The greatest value, for law uniform."""
    mean: Real | None = None
    """The mean, for laws normal and exponential."""
    sd: Positive | None = None
    """The standard deviation, for law normal."""
    edges: Numbers | None = None
    """Rising numbers, for law histogram."""
    counts: Numbers | None = None
    """How many people are between each two edges, for law histogram."""
    correlated: Correlation | None = None
    """Another question that a Normal number goes together with."""

    def parameter(self, name: str) -> Fraction:
        """A parameter that the law has."""
        found = getattr(self, name)
        assert isinstance(found, Fraction), "the law is stated by it"
        return found

    @model_validator(mode="after")
    def _of_its_law(self) -> "NumericAnswer":
        given = {name for names in LAWS.values() for name in names if getattr(self, name) is not None}
        if given != set(LAWS[self.law]):
            raise ValueError(f"{' and '.join(LAWS[self.law])} for law {self.law}")
        if self.law == "uniform" and not self.parameter("low") < self.parameter("high"):
            raise ValueError("low below high")
        if self.law == "exponential" and self.parameter("mean") <= 0:
            raise ValueError("a mean above 0")
        if self.correlated is not None and self.law != "normal":
            raise ValueError("correlated for law normal only")
        return self

    @model_validator(mode="after")
    def _of_its_histogram(self) -> "NumericAnswer":
        if self.edges is None or self.counts is None:
            return self
        if any(after <= before for before, after in pairwise(self.edges)) or len(self.edges) != len(self.counts) + 1:
            raise ValueError("edges that rise, one more than counts")
        if min(self.counts) < 0 or not any(self.counts):
            raise ValueError("counts of at least 0, not all 0")
        return self


class QuestionSpec(Strict):
    """One question: an attribute of the contract at a level, whose public margins say how people answer; or answers
    with their shares; or a number by its law; or a question that is left out because nothing is known of its answers.

    `others` are further answers of which only their number is known: they share what is left equally. Where `several`
    answers may be given each share is that of the people who give it. `decline` is the share of those who would rather
    not say. `coarser` names ways to ask less: groups of answers.
    """

    name: Name
    """The name of the question: lower-case letters, digits and hyphens."""
    ask: str = ""
    """The question as people read it."""
    attribute: str | None = None
    """The attribute of the contract that it asks for."""
    level: str = "exact"
    """The level that it is asked at."""
    answers: Annotated[dict[str, Share], Field(min_length=1)] | None = None
    """Answers with the share of the people who give each."""
    numeric: NumericAnswer | None = None
    """A number that is asked for, and what is known of it."""
    others: Others | None = None
    """How many further answers there are, which share what is left equally."""
    several: Flag = False
    """Whether more than one answer may be given."""
    decline: Share = Fraction(0)
    """The share of the people who would rather not say."""
    coarser: Annotated[dict[str, dict[str, list[str]]], Field(default_factory=dict)]
    """Ways to ask less, by name, each with its groups of answers."""
    skip: str | None = None
    """Why it is left out, if nothing is known of its answers."""

    @model_validator(mode="after")
    def _of_one_sort(self) -> "QuestionSpec":
        if sum(each is not None for each in (self.attribute, self.answers, self.numeric, self.skip)) != 1:
            raise ValueError("one of attribute, answers, numeric and skip (why it is left out)")
        if self.answers is None and (self.others is not None or self.several or self.coarser):
            raise ValueError("others, several and coarser beside answers only")
        if self.decline == 1:
            raise ValueError("decline: a share below 1")
        return self

    @model_validator(mode="after")
    def _shares(self) -> "QuestionSpec":
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
    def _groups(self) -> "QuestionSpec":
        known = sorted(self.answers or ())
        for name, groups in self.coarser.items():
            if sorted(answer for group in groups.values() for answer in group) != known:
                raise ValueError(f"every answer in exactly one group of {name!r}")
        return self


class QuestionnaireMetadata(Strict):
    """What the form is called, and where its shares are from."""

    name: Name
    """The name: lower-case letters, digits and hyphens."""
    title: Annotated[str, Field(min_length=1)]
    """The title, as people read it."""
    description: str = ""
    """What the questionnaire is for."""


class QuestionnaireSpec(Strict):
    """Who is asked what."""

    population: Respondents
    """Whom the form is for."""
    contract: str | None = None
    """The id of a contract whose public margins say how people answer."""
    questions: Annotated[list[QuestionSpec], Field(min_length=1)]
    """What people are asked, one after the other."""

    @model_validator(mode="after")
    def _names(self) -> "QuestionnaireSpec":
        names = [question.name for question in self.questions]
        if len(set(names)) != len(names):
            raise ValueError("each question under a name of its own")
        if self.contract is None and any(question.attribute is not None for question in self.questions):
            raise ValueError("contract: the id of the contract whose attributes are asked for")
        return self

    @model_validator(mode="after")
    def _pairs(self) -> "QuestionnaireSpec":
        """Each number goes together with one other at most."""
        numeric = {each.name: each.numeric for each in self.questions if each.numeric is not None}
        told = [(name, each.correlated.with_) for name, each in numeric.items() if each.correlated is not None]
        for name, other in told:
            if other not in numeric or numeric[other].law != "normal":
                raise ValueError(f"{name!r} correlated with a question of law normal, not with {other!r}")
        paired = [name for pair in told for name in pair]
        if len(set(paired)) < len(paired):
            raise ValueError("each question correlated with one other, told by one of the two")
        if any(each.decline for each in self.questions if each.name in paired):
            raise ValueError("no decline where two questions are correlated")
        return self


class Questionnaire(Strict):
    """One questionnaire file."""

    api_version: Annotated[Literal["crowdgate/v1"], Field(alias="apiVersion")]
    """The form of this file."""
    kind: Literal["Questionnaire"]
    """What this file is: a questionnaire."""
    metadata: QuestionnaireMetadata
    """The questionnaire's name."""
    spec: QuestionnaireSpec
    """Who is asked, and what."""
