"""The policy's part for a release of rows: sampling, class size, attributes at levels, choice of levels, and margins of
the full table."""

from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, PlainValidator, Tag, model_validator

from crowdgate.limits import GREATEST_K
from crowdgate.mechanisms.tables.spec import Ways
from crowdgate.policy.field_order import (
    SHARES,
    Direction,
    KeyField,
    LevelsField,
    ListField,
    NestedField,
    ValueField,
    any_change,
    class_size,
    more_is_looser,
    rising,
    unordered,
)
from crowdgate.policy.policy import MechanismSpec
from crowdgate.policy.shares import BY_SHARE, PaidPart, Share
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
    """Bernoulli sampling: each row is sampled with probability beta, by secret random bits.

    Or `inherited`: the table is a sample already, and the contract attests its sampling.
    """

    beta: Annotated[
        Rate | None,
        ValueField(
            "the share of rows that is sampled, by secret random bits",
            more_is_looser,
            "more people are in a release",
            "fewer people are in a release",
        ),
    ] = None
    """The probability with which each row is sampled, by secret random bits. A smaller one needs a smaller k, and
    retains fewer rows."""
    inherited: Annotated[str | None, ValueField("the sample that the table already is", any_change)] = None
    """The name of the sample that the table already is, as its contract attests. It can be released once, at fixed
    levels."""

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

    choose: Annotated[list[str], Field(min_length=1), LevelsField("the levels among which a release chooses")]
    """The levels among which the release chooses."""


def _level(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("the name of a level, or {choose: [...]} with the names of several")
    return value


LevelOrCandidates = Annotated[
    Annotated[str, BeforeValidator(_level), Tag("level")] | Annotated[Candidates, Tag("candidates")],
    Discriminator(lambda value: "candidates" if isinstance(value, dict | Candidates) else "level"),
]


class LevelChoice(PaidPart):
    """A private choice of levels: a selection of a scheme with a high score, paid from epsilon.

    On the full table the choice and the release compose. On the released sample they do not, and the delta of both
    together holds for all candidates at once, which needs a larger k.
    """

    epsilon: Annotated[Epsilon, SHARES] = BY_SHARE
    """The privacy cost of the choice, a part of the policy's epsilon."""
    share: Annotated[Share | None, SHARES] = None
    """The share of the policy's epsilon that the choice costs, in place of `epsilon`."""
    score: Annotated[
        Literal["expected_kept_rows", "expected_kept_information", "classification"],
        ValueField("what levels are chosen for", unordered),
    ] = "expected_kept_rows"
    """The quantity that a good choice of levels retains."""
    on: Annotated[
        Literal["full", "sample"], ValueField("whether levels are chosen on the table or on the sample", unordered)
    ] = "full"
    """The table that the choice reads: the full table, or the released sample, which needs a larger k."""
    target: Annotated[str | None, ValueField("the attribute that levels are chosen for", unordered)] = None
    """The attribute that a classifier should predict well, for the score classification."""
    weights: Annotated[dict[str, Weight], ValueField("how much attributes count when levels are chosen", unordered)] = (
        Field(default_factory=dict)
    )
    """The weight of each attribute's information, for the score expected_kept_information."""


class MarginLine(Strict):
    """All tables of `all` attributes, or the table of the named ones."""

    all: Annotated[Ways | None, KeyField("counts of so many attributes")] = None
    """The number of attributes of each table; all such tables are published."""
    attributes: Annotated[Annotated[list[str], Field(min_length=1)] | None, KeyField("counts of these attributes")] = (
        None
    )
    """The attributes of one table."""

    @model_validator(mode="after")
    def _all_or_attributes(self) -> "MarginLine":
        if (self.all is None) == (self.attributes is None):
            raise ValueError("either {all: a number of attributes} or {attributes: [...]}")
        return self


class MarginsSpec(PaidPart):
    """Noisy counts of the full table, with independent randomness, to which the rows are weighted.

    The total and the tables of one attribute are always included. Attributes are at their released levels, or at
    coarser ones that `levels` states; `any` leaves one out. Gaussian noise also costs a part of delta, a tenth of it by
    default.
    """

    epsilon: Annotated[Epsilon, SHARES] = BY_SHARE
    """The privacy cost of the margins, a part of the policy's epsilon."""
    share: Annotated[Share | None, SHARES] = None
    """The share of the policy's epsilon that the margins cost, in place of `epsilon`."""
    delta: Annotated[Probability | None, SHARES] = None
    """The privacy cost of gaussian noise, a part of the policy's delta; by default a tenth of it."""
    noise: Annotated[Literal["gaussian", "laplace"], ValueField("the law of the noise", unordered)] = "gaussian"
    """The noise of the counts: gaussian suits many tables, laplace costs no delta."""
    tables: Annotated[
        list[MarginLine],
        Field(min_length=1),
        ListField(
            "noisy counts beside the rows",
            Direction.LOOSER,
            "more counts are published",
            "fewer counts are published",
            there=MarginLine.model_validate({"all": "1"}),
        ),
    ] = Field(default=[{"all": "2"}], validate_default=True)
    """Further tables; the total and those of one attribute are always included."""
    levels: Annotated[dict[str, str], ValueField("the levels of the counts beside the rows", unordered)] = Field(
        default_factory=dict
    )
    """Coarser levels for some attributes of the margins; `any` leaves one out."""

    @model_validator(mode="after")
    def _delta_of_the_noise(self) -> "MarginsSpec":
        if self.delta is not None and self.noise != "gaussian":
            raise ValueError("a delta with gaussian noise only")
        return self

    def cost(self, delta: Fraction) -> tuple[Fraction, Fraction]:
        """Return epsilon and delta of the margins, when the total delta is `delta`."""
        if self.noise == "laplace":
            return self.epsilon, Fraction(0)
        return self.epsilon, delta / 10 if self.delta is None else self.delta


class SafeKAnonymity(MechanismSpec):
    """Sampling and k-anonymity at fixed or privately chosen levels. Only `attributes` are published."""

    kind: Literal["safe_k_anonymity"]
    sampling: Annotated[SampleSource, NestedField("who is in a release")]
    """The sampling of rows before small classes are suppressed."""
    k: Annotated[
        ClassSize,
        ValueField(
            "how many sampled people share every released combination, at least",
            class_size,
            "rarer combinations may be published",
            "rare combinations may be left out that were published",
        ),
    ] = "least"
    """Classes of fewer rows are suppressed. `least` is the smallest k that keeps the policy's epsilon and delta."""
    attributes: Annotated[
        dict[str, LevelOrCandidates], Field(min_length=1), LevelsField("what is published of a person")
    ]
    """All published columns, each at a level of its contract, or with levels to choose among."""
    choose: Annotated[LevelChoice | None, NestedField("how levels are chosen from the table")] = None
    """The choice of levels among the candidates of the attributes, private and for a part of epsilon."""
    margins: Annotated[MarginsSpec | None, NestedField("noisy counts beside the rows", added=Direction.LOOSER)] = None
    """Noisy counts of the full table, for a part of epsilon, to which the rows are weighted."""
    suppression: Annotated[
        Literal["class"], _only("class", _CELLS), ValueField("what is left out", rising("class"))
    ] = "class"
    """The unit of suppression: whole classes. Nothing else has a known delta."""
    recoding: Annotated[
        Literal["global"],
        _only("global", _LOCAL),
        ValueField("whether all rows have the same levels", rising("global")),
    ] = "global"
    """The scope of levels: global, the same for all rows. Nothing else has a known delta."""
