"""What a policy says of a release of rows: sampling, class size, attributes at levels, how levels are chosen, and which
margins of the full table are bought beside them."""

from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, PlainValidator, Tag, model_validator

from crowdgate.limits import GREATEST_K
from crowdgate.mechanisms.tables.spec import Ways
from crowdgate.policy.policy import MechanismSpec
from crowdgate.policy.values import Epsilon, Probability, Rate, Strict, Weight, schema_of, whole_number


def _class_size(text: Any) -> int | Literal["least"]:
    try:
        number = 1 if text == "least" else whole_number(text)
    except ValueError:
        number = 0
    if not 1 <= number <= GREATEST_K:
        raise ValueError(f"`least` or a whole number from 1 to {GREATEST_K}")
    return "least" if text == "least" else number


ClassSize = Annotated[
    int | Literal["least"], PlainValidator(_class_size), schema_of("integer", minimum=1, maximum=GREATEST_K)
]


class SampleSource(Strict):
    """Bernoulli sampling: every row stays with probability beta, decided by secret coins.

    Or `inherited`: the table is a sample already, and the contract attests how it was drawn.
    """

    beta: Rate | None = None
    inherited: str | None = None

    @model_validator(mode="after")
    def _one_mode(self) -> "SampleSource":
        if (self.beta is None) == (self.inherited is None):
            raise ValueError("either a beta above 0 and at most 1, or the name of an inherited sample")
        return self


def _only(word: str, reason: str) -> BeforeValidator:
    def check(value: Any) -> Any:
        if value != word:
            raise ValueError(f"{word}: {reason}")
        return value

    return BeforeValidator(check)


_CELLS = "leaving out single cells depends on the sample, and then no delta is known; list the attribute at `any`"
_LOCAL = "levels that differ from class to class depend on the sample; let `choose` choose them privately"


class Candidates(Strict):
    """Levels of one attribute among which the release chooses."""

    choose: Annotated[list[str], Field(min_length=1)]


def _level(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("the name of a level, or {choose: [...]} with the names of several")
    return value


LevelOrCandidates = Annotated[
    Annotated[str, BeforeValidator(_level), Tag("level")] | Annotated[Candidates, Tag("candidates")],
    Discriminator(lambda value: "candidates" if isinstance(value, dict | Candidates) else "level"),
]


class LevelChoice(Strict):
    """How levels are chosen: a private selection of the scheme with a high score, at the price of epsilon.

    On the full table the choice and the release compose. On the very sample that is released they do not, and the delta
    of both together holds for all candidates at once, which asks for a larger k.
    """

    epsilon: Epsilon
    score: Literal["expected_kept_rows", "expected_kept_information", "classification"] = "expected_kept_rows"
    on: Literal["full", "sample"] = "full"
    target: str | None = None
    weights: dict[str, Weight] = Field(default_factory=dict)


class MarginLine(Strict):
    """All tables of that many attributes, or the table of some."""

    all: Ways | None = None
    attributes: Annotated[list[str], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _all_or_attributes(self) -> "MarginLine":
        if (self.all is None) == (self.attributes is None):
            raise ValueError("either {all: a number of attributes} or {attributes: [...]}")
        return self


class MarginsSpec(Strict):
    """Noisy counts of the full table, with randomness of their own, which the rows are weighted to.

    The total and the tables of one attribute are always among them. Attributes are at their released levels, or at
    coarser ones that `levels` states; `any` leaves one out. Gaussian noise takes a part of delta as well, a tenth of
    it unless stated.
    """

    epsilon: Epsilon
    delta: Probability | None = None
    noise: Literal["gaussian", "laplace"] = "gaussian"
    tables: Annotated[list[MarginLine], Field(min_length=1)] = Field(default=[{"all": "2"}], validate_default=True)
    levels: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _delta_of_the_noise(self) -> "MarginsSpec":
        if self.delta is not None and self.noise != "gaussian":
            raise ValueError("a delta with gaussian noise only")
        return self

    def cost(self, delta: Fraction) -> tuple[Fraction, Fraction]:
        """Epsilon and delta, of that much delta in all."""
        if self.noise == "laplace":
            return self.epsilon, Fraction(0)
        return self.epsilon, delta / 10 if self.delta is None else self.delta


class SafeKAnonymity(MechanismSpec):
    """Sampling and k-anonymity at fixed or privately chosen levels. `attributes` is all that is published."""

    kind: Literal["safe_k_anonymity"]
    sampling: SampleSource
    k: ClassSize = "least"
    attributes: Annotated[dict[str, LevelOrCandidates], Field(min_length=1)]
    choose: LevelChoice | None = None
    margins: MarginsSpec | None = None
    suppression: Annotated[Literal["class"], _only("class", _CELLS)] = "class"
    recoding: Annotated[Literal["global"], _only("global", _LOCAL)] = "global"
