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
from crowdgate.policy.field_order import (
    Direction,
    KeyField,
    ListField,
    NameField,
    NestedField,
    ValueField,
    any_change,
    later_is_looser,
    more_is_looser,
    more_is_tighter,
    more_of_them_is_looser,
    rising,
    unordered,
)
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

    name: Annotated[Name, ValueField("the policy: releases under another name are other releases", any_change)]
    """The policy's name, which becomes a folder of its releases: lower-case letters, digits and hyphens."""
    version: Annotated[
        str, Field(pattern=r"^[1-9][0-9]{0,8}$"), NUMBER, NameField("the version, which a changed policy raises")
    ] = "1"
    """A whole number. A policy that changed after it was charged needs a greater one."""
    owner: Annotated[Line, ValueField("who answers for the policy, which is published", any_change)]
    """Who answers for the policy. It is published with every release."""
    description: Annotated[str, ValueField("the policy in free words, which are published", any_change)] = ""
    """What the release is, in a sentence or two. It is published with every release."""


class MechanismSpec(Strict):
    """What a policy says of its mechanism. Each kind of release has a specification of its own, told by `kind`."""

    kind: Annotated[str, ValueField("what protects: the releases are of another kind", any_change)]
    """The kind of release: rows of real people, tables of numbers, or synthetic rows."""


class Privacy(Strict):
    """The total of one release: mechanism, choices and charged gates together."""

    epsilon: Annotated[
        Epsilon,
        ValueField(
            "what one release may tell about anybody",
            more_is_looser,
            "one release may tell more about every person",
            "one release may tell less about any person",
        ),
    ]
    """How much any one person can change what is released, in all. Smaller protects better; above 3 little is left of
    it."""
    delta: Annotated[
        Probability,
        ValueField(
            "the probability that the limit on what is told does not hold",
            more_is_looser,
            "the guarantee may fail with a greater probability",
            "the guarantee may fail with a smaller probability only",
        ),
    ]
    """The probability that the limit by epsilon leaves out, for each person. It should be far below one in as many as
    there are people."""


class Charge(Strict):
    """What a charged gate costs; part of the policy's total."""

    epsilon: Annotated[
        Epsilon, ValueField("what a gate costs: it is judged more exactly, and leaves the mechanism less", unordered)
    ]
    """What the noisy number costs of the policy's epsilon. Less epsilon means more noise."""


class Waiver(Strict):
    """A failure of this gate does not withhold a release, up to a day. What could not be measured still does."""

    reason: Annotated[Line, NameField("why a failure is put up with")]
    """Why a failure is put up with."""
    approved_by: Annotated[Line, NameField("who answers for a waiver")]
    """Who decided that, and answers for it."""
    expires: Annotated[
        Day,
        ValueField(
            "up to when a failure does not withhold",
            later_is_looser,
            "what fails the gate is published for longer",
            "the gate withholds what fails it from an earlier day on",
        ),
    ]
    """The last day on which it holds, YYYY-MM-DD: of the slot and of the run."""


class GateRule(Strict):
    """One line of `gates`: a measure and the limit it must keep."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["at_most"]}, {"required": ["at_least"]}]})

    measure: Annotated[str, KeyField("what a gate measures")]
    """What is measured."""
    at_most: Annotated[
        Exact | None,
        ValueField(
            "the limit of a gate",
            more_is_looser,
            "releases pass that were withheld",
            "releases are withheld that passed",
        ),
    ] = None
    """The greatest number that passes."""
    at_least: Annotated[
        Exact | None,
        ValueField(
            "the limit of a gate",
            more_is_tighter,
            "releases pass that were withheld",
            "releases are withheld that passed",
        ),
    ] = None
    """The least number that passes."""
    over: Annotated[
        Annotated[list[str], Field(min_length=1)] | None, KeyField("the attributes that a gate speaks of")
    ] = None
    """The attributes that the measure looks at; all unless stated."""
    of: Annotated[str | None, KeyField("the attribute that a gate speaks of")] = None
    """The attribute that the measure speaks of."""
    options: Annotated[dict[str, Exact], Field(alias="with", default_factory=dict), KeyField("how a gate measures")]
    """Options of the measure."""
    charge: Annotated[Charge | None, NestedField("what a gate costs")] = None
    """What it costs, where it reads the table through noise."""
    severity: Annotated[
        Literal["block", "advise"],
        ValueField(
            "whether a gate withholds",
            rising("advise", "block"),
            "the gate only advises: what fails it is published",
            "the gate withholds what fails it",
        ),
    ] = "block"
    """Whether anything but a pass withholds the release."""
    reason: Annotated[Line | None, NameField("why there is a gate")] = None
    """Why there is this gate, and why at this limit."""
    reference: Annotated[Line | None, NameField("where a gate was decided")] = None
    """Where that was decided, or what it follows."""
    waiver: Annotated[Waiver | None, NestedField("a failure of the gate does not withhold", added=Direction.LOOSER)] = (
        None
    )
    """By whose approval, and until when, a failure does not withhold. Never on the guarantee."""

    @model_validator(mode="after")
    def _one_limit(self) -> "GateRule":
        if (self.at_most is None) == (self.at_least is None):
            raise ValueError("exactly one limit, at_most or at_least")
        return self


class Publish(Strict):
    """Where the release goes, relative to the working copy, in which formats, and what of a run scheduled deployments
    may set. A person at the command line may set all of it."""

    to: Annotated[str, ValueField("where releases go", any_change)]
    """The folder of releases, relative to the working copy."""
    formats: Annotated[
        list[str],
        Field(min_length=1, default_factory=lambda: ["parquet"]),
        ValueField("the formats of the same data", unordered),
    ]
    """The formats of the data files."""
    deployments_may_set: Annotated[
        list[Literal["to", "input", "ledger"]],
        Field(default_factory=list),
        ValueField(
            "what scheduled runs may set",
            more_of_them_is_looser,
            "scheduled runs may set more of a release",
            "scheduled runs may set less of a release",
        ),
    ]
    """What scheduled runs may set in place of the policy. A person at the command line may set all of it."""


_PLAYED = ValueField("how an audit is played", unordered)


class InferenceSpec(Strict):
    """How attribute inference is audited: in so many releases of one table, at that share of the targets; `limit` is
    the greatest precision improvement over the baselines that passes."""

    releases: Annotated[Releases, _PLAYED] = 300
    """How many releases of one table are attacked."""
    coverage: Annotated[Rate, ValueField("at how many of the targets inference is audited", any_change)] = Fraction(1)
    """The share of the people for whom guesses are made: 1, 0.1, 0.01 or 0.001."""
    limit: Annotated[
        Probability,
        ValueField(
            "the improvement over the baselines that an audit lets pass",
            more_is_looser,
            "audits pass that failed",
            "audits fail that passed",
        ),
    ] = Fraction(1, 10)
    """By how much guesses may be more often right than those of a model that never saw the person."""


class MembershipSpec(Strict):
    """How membership is audited: in releases of so many tables, each of at most half of the population. `limit` is the
    greatest precision that passes of a claim that somebody is in the table, where there are `skew` non-members for each
    member, of all attacks that find a share `recall` of the members or more."""

    releases: Annotated[Releases, _PLAYED] = 300
    """How many tables are drawn, released and attacked."""
    skew: Annotated[Skew, ValueField("how rare members are in audits", any_change)] = Fraction(30)
    """How many non-members there are for each member."""
    recall: Annotated[Rate, ValueField("which attacks on membership count", any_change)] = Fraction(1, 100)
    """Attacks are judged that find at least this share of the members."""
    limit: Annotated[
        Probability,
        ValueField(
            "the precision of a claim of membership that an audit lets pass",
            more_is_looser,
            "audits pass that failed",
            "audits fail that passed",
        ),
    ] = Fraction(1, 2)
    """How often, at most, a claim that somebody is in the table may be right."""


class AuditSpec(Strict):
    """How the mechanism is audited: tables of `units` privacy units (by default as many as the population has) are
    drawn from the public table of the contract `population` (by default the policy's own), `trials` times, with
    replacement or without. Attackers answer with predicates of at most `weight` (by default .005/units); `limit` is the
    greatest excess over the baseline that passes."""

    population: Annotated[str | None, ValueField("the public population of audits", any_change)] = None
    """The id of the contract of a public table that tables are drawn from; by default the policy's own."""
    units: Annotated[Units | None, ValueField("the size of the tables that are attacked", any_change)] = None
    """How many privacy units each drawn table has; by default as many as the public table."""
    trials: Annotated[Trials, _PLAYED] = 2500
    """How many tables are drawn and attacked. More trials give narrower intervals."""
    weight: Annotated[Rate | None, ValueField("which predicates count as singling out", any_change)] = None
    """How narrow the attackers' descriptions must be: the greatest probability that one fits somebody at random. By
    default .005 over the units."""
    limit: Annotated[
        Probability,
        ValueField(
            "the excess that an audit lets pass", more_is_looser, "audits pass that failed", "audits fail that passed"
        ),
    ] = Fraction(1, 100)
    """By how much more often than who sees nothing attackers may point at exactly one person, for the audit to pass."""
    replacement: Annotated[Flag, ValueField("how tables of audits are drawn", any_change)] = True
    """Whether the same person may be drawn twice into a table."""
    inference: Annotated[InferenceSpec, NestedField("audits of inference")] = Field(default_factory=InferenceSpec)
    """How the guessing of secret attributes is audited."""
    membership: Annotated[MembershipSpec, NestedField("audits of membership")] = Field(default_factory=MembershipSpec)
    """How it is audited whether somebody can be told to be in the table."""

    def largest(self, units: int) -> Fraction:
        """The greatest weight of a predicate against tables of so many units."""
        return Fraction(1, 200 * units) if self.weight is None else self.weight


class RegisterSpec(Strict):
    """The contract of a public register: gates on matches compare the release with it."""

    contract: Annotated[str, ValueField("the public register that gates compare with", any_change)]
    """The id of the register's contract, which must say that its table is public."""


class ReleaseSpec(Strict):
    """What is released, how it is protected, what it costs and what must hold."""

    enforcement: Annotated[
        Literal["enforce", "dry-run"],
        ValueField("whether anything is released, or only rehearsed", rising("enforce", "dry-run")),
    ] = "enforce"
    """With dry-run nothing is ever released: a run rehearses the policy on rows that nobody has, and touches neither
    the table nor the ledger."""
    contract: Annotated[str, ValueField("the table that is read, and its levels", any_change)]
    """The id of the data contract whose table is read, in data_contracts."""
    budget: Annotated[str, ValueField("the population whose budget pays", any_change)]
    """The name of the budget that pays, in policies/budgets. It must be that of the contract's population."""
    privacy: Annotated[Privacy, NestedField("the total of one release")]
    """What one release may cost in all: mechanism, choices and charged gates together."""
    mechanism: Annotated[MechanismSpec, NestedField("what protects")]
    """How the data are protected, and what is made of them."""
    gates: Annotated[
        list[GateRule],
        Field(min_length=1),
        ListField(
            "what must hold",
            Direction.TIGHTER,
            "a gate is gone: what it withheld can be published",
            "one more gate must pass",
        ),
    ]
    """What must hold for a release to be published. One at least must block, and have no waiver."""
    publish: Annotated[Publish, NestedField("where releases go")]
    """Where releases go and as which files."""
    audit: Annotated[AuditSpec | None, NestedField("how the mechanism is audited", missing=AuditSpec())] = None
    """How attackers play against the mechanism on a public table, for gates that read an audit."""
    against: Annotated[
        RegisterSpec | None, Field(alias="register"), NestedField("the public register that gates compare with")
    ] = None
    """A public register that gates on matches compare the release with."""


class ReleasePolicy(Strict):
    """One policy file."""

    __repr__ = short_repr

    api_version: Annotated[
        Literal["crowdgate/v1"], Field(alias="apiVersion"), ValueField("the form of policy files", any_change)
    ]
    """The form of this file."""
    kind: Annotated[Literal["ReleasePolicy"], ValueField("the kind of file", any_change)]
    """What this file is: a policy of releases."""
    metadata: Annotated[Metadata, NestedField("whose policy it is")]
    """Who answers for the policy, its name and its version."""
    spec: Annotated[ReleaseSpec, NestedField("what is released")]
    """What is released, how it is protected, what it costs and what must hold."""


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

    ledger: Annotated[
        str,
        Field(pattern=r"^[a-z0-9-]{1,40}-[0-9a-f]{8}$"),
        ValueField("the ledger that remembers what was spent", any_change),
    ]
    """The id of the ledger that keeps this budget. `crowdgate ledger create` prints it."""
    epsilon: Annotated[
        Epsilon,
        ValueField(
            "what these people may lose in their lifetime",
            more_is_looser,
            "these people may lose more in their lifetime",
            "these people may lose less in their lifetime",
        ),
    ]
    """What all releases of these people may cost together, for life."""
    delta: Annotated[
        Probability,
        ValueField(
            "the probability, over a lifetime, that the limit does not hold",
            more_is_looser,
            "the limit of a lifetime may fail with a greater probability",
            "the limit of a lifetime may fail with a smaller probability only",
        ),
    ]
    """What all releases of these people may leave out together, for life. It should be far below one in as many as
    there are people."""
    people: Annotated[People, ValueField("the public bound on people, which bounds are worked out for", any_change)]
    """A bound on all people who are ever in tables of this population. It must be true."""
    unit: Annotated[str, ValueField("whether a row or a person is protected", any_change)] = "row"
    """What is protected: `row`, or a person by the column that names one, such as `person:patient`."""
    relation: Annotated[
        Literal["add-remove"], ValueField("between which tables nobody can tell the difference", any_change)
    ] = "add-remove"
    """Which tables are compared: one with a unit more or less than the other."""


class BudgetMetadata(Strict):
    """The population that the budget belongs to, and who answers for it."""

    name: Annotated[Name, ValueField("the population", any_change)]
    """The name: lower-case letters, digits and hyphens. Of a budget it is that of its population."""
    owner: Annotated[Line, ValueField("who answers for the budget", any_change)]
    """Who answers for this file."""
    description: Annotated[str, ValueField("the population in free words", any_change)] = ""
    """What it is for, in a sentence or two."""


class PrivacyBudget(Strict):
    """One budget file."""

    api_version: Annotated[
        Literal["crowdgate/v1"], Field(alias="apiVersion"), ValueField("the form of budget files", any_change)
    ]
    """The form of this file."""
    kind: Annotated[Literal["PrivacyBudget"], ValueField("the kind of file", any_change)]
    """What this file is: the budget of a population."""
    metadata: Annotated[BudgetMetadata, NestedField("whose budget it is")]
    """Who answers for the budget, and its name."""
    spec: Annotated[BudgetSpec, NestedField("what a population may lose")]
    """What the population may lose in its lifetime."""


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
