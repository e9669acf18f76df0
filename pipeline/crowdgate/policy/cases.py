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
    value: Exact
    low: Exact | None = None
    high: Exact | None = None

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
    seed: Seed = 0


class ExpectedOutcome(Strict):
    """How the release must end, and what gates must say, by their measure, or by the words that `check` shows."""

    outcome: Literal["published", "withheld"]
    gates: Annotated[dict[str, Said], Field(default_factory=dict)]


class Case(Strict):
    """One case: `measured` numbers, where gates that get none are judged as they are before data are read, or else
    taken to pass; or `rows` for a whole rehearsal."""

    name: Name
    description: str = ""
    measured: Annotated[list[MeasuredNumber], Field(default_factory=list)]
    rows: SimulatedRows | None = None
    expect: ExpectedOutcome

    @model_validator(mode="after")
    def _one_kind(self) -> "Case":
        if self.measured and self.rows is not None:
            raise ValueError("either measured numbers or rows")
        return self


class CasesSpec(Strict):
    """The policy, a file of policies/, and its cases."""

    policy: str
    cases: Annotated[list[Case], Field(min_length=1)]


class PolicyCases(Strict):
    """One file of cases."""

    api_version: Annotated[Literal["crowdgate/v1"], Field(alias="apiVersion")]
    kind: Literal["PolicyCases"]
    metadata: BudgetMetadata
    spec: CasesSpec
