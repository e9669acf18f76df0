"""PolicyCases: expected outcomes of a policy for given measurements or simulated rows."""

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field, model_validator

from crowdgate.policy.policy import BudgetMetadata, Name, People, whole_between
from crowdgate.policy.values import Exact, Strict, no_items, schema_of

MOST_SEEDS = 2**32
Seed = Annotated[int, whole_between(0, MOST_SEEDS), schema_of("integer", minimum=0, maximum=MOST_SEEDS)]
Said = Literal["pass", "fail", "inconclusive"]


class MeasuredNumber(Strict):
    """A number that a gate is given in place of its measurement; `low` and `high` (by default the number) bound its
    interval.
    """

    gate: str
    """The measure of the gate, or its words as in `crowdgate check`."""
    value: Exact
    """The number in place of a measurement."""
    low: Exact | None = None
    """The lower confidence limit; by default the number."""
    high: Exact | None = None
    """The upper confidence limit; by default the number."""

    @property
    def interval(self) -> tuple[Fraction, Fraction]:
        """Lower and upper confidence limit."""
        low, high = (self.value if end is None else end for end in (self.low, self.high))
        return low, high

    @model_validator(mode="after")
    def _in_order(self) -> "MeasuredNumber":
        low, high = self.interval
        if not low <= self.value <= high:
            raise ValueError("low, value and high in order")
        return self


class SimulatedRows(Strict):
    """Simulated rows for a rehearsal: the number of people and the seed."""

    people: People
    """The number of people that rows are simulated for."""
    seed: Seed = 0
    """The seed of the simulation. Another seed gives other rows."""


class ExpectedOutcome(Strict):
    """The expected outcome of the release and verdicts of gates, by measure or by the words that `check` shows."""

    outcome: Literal["published", "withheld"]
    """The expected outcome: published or withheld."""
    gates: Annotated[dict[str, Said], Field(default_factory=dict)]
    """The expected verdicts of gates, by measure or words."""


class Case(Strict):
    """One case: `measured` numbers, or `rows` for a whole rehearsal. Gates without a number are judged as before data
    are read, or else pass.
    """

    name: Name
    """The name of the case: lower-case letters, digits and hyphens."""
    description: str = ""
    """The subject of the case, in a sentence or two."""
    measured: Annotated[list[MeasuredNumber], Field(default_factory=no_items)]
    """Numbers that gates are judged by in place of measurements. Gates without a number are assumed to pass."""
    rows: SimulatedRows | None = None
    """Simulated rows for a whole rehearsal, in place of numbers."""
    expect: ExpectedOutcome
    """The expected outcome of the release and its gates."""

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
    """The cases of the policy."""


class PolicyCases(Strict):
    """One file of cases."""

    api_version: Annotated[Literal["crowdgate/v1"], Field(alias="apiVersion")]
    """The form of this file."""
    kind: Literal["PolicyCases"]
    """The kind of this file: PolicyCases."""
    metadata: BudgetMetadata
    """The owner and the name of the cases."""
    spec: CasesSpec
    """The policy and its cases."""
