"""ReleasePolicy and PrivacyBudget: strict values of the policy files.

What a policy says of its mechanism is a specification of its kind of release. Which kinds
there are is handed in: this subpackage knows none of them.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import Annotated, Any, Literal, Union

from pydantic import BeforeValidator, ConfigDict, Field, create_model, model_validator

from crowdgate.limits import MOST_PEOPLE, MOST_RELEASES, MOST_SKEW, MOST_TRIALS
from crowdgate.policy.values import (
    NUMBER,
    Day,
    Epsilon,
    Exact,
    Flag,
    Line,
    Probability,
    Rate,
    Strict,
    exact_number_after,
    schema_of,
    whole_number,
)
from crowdgate.system.short_repr import short_repr

API_VERSION = "crowdgate/v1"


def whole_between(least: int, most: int) -> BeforeValidator:
    """Read a whole number, then check its range."""

    def check(text: Any) -> int:
        number = whole_number(text)
        if not least <= number <= most:
            raise ValueError(f"a whole number from {least} to {most}")
        return number

    return BeforeValidator(check)


People = Annotated[int, whole_between(1, MOST_PEOPLE), schema_of("integer", minimum=1, maximum=MOST_PEOPLE)]
Units = Annotated[int, whole_between(2, MOST_PEOPLE), schema_of("integer", minimum=2, maximum=MOST_PEOPLE)]
Releases = Annotated[int, whole_between(20, MOST_RELEASES), schema_of("integer", minimum=20, maximum=MOST_RELEASES)]
Trials = Annotated[int, whole_between(1, MOST_TRIALS), schema_of("integer", minimum=1, maximum=MOST_TRIALS)]


def _skew(number: Fraction) -> Fraction:
    if not 1 <= number <= MOST_SKEW:
        raise ValueError(f"a number from 1 (as many non-members as members) to {MOST_SKEW:,}")
    return number


Skew = Annotated[Fraction, exact_number_after(_skew), schema_of("number", minimum=1, maximum=MOST_SKEW)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
"""Becomes a folder of the release, so: lower-case letters, digits and hyphens."""


class Metadata(Strict):
    """Who answers for the file, its name, and its version: a whole number, which a changed policy raises."""

    name: Name
    version: Annotated[str, Field(pattern=r"^[1-9][0-9]{0,8}$"), NUMBER] = "1"
    owner: Line
    description: str = ""


class MechanismSpec(Strict):
    """What a policy says of its mechanism. Each kind of release has a specification of its own, told by `kind`."""

    kind: str


class Privacy(Strict):
    """The total of one release: mechanism, choices and charged gates together."""

    epsilon: Epsilon
    delta: Probability


class Charge(Strict):
    """What a charged gate costs; part of the policy's total."""

    epsilon: Epsilon


class Waiver(Strict):
    """A failure of this gate does not withhold a release, up to a day. What could not be measured still does."""

    reason: Annotated[Line, Field(description="Why a failure is put up with.")]
    approved_by: Annotated[Line, Field(description="Who decided that, and answers for it.")]
    expires: Annotated[
        Day, Field(description="The last day on which it holds, YYYY-MM-DD: of the slot and of the run.")
    ]


class GateRule(Strict):
    """One line of `gates`: a measure and the limit it must keep."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["at_most"]}, {"required": ["at_least"]}]})

    measure: Annotated[str, Field(description="What is measured.")]
    at_most: Annotated[Exact | None, Field(description="The greatest number that passes.")] = None
    at_least: Annotated[Exact | None, Field(description="The least number that passes.")] = None
    over: Annotated[
        Annotated[list[str], Field(min_length=1)] | None,
        Field(description="The attributes that the measure looks at; all unless stated."),
    ] = None
    of: Annotated[str | None, Field(description="The attribute that the measure speaks of.")] = None
    options: Annotated[
        dict[str, Exact], Field(alias="with", default_factory=dict, description="Options of the measure.")
    ]
    charge: Annotated[Charge | None, Field(description="What it costs, where it reads the table through noise.")] = None
    severity: Annotated[
        Literal["block", "advise"], Field(description="Whether anything but a pass withholds the release.")
    ] = "block"
    reason: Annotated[Line | None, Field(description="Why there is this gate, and why at this limit.")] = None
    reference: Annotated[Line | None, Field(description="Where that was decided, or what it follows.")] = None
    waiver: Annotated[
        Waiver | None,
        Field(description="By whose approval, and until when, a failure does not withhold. Never on the guarantee."),
    ] = None

    @model_validator(mode="after")
    def _one_limit(self) -> "GateRule":
        if (self.at_most is None) == (self.at_least is None):
            raise ValueError("exactly one limit, at_most or at_least")
        return self


class Publish(Strict):
    """Where the release goes, relative to the working copy, in which formats, and what of a run scheduled deployments
    may set. A person at the command line may set all of it."""

    to: str
    formats: Annotated[list[str], Field(min_length=1, default_factory=lambda: ["parquet"])]
    deployments_may_set: Annotated[list[Literal["to", "input", "ledger"]], Field(default_factory=list)]


class InferenceSpec(Strict):
    """How attribute inference is audited: in so many releases of one table, at that share of the targets; `limit` is
    the greatest precision improvement over the baselines that passes."""

    releases: Releases = 300
    coverage: Probability = Fraction(1)
    limit: Probability = Fraction(1, 10)


class MembershipSpec(Strict):
    """How membership is audited: in releases of so many tables, each of at most half of the population. `limit` is the
    greatest precision that passes of a claim that somebody is in the table, where there are `skew` non-members for each
    member, of all attacks that find a share `recall` of the members or more."""

    releases: Releases = 300
    skew: Skew = Fraction(30)
    recall: Rate = Fraction(1, 100)
    limit: Probability = Fraction(1, 2)


class AuditSpec(Strict):
    """How the mechanism is audited: tables of `units` privacy units (by default as many as the population has) are
    drawn from the public table of the contract `population` (by default the policy's own), `trials` times, with
    replacement or without. Attackers answer with predicates of at most `weight` (by default .005/units); `limit` is the
    greatest excess over the baseline that passes."""

    population: str | None = None
    units: Units | None = None
    trials: Trials = 2500
    weight: Rate | None = None
    limit: Probability = Fraction(1, 100)
    replacement: Flag = True
    inference: InferenceSpec = Field(default_factory=InferenceSpec)
    membership: MembershipSpec = Field(default_factory=MembershipSpec)

    def largest(self, units: int) -> Fraction:
        """The greatest weight of a predicate against tables of so many units."""
        return Fraction(1, 200 * units) if self.weight is None else self.weight


class RegisterSpec(Strict):
    """The contract of a public register: gates on matches compare the release with it."""

    contract: str


class ReleaseSpec(Strict):
    """What is released, how it is protected, what it costs and what must hold."""

    enforcement: Annotated[
        Literal["enforce", "dry-run"],
        Field(
            description="With dry-run nothing is ever released: a run rehearses the policy on rows that nobody has, and"
            " touches neither the table nor the ledger."
        ),
    ] = "enforce"
    contract: str
    budget: str
    privacy: Privacy
    mechanism: MechanismSpec
    gates: Annotated[list[GateRule], Field(min_length=1)]
    publish: Publish
    audit: AuditSpec | None = None
    against: Annotated[RegisterSpec | None, Field(alias="register")] = None


class ReleasePolicy(Strict):
    """One policy file."""

    __repr__ = short_repr

    api_version: Annotated[Literal["crowdgate/v1"], Field(alias="apiVersion")]
    kind: Literal["ReleasePolicy"]
    metadata: Metadata
    spec: ReleaseSpec


def policy_model(specs: Mapping[str, type[MechanismSpec]], formats: tuple[str, ...]) -> type[ReleasePolicy]:
    """The model of policy files that name these kinds of release and these formats."""
    stated: Any = Union[tuple(specs.values())]  # noqa: UP007
    mechanism: Any = Annotated[stated, Field(discriminator="kind")] if len(specs) > 1 else stated
    names: Any = list[Literal[formats]]  # type: ignore[valid-type]
    default: Any = Field(min_length=1, default_factory=lambda: [formats[0]])
    formatted: Any = Annotated[names, default]
    publish: Any = create_model("Publish", __base__=Publish, __doc__=Publish.__doc__, formats=(formatted, ...))
    spec = create_model(
        "ReleaseSpec", __base__=ReleaseSpec, __doc__=ReleaseSpec.__doc__,
        mechanism=(mechanism, ...), publish=(publish, ...),
    )  # fmt: skip
    spec_type: Any = spec
    return create_model("ReleasePolicy", __base__=ReleasePolicy, __doc__=ReleasePolicy.__doc__, spec=(spec_type, ...))


class BudgetSpec(Strict):
    """The lifetime budget of a population. `people` bounds all who ever are in its inputs; it is public."""

    ledger: Annotated[str, Field(pattern=r"^[a-z0-9-]{1,40}-[0-9a-f]{8}$")]
    epsilon: Epsilon
    delta: Probability
    people: People
    unit: str = "row"
    relation: Literal["add-remove"] = "add-remove"


class BudgetMetadata(Strict):
    """The population that the budget belongs to, and who answers for it."""

    name: Name
    owner: Line
    description: str = ""


class PrivacyBudget(Strict):
    """One budget file."""

    api_version: Annotated[Literal["crowdgate/v1"], Field(alias="apiVersion")]
    kind: Literal["PrivacyBudget"]
    metadata: BudgetMetadata
    spec: BudgetSpec


def parse_slot(text: str) -> str:
    """A release slot, `YYYY-MM-DD` or `YYYY-MM-DDTHHMMZ`. Raises ValueError for anything else."""
    try:
        if len(text) == 10:
            return date.fromisoformat(text).isoformat()
        return datetime.strptime(text, "%Y-%m-%dT%H%MZ").replace(tzinfo=UTC).strftime("%Y-%m-%dT%H%MZ")
    except ValueError:
        raise ValueError("the slot must be YYYY-MM-DD or YYYY-MM-DDTHHMMZ (UTC)") from None


def version_of(policy: ReleasePolicy) -> str:
    """Name and version, of which the ledger knows one digest."""
    return f"{policy.metadata.name}/{policy.metadata.version}"


def release_id(policy: ReleasePolicy, slot: str) -> str:
    """Name, version and slot: the same id never draws or publishes twice."""
    return f"{version_of(policy)}/{slot}"
