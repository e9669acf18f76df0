"""ReleasePolicy and PrivacyBudget: strict values of the policy files.

The mechanism of a policy is a specification of its kind of release. The kinds are passed in: this subpackage knows none
of them.
"""

from collections.abc import Mapping
from contextlib import suppress
from datetime import date, datetime
from fractions import Fraction
from typing import Annotated, Any, Literal, Union

from pydantic import BeforeValidator, ConfigDict, Field, create_model, model_validator

from crowdgate.accounting.lifetime import Lifetime
from crowdgate.limits import MOST_PEOPLE, MOST_RELEASES, MOST_SERIES, MOST_SKEW, MOST_TRIALS
from crowdgate.policy.approval import ApprovalRule
from crowdgate.policy.calendar import Calendar
from crowdgate.policy.field_order import (
    SHARES,
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
from crowdgate.policy.shares import BY_SHARE, PaidPart, Share
from crowdgate.policy.values import (
    NUMBER,
    Day,
    Epsilon,
    Exact,
    Flag,
    Line,
    Probability,
    Prose,
    Rate,
    Strict,
    exact_number_after,
    no_items,
    schema_of,
    whole_number,
)
from crowdgate.system.short_repr import short_repr

API_VERSION = "crowdgate/v1"


def whole_between(least: int, most: int) -> BeforeValidator:
    """Return a validator that reads a whole number from `least` to `most`."""

    def check(text: Any) -> int:
        number = whole_number(text)
        if not least <= number <= most:
            raise ValueError(f"a whole number from {least} to {most}")
        return number

    return BeforeValidator(check)


People = Annotated[int, whole_between(1, MOST_PEOPLE), schema_of("integer", minimum=1, maximum=MOST_PEOPLE)]
Units = Annotated[int, whole_between(2, MOST_PEOPLE), schema_of("integer", minimum=2, maximum=MOST_PEOPLE)]
Releases = Annotated[int, whole_between(20, MOST_RELEASES), schema_of("integer", minimum=20, maximum=MOST_RELEASES)]
SeriesReleases = Annotated[int, whole_between(2, MOST_SERIES), schema_of("integer", minimum=2, maximum=MOST_SERIES)]
Trials = Annotated[int, whole_between(1, MOST_TRIALS), schema_of("integer", minimum=1, maximum=MOST_TRIALS)]


def _skew(number: Fraction) -> Fraction:
    if not 1 <= number <= MOST_SKEW:
        raise ValueError(f"a number from 1 (as many non-members as members) to {MOST_SKEW:,}")
    return number


Skew = Annotated[Fraction, exact_number_after(_skew), schema_of("number", minimum=1, maximum=MOST_SKEW)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
"""A name that becomes a folder of the release: lower-case letters, digits and hyphens."""


CONTEXT = ("purpose", "legal_basis", "contact", "retention", "alternatives")
"""Fields of `metadata` for whoever answers for a release, in the order in which they are shown."""


class Metadata(Strict):
    """The owner of the policy, its name, and its version: a whole number, raised whenever the policy changes."""

    name: Annotated[Name, ValueField("the policy: releases under another name are other releases", any_change)]
    """The policy's name, which becomes a folder of its releases: lower-case letters, digits and hyphens."""
    version: Annotated[
        str, Field(pattern=r"^[1-9][0-9]{0,8}$"), NUMBER, NameField("the version, which a changed policy raises")
    ] = "1"
    """A whole number. A policy that changed after it was charged needs a greater one."""
    owner: Annotated[Line, ValueField("who answers for the policy, which is published", any_change)]
    """The owner, who answers for the policy. It is published with every release."""
    description: Annotated[Prose, ValueField("the policy in free words, which are published", any_change)] = ""
    """The release in a sentence or two. The description is published with every release."""
    purpose: Annotated[Line, NameField("why the data are released")] = ""
    """The purpose of the release: what it is needed for. Published with every release, as are the next four."""
    legal_basis: Annotated[Line, NameField("the law that permits the release")] = ""
    """The law or the decision that permits the release."""
    contact: Annotated[Line, NameField("whom recipients and the people concerned may ask")] = ""
    """The contact for recipients and for people in the table."""
    retention: Annotated[Line, NameField("how long the release is kept")] = ""
    """The time for which the release is kept, or the rule that ends it."""
    alternatives: Annotated[Line, NameField("what was considered instead")] = ""
    """The alternatives that were considered, and why they would not do."""

    @property
    def context(self) -> dict[str, str]:
        """The stated answers to why, by which law, whom to ask, how long, and what instead."""
        stated = {name: getattr(self, name) for name in CONTEXT}
        return {name: value for name, value in stated.items() if value}


class MechanismSpec(Strict):
    """The mechanism of a policy. Each kind of release has a specification of its own, selected by `kind`."""

    kind: Annotated[str, ValueField("what protects: the releases are of another kind", any_change)]
    """The kind of release: rows of real people, tables of numbers, or synthetic rows."""


class Privacy(Strict):
    """The privacy cost of one release in all: mechanism, choices and charged gates."""

    epsilon: Annotated[
        Epsilon,
        ValueField(
            "what one release may tell about anybody",
            more_is_looser,
            "one release may tell more about every person",
            "one release may tell less about any person",
        ),
    ]
    """The privacy cost epsilon: the greatest effect of any one person on the release. Smaller protects better; above 3
    little protection is left.
    """
    delta: Annotated[
        Probability,
        ValueField(
            "the probability that the limit by epsilon leaves out",
            more_is_looser,
            "the guarantee may fail with a greater probability",
            "the guarantee may fail with a smaller probability only",
        ),
    ]
    """The privacy cost delta: the probability, for each person, that the limit by epsilon leaves out. It should be far
    below 1 divided by the number of people.
    """
    accounting: Annotated[Literal["sum", "joint"], SHARES] = "sum"
    """The meaning of the total: the `sum` of all parts, or the `joint` cost of all parts, which permits a smaller k and
    less noise. Where parts state shares it is always the joint cost.
    """


class Charge(PaidPart):
    """The privacy cost of a charged gate; part of the policy's total."""

    epsilon: Annotated[
        Epsilon, ValueField("what a gate costs: it is judged more exactly, and leaves the mechanism less", unordered)
    ] = BY_SHARE
    """The epsilon of the noisy measurement, part of the policy's total. Less epsilon means more noise."""
    share: Annotated[
        Share | None,
        ValueField("the share of the total that a gate costs: it is judged more exactly", unordered),
    ] = None
    """The share of the policy's epsilon that the noisy measurement costs, in place of `epsilon`."""


class Waiver(Strict):
    """A waiver: until it expires, a failure of this gate does not withhold a release.

    A failed measurement still does.
    """

    reason: Annotated[Line, NameField("why a failure is waived")]
    """The reason why a failure is waived."""
    approved_by: Annotated[Line, NameField("who answers for a waiver")]
    """The approver, who answers for the waiver."""
    expires: Annotated[
        Day,
        ValueField(
            "up to when a failure does not withhold",
            later_is_looser,
            "what fails the gate is published for longer",
            "the gate withholds what fails it from an earlier day on",
        ),
    ]
    """The last day of the waiver, YYYY-MM-DD. Both the slot and the run must not be later."""


class GateRule(Strict):
    """One line of `gates`: a measure and the limit it must keep."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["at_most"]}, {"required": ["at_least"]}]})

    measure: Annotated[str, KeyField("what a gate measures")]
    """The name of the measure."""
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
    """The attributes that the measure reads; all unless stated."""
    of: Annotated[str | None, KeyField("the attribute that a gate speaks of")] = None
    """The one attribute that the measure is about."""
    options: Annotated[dict[str, Exact], Field(alias="with", default_factory=dict), KeyField("how a gate measures")]
    """Options of the measure."""
    charge: Annotated[Charge | None, NestedField("what a gate costs")] = None
    """The privacy cost of a gate that reads the table through noise."""
    severity: Annotated[
        Literal["block", "advise"],
        ValueField(
            "whether a gate withholds",
            rising("advise", "block"),
            "the gate only advises: what fails it is published",
            "the gate withholds what fails it",
        ),
    ] = "block"
    """The effect of anything but a pass: `block` withholds the release, `advise` does not."""
    reason: Annotated[Line | None, NameField("why there is a gate")] = None
    """The reason for the gate and for its limit."""
    reference: Annotated[Line | None, NameField("where a gate was decided")] = None
    """The place where the gate was decided, or the rule that it follows."""
    waiver: Annotated[Waiver | None, NestedField("a failure of the gate does not withhold", added=Direction.LOOSER)] = (
        None
    )
    """The waiver of a failure: approver and last day. The guarantee can't be waived."""

    @model_validator(mode="after")
    def _one_limit(self) -> "GateRule":
        if (self.at_most is None) == (self.at_least is None):
            raise ValueError("exactly one limit, at_most or at_least")
        return self


class Publish(Strict):
    """The destination of the release, its formats, and the settings that scheduled deployments may change.

    The destination is relative to the working copy. A person at the command line may change all settings.
    """

    to: Annotated[str, ValueField("where releases go", any_change)]
    """The folder of releases, relative to the working copy."""
    formats: Annotated[
        list[str],
        Field(min_length=1, default_factory=lambda: ["parquet"]),
        ValueField("the formats of the same data", unordered),
    ]
    """The formats of the data files."""
    describe: Annotated[
        list[Literal["croissant", "dcat", "ddi", "frictionless"]],
        Field(default_factory=no_items),
        ValueField("descriptions of the release for other tools", unordered),
    ]
    """Descriptions of the release for other tools: Croissant, DCAT-AP, DDI Codebook, Frictionless Data Package."""
    deployments_may_set: Annotated[
        list[Literal["to", "input", "ledger", "policy", "working_copy"]],
        Field(default_factory=no_items),
        ValueField(
            "what scheduled runs may set",
            more_of_them_is_looser,
            "scheduled runs may set more of a release",
            "scheduled runs may set less of a release",
        ),
    ]
    """The settings that scheduled runs may change. A person at the command line may change all of them. `policy` and
    `working_copy` let a run release another policy, which must open them as well."""


_PLAYED = ValueField("how an audit is played", unordered)


class InferenceSpec(Strict):
    """The audit of attribute inference: the number of attacked releases of one table and the share of targets.

    `limit` is the greatest precision improvement over the baselines that passes.
    """

    releases: Annotated[Releases | None, _PLAYED] = None
    """The number of releases of one table that are attacked; by default 300, or 40 of synthetic rows."""
    coverage: Annotated[Rate, ValueField("at how many of the targets inference is audited", any_change)] = Fraction(1)
    """The share of the people that the attacker makes guesses for: 1, 0.1, 0.01 or 0.001."""
    limit: Annotated[
        Probability,
        ValueField(
            "the improvement over the baselines that an audit lets pass",
            more_is_looser,
            "audits pass that failed",
            "audits fail that passed",
        ),
    ] = Fraction(1, 10)
    """The greatest precision improvement that passes: (attack - baseline) / (1 - baseline), in precision, where the
    baseline never saw the target's row.
    """


class MembershipSpec(Strict):
    """The audit of membership inference: releases of random tables, each of at most half of the population.

    `limit` is the greatest precision of membership claims that passes, at `skew` non-members per member, for all
    attacks with at least `recall`; by default twice the precision of the blind attacker, 2 / (1 + skew). The default of
    `recall` is small, so that an audit can fail: many people are rarely found with certainty, whatever is released.
    """

    releases: Annotated[Releases | None, _PLAYED] = None
    """The number of tables that are drawn, released and attacked; by default 300, or 25 of synthetic rows."""
    skew: Annotated[Skew, ValueField("how rare members are in audits", any_change)] = Fraction(30)
    """The number of non-members per member."""
    recall: Annotated[Rate | None, ValueField("which attacks on membership count", any_change)] = None
    """The least recall of the attacks that count: the share of the members that they find. By default that of a gate
    on this audit, or else 0.001, or 20 members if that is more."""
    limit: Annotated[
        Probability | None,
        ValueField(
            "the precision of a claim of membership that an audit lets pass",
            more_is_looser,
            "audits pass that failed",
            "audits fail that passed",
        ),
    ] = None
    """The greatest precision of membership claims that passes; by default twice that of the blind attacker."""


class LawSpec(Strict):
    """The audit of the stated distributions: fresh releases, compared with what the policy states about them.

    `limit` is the shortfall of noise that the audit must be able to see.
    """

    releases: Annotated[Trials | None, _PLAYED] = None
    """The number of fresh releases; by default 25, or 4 of synthetic rows."""
    limit: Annotated[
        Probability,
        ValueField(
            "the shortfall of noise that an audit must see",
            more_is_looser,
            "audits pass that saw too little",
            "audits can't tell that passed",
        ),
    ] = Fraction(1, 10)
    """The shortfall of noise, as a share of the stated standard deviation, that the audit must see with probability
    .9. An audit that would not see it can't tell.
    """


class AuditSpec(Strict):
    """The audit of the mechanism: `trials` tables of `units` privacy units are drawn from a public table and attacked.

    The public table is that of the contract `population` (by default the policy's own). `units` are as many as it has
    by default. Tables are drawn with or without replacement. Attackers answer with predicates of at most `weight` (by
    default .005/units). `limit` is the greatest excess over the baseline that passes.
    """

    population: Annotated[str | None, ValueField("the public population of audits", any_change)] = None
    """The id of the contract whose public table is drawn from; by default the policy's own."""
    units: Annotated[Units | None, ValueField("the size of the tables that are attacked", any_change)] = None
    """The number of privacy units in each drawn table; by default as many as the public table has."""
    trials: Annotated[Trials, _PLAYED] = 2500
    """The number of tables that are drawn and attacked. More trials give narrower confidence intervals."""
    weight: Annotated[Rate | None, ValueField("which predicates count as singling out", any_change)] = None
    """The greatest predicate weight: the probability that the attacker's description fits a random person. By default
    .005 divided by the units.
    """
    limit: Annotated[
        Probability,
        ValueField(
            "the excess that an audit lets pass", more_is_looser, "audits pass that failed", "audits fail that passed"
        ),
    ] = Fraction(1, 100)
    """The greatest excess that passes: the attackers' probability of singling out a person minus that of the blind
    attacker.
    """
    replacement: Annotated[Flag, ValueField("how tables of audits are drawn", any_change)] = True
    """True if the same person may be drawn twice into a table."""
    inference: Annotated[InferenceSpec, NestedField("audits of inference")] = Field(default_factory=InferenceSpec)
    """The audit of attribute inference."""
    membership: Annotated[MembershipSpec, NestedField("audits of membership")] = Field(default_factory=MembershipSpec)
    """The audit of membership inference."""
    law: Annotated[LawSpec, NestedField("audits of the stated distributions")] = Field(default_factory=LawSpec)
    """The audit of the stated distributions."""

    def largest(self, units: int) -> Fraction:
        """Return the greatest predicate weight of attackers against tables of `units` privacy units."""
        return Fraction(1, 200 * units) if self.weight is None else self.weight


class RegisterSpec(Strict):
    """The contract of a public register, which gates on matches compare the release with."""

    contract: Annotated[str, ValueField("the public register that gates compare with", any_change)]
    """The id of the register's contract, which must state that its table is public."""


class SpendRule(Strict):
    """The condition under which a release is charged at all."""

    chance_at_least: Annotated[
        Probability,
        ValueField(
            "the least probability of publication for which a release is charged",
            more_is_tighter,
            "releases are charged that gates will hardly let through",
            "releases are held, uncharged, that were charged",
        ),
    ] = Fraction(1, 5)
    """The least probability, from 0 to below 1, with which each gate must be able to pass. If past runs exclude it, or
    a gate can't pass at all, the release is held: it ends before it is charged. 0 holds none.
    """


class SeriesSpec(Strict):
    """A series: the releases of this version of a policy. Their number is fixed before the first, which pays for all of
    them."""

    releases: Annotated[
        SeriesReleases, ValueField("how many releases this version has, all paid by the first", any_change)
    ]
    """The number of releases, from 2 to 1,000. A release that is withheld, or that crashed, counts."""
    delta: Annotated[Probability | None, ValueField("delta of all releases of the series together", any_change)] = None
    """Delta of all releases together; by default the sum of those of the releases. A smaller one costs more epsilon."""


class ReleaseSpec(Strict):
    """The content of a policy: the release, its protection, its privacy cost and its gates."""

    enforcement: Annotated[
        Literal["enforce", "dry-run"],
        ValueField("whether anything is released, or only rehearsed", rising("enforce", "dry-run")),
    ] = "enforce"
    """With `dry-run` nothing is ever released: a run rehearses the policy on simulated rows and touches neither the
    table nor the ledger.
    """
    contract: Annotated[str, ValueField("the table that is read, and its levels", any_change)]
    """The id of the data contract, in data_contracts, whose table is read."""
    budget: Annotated[str, ValueField("the population whose budget pays", any_change)]
    """The name of the budget that is charged, in policies/budgets. It must be that of the contract's population."""
    privacy: Annotated[Privacy, NestedField("the total of one release")]
    """The privacy cost of one release in all: mechanism, choices and charged gates."""
    mechanism: Annotated[MechanismSpec, NestedField("what protects")]
    """The mechanism: how the data are protected, and what is made of them."""
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
    """The gates that a release must pass. At least one must block and have no waiver."""
    publish: Annotated[Publish, NestedField("where releases go")]
    """The destination and the file formats of releases."""
    spend: Annotated[SpendRule, NestedField("when a release is charged", missing=SpendRule())] = Field(
        default_factory=SpendRule
    )
    """The condition under which a release is charged at all: a release that would almost surely be withheld is held."""
    series: Annotated[SeriesSpec | None, NestedField("whether the first release pays for a series")] = None
    """The series that the releases of this version are. By default each release is paid when it is made."""
    calendar: Annotated[Calendar | None, NestedField("when there are releases", added=Direction.TIGHTER)] = None
    """The periods of the releases, each with one slot. By default any day or minute is a slot."""
    approval: Annotated[ApprovalRule | None, NestedField("who must approve releases", added=Direction.TIGHTER)] = None
    """The approvals without which a release is not charged, or not published; by default none is needed."""
    audit: Annotated[AuditSpec | None, NestedField("how the mechanism is audited", missing=AuditSpec())] = None
    """The audit: simulated attacks on the mechanism on a public table, for gates that read an audit."""
    against: Annotated[
        RegisterSpec | None, Field(alias="register"), NestedField("the public register that gates compare with")
    ] = None
    """The public register that gates on matches compare the release with."""
    pilot: Annotated[str | None, ValueField("the released tables that forecasts rest on", any_change)] = None
    """The folder of a published release of tables, relative to the working copy, such as
    `releases/pilot-clinic/1/2030-01-01`. Forecasts of `plan` and `rehearse` rest on its counts."""

    @property
    def paid_parts(self) -> dict[tuple[str | int, ...], PaidPart]:
        """The parts that cost an epsilon or a share of their own, by their place in `spec`."""
        own: dict[tuple[str | int, ...], PaidPart] = {
            ("mechanism", name): value for name, value in self.mechanism if isinstance(value, PaidPart)
        }
        return own | {("gates", i, "charge"): rule.charge for i, rule in enumerate(self.gates) if rule.charge}

    @property
    def by_shares(self) -> bool:
        """True if the joint cost of all parts meets the total: a part states a share of it, or the total says so."""
        joint = self.privacy.accounting == "joint"
        return joint or any("share" in part.model_fields_set for part in self.paid_parts.values())

    @model_validator(mode="after")
    def _divided(self) -> "ReleaseSpec":
        self.divide_shares()
        return self

    def divide_shares(self) -> None:
        """Set the epsilon of each part that states a share of the total."""
        for part in self.paid_parts.values():
            part.divide(self.privacy.epsilon)


class ReleasePolicy(Strict):
    """One policy file."""

    __repr__ = short_repr

    api_version: Annotated[
        Literal["crowdgate/v1"], Field(alias="apiVersion"), ValueField("the form of policy files", any_change)
    ]
    """The form of this file."""
    kind: Annotated[Literal["ReleasePolicy"], ValueField("the kind of file", any_change)]
    """The kind of this file: ReleasePolicy."""
    metadata: Annotated[Metadata, NestedField("whose policy it is")]
    """The owner of the policy, its name and its version."""
    spec: Annotated[ReleaseSpec, NestedField("what is released")]
    """The content of the policy: the release, its protection, its privacy cost and its gates."""


def policy_model(specs: Mapping[str, type[MechanismSpec]], formats: tuple[str, ...]) -> type[ReleasePolicy]:
    """Return the model of policy files that name these kinds of release and these formats."""
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
    """The lifetime budget of a population. `people` bounds all people who are ever in its inputs; it is public."""

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
    """The lifetime budget epsilon, which all releases of these people keep together."""
    delta: Annotated[
        Probability,
        ValueField(
            "the probability, over a lifetime, that the limit leaves out",
            more_is_looser,
            "the limit of a lifetime may fail with a greater probability",
            "the limit of a lifetime may fail with a smaller probability only",
        ),
    ]
    """The lifetime budget delta, which all releases of these people keep together. It should be far below 1 divided
    by the number of people.
    """
    people: Annotated[People, ValueField("the public bound on people, which bounds are worked out for", any_change)]
    """An upper bound on all people who are ever in tables of this population. It must be true."""
    unit: Annotated[str, ValueField("whether a row or a person is protected", any_change)] = "row"
    """The privacy unit: `row`, or a person by the column that identifies one, such as `person:patient`."""
    relation: Annotated[
        Literal["add-remove"], ValueField("between which tables nobody can tell the difference", any_change)
    ] = "add-remove"
    """The neighbouring relation: one table has a privacy unit more or less than the other."""
    accounting: Annotated[
        Literal["additive", "renyi"], ValueField("how the losses of releases are added up", any_change)
    ] = "additive"
    """The way in which releases are added up. `additive`: their epsilons and deltas. `renyi`: their Renyi divergences,
    with caps that keep epsilon and delta; this pays for several times as many releases. Decide before the first
    release."""

    @property
    def lifetime(self) -> Lifetime | None:
        """The filter of a budget that is counted in Renyi divergences, as a ledger opens it; None for additive ones."""
        return Lifetime.planned(self.epsilon, self.delta) if self.accounting == "renyi" else None

    @model_validator(mode="after")
    def _in_range(self) -> "BudgetSpec":
        _ = self.lifetime  # raises for amounts that no filter has
        return self


class BudgetMetadata(Strict):
    """The population of the budget, and its owner."""

    name: Annotated[Name, ValueField("the population", any_change)]
    """The name: lower-case letters, digits and hyphens. The name of a budget is that of its population."""
    owner: Annotated[Line, ValueField("who answers for the budget", any_change)]
    """The owner, who answers for this file."""
    description: Annotated[str, ValueField("the population in free words", any_change)] = ""
    """The purpose in a sentence or two."""


class PrivacyBudget(Strict):
    """One budget file."""

    api_version: Annotated[
        Literal["crowdgate/v1"], Field(alias="apiVersion"), ValueField("the form of budget files", any_change)
    ]
    """The form of this file."""
    kind: Annotated[Literal["PrivacyBudget"], ValueField("the kind of file", any_change)]
    """The kind of this file: PrivacyBudget."""
    metadata: Annotated[BudgetMetadata, NestedField("whose budget it is")]
    """The owner and the name of the budget."""
    spec: Annotated[BudgetSpec, NestedField("what a population may lose")]
    """The lifetime budget of the population."""


def parse_slot(text: str) -> str:
    """Return a release slot, `YYYY-MM-DD` or `YYYY-MM-DDTHHMMZ`. Raises ValueError for anything else."""
    form = "%Y-%m-%dT%H%MZ"
    with suppress(ValueError):
        is_day = len(text) == len("YYYY-MM-DD")
        if text == (date.fromisoformat(text).isoformat() if is_day else datetime.strptime(text, form).strftime(form)):
            return text
    raise ValueError("the slot must be YYYY-MM-DD or YYYY-MM-DDTHHMMZ (UTC)")


def version_of(policy: ReleasePolicy) -> str:
    """Return NAME/VERSION of a policy. The ledger accepts one policy digest for each."""
    return f"{policy.metadata.name}/{policy.metadata.version}"


def release_id(policy: ReleasePolicy, slot: str) -> str:
    """Return the release id, NAME/VERSION/SLOT, of a policy's release in a slot. One id never draws or
    publishes twice.
    """
    return f"{version_of(policy)}/{slot}"
