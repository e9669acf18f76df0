"""PolicyCases: what a policy must do, said beforehand: numbers that gates are given, or rows that nobody has."""

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field, model_validator

from crowdgate.policy.policy import BudgetMetadata, Name, People, whole_between
from crowdgate.policy.values import Exact, Strict, schema_of

MOST_SEEDS = 2**32
Seed = Annotated[int, whole_between(0, MOST_SEEDS), schema_of("integer", minimum=0, maximum=MOST_SEEDS)]
Said = Literal["pass", "fail", "inconclusive"]


class MeasuredNumber(Strict):
    """A number as if a gate's measure had come out so; `low` and `high` are the ends of its interval (the number)."""

    gate: str
    """The measure of the gate, or its words as `crowdgate check` shows them."""
    value: Exact
    """The number as if it had been measured."""
    low: Exact | None = None
    """The low end of its interval; by default the number."""
    high: Exact | None = None
    """The high end of its interval; by default the number."""

    @property
    def interval(self) -> tuple[Fraction, Fraction]:
        """Both ends."""
        low, high = (self.value if end is None else end for end in (self.low, self.high))
        return low, high

    @model_validator(mode="after")
    def _in_order(self) -> "MeasuredNumber":
        low, high = self.interval
        if not low <= self.value <= high:
            raise ValueError("low, value and high in order")
        return self


class SimulatedRows(Strict):
    """Rows for a rehearsal: of how many people, from which seed."""

    people: People
    """How many people the rows are made of."""
    seed: Seed = 0
    """Another seed makes other rows."""


class ExpectedOutcome(Strict):
    """How the release must end, and what gates must say, by their measure, or by the words that `check` shows."""

    outcome: Literal["published", "withheld"]
    """Whether the release is published or withheld."""
    gates: Annotated[dict[str, Said], Field(default_factory=dict)]
    """What gates must say, by their measure or their words."""


class Case(Strict):
    """One case: `measured` numbers, where gates that get none are judged as they are before data are read, or else
    taken to pass; or `rows` for a whole rehearsal."""

    name: Name
    """The name of the case: lower-case letters, digits and hyphens."""
    description: str = ""
    """What the case is about."""
    measured: Annotated[list[MeasuredNumber], Field(default_factory=list)]
    """Numbers that gates are judged by as if they had been measured. Gates that get none are taken to pass."""
    rows: SimulatedRows | None = None
    """A whole rehearsal on rows that nobody has, in place of numbers."""
    expect: ExpectedOutcome
    """How the release must end."""

    @model_validator(mode="after")
    def _one_kind(self) -> "Case":
        if self.measured and self.rows is not None:
            raise ValueError("either measured numbers or rows")
        return self


class CasesSpec(Strict):
    """The policy, a file of policies/, and its cases."""

    policy: str
    """The policy's file, in policies."""
    cases: Annotated[list[Case], Field(min_length=1)]
    """What the policy must do."""


class PolicyCases(Strict):
    """One file of cases."""

    api_version: Annotated[Literal["crowdgate/v1"], Field(alias="apiVersion")]
    """The form of this file."""
    kind: Literal["PolicyCases"]
    """What this file is: cases that a policy must pass."""
    metadata: BudgetMetadata
    """Who answers for the cases, and their name."""
    spec: CasesSpec
    """The policy and its cases."""
