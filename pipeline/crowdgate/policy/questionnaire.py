"""Questionnaire: the questions of a form, and the known distributions of their answers."""

from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, model_validator

from crowdgate.limits import MOST_ANSWERS, MOST_PEOPLE, MOST_SEVERAL, MOST_STATED
from crowdgate.policy.policy import Name, People, whole_between
from crowdgate.policy.values import Flag, Strict, exact_number_after, schema_of

SHARES_APART = Fraction(1, 10**6)
"""The tolerance of the sum of answer shares around 1."""


def _share(number: Fraction) -> Fraction:
    if not 0 <= number <= 1:
        raise ValueError("a share from 0 to 1")
    return number


Share = Annotated[Fraction, exact_number_after(_share), schema_of("number", minimum=0, maximum=1)]
Others = Annotated[int, whole_between(1, MOST_ANSWERS), schema_of("integer", minimum=1, maximum=MOST_ANSWERS)]


class Respondents(Strict):
    """The respondents: their number, a description, and the population's id if it is that of a contract."""

    people: People
    """The number of respondents."""
    who: Annotated[str, Field(min_length=1)]
    """The description of the respondents."""
    id: Annotated[str, Field(min_length=1)] | None = None
    """The id of the population, if it is that of a contract."""


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
"""The parameters of each probability law of numbers."""


class Correlation(Strict):
    """The correlation of a Normal number with another question: bivariate Normal with correlation `rho`."""

    with_: Annotated[Name, Field(alias="with")]
    """The name of the other question."""
    rho: Annotated[Fraction, exact_number_after(_between), schema_of("number", minimum=-1, maximum=1)]
    """The correlation, between -1 and 1."""


class NumericAnswer(Strict):
    """A number, asked for in intervals of a width, with its distribution.

    The distribution is a law with its parameters (uniform from low to high, exponential, Normal), or numbers of people
    (`counts`) between successive rising `edges`, evenly spread. Intervals start at 0, those of a uniform number at its
    least value.
    """

    law: Literal["uniform", "exponential", "normal", "histogram"]
    """The distribution of the number."""
    width: Positive
    """The width of the intervals of the answers."""
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
    """The number of people between each two edges, for law histogram."""
    correlated: Correlation | None = None
    """The correlation of a Normal number with another question."""

    def parameter(self, name: str) -> Fraction:
        """Return the value of the parameter `name` of the number's distribution, which must have it."""
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
    """One question.

    It is one of: an attribute of the contract at a level, whose public margins give the distribution; answers with
    their shares; a number by its law; or a question left out because its distribution is unknown. `others` is the
    number of further answers, which share the remainder equally. If `several` answers may be given, each share is that
    of the people who give the answer. `decline` is the share of people who do not answer. `coarser` names groupings of
    the answers, to ask for less.
    """

    name: Name
    """The name of the question: lower-case letters, digits and hyphens."""
    ask: str = ""
    """The text of the question."""
    attribute: str | None = None
    """The attribute of the contract that it asks for."""
    level: str = "exact"
    """The level of the attribute that the question asks for."""
    answers: Annotated[dict[str, Share], Field(min_length=1)] | None = None
    """The answers, each with the share of the people who give it."""
    numeric: NumericAnswer | None = None
    """The number that the question asks for, with its distribution."""
    others: Others | None = None
    """The number of further answers, which share the remainder equally."""
    several: Flag = False
    """True if more than one answer may be given."""
    decline: Share = Fraction(0)
    """The share of the people who do not answer."""
    coarser: Annotated[dict[str, dict[str, list[str]]], Field(default_factory=dict)]
    """Coarser versions of the question, by name, each with its groups of answers."""
    skip: str | None = None
    """The reason why the question is left out, if the distribution of its answers is unknown."""

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
    """The name, title and description of the form."""

    name: Name
    """The name: lower-case letters, digits and hyphens."""
    title: Annotated[str, Field(min_length=1)]
    """The title of the form."""
    description: str = ""
    """The purpose of the questionnaire."""


class QuestionnaireSpec(Strict):
    """The respondents and the questions."""

    population: Respondents
    """The respondents."""
    contract: str | None = None
    """The id of a contract whose public margins give the distribution of answers."""
    questions: Annotated[list[QuestionSpec], Field(min_length=1)]
    """The questions, in their order."""

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
        """Check that each number is correlated with at most one other."""
        numeric = {each.name: each.numeric for each in self.questions if each.numeric is not None}
        told = [(name, each.correlated.with_) for name, each in numeric.items() if each.correlated is not None]
        for name, other in told:
            if other not in numeric or numeric[other].law != "normal":
                raise ValueError(f"{name!r} correlated with a question of law normal, not with {other!r}")
        paired = [name for pair in told for name in pair]
        if len(set(paired)) < len(paired):
            raise ValueError("each question correlated with at most one other, and this stated at one of the two")
        if any(each.decline for each in self.questions if each.name in paired):
            raise ValueError("no decline where two questions are correlated")
        return self


class Questionnaire(Strict):
    """One questionnaire file."""

    api_version: Annotated[Literal["crowdgate/v1"], Field(alias="apiVersion")]
    """The form of this file."""
    kind: Literal["Questionnaire"]
    """The kind of this file: Questionnaire."""
    metadata: QuestionnaireMetadata
    """The questionnaire's name."""
    spec: QuestionnaireSpec
    """The respondents and the questions."""
