"""The order of policies, as one table: every field of policies and budgets, and what a change of it does.

Three rules decide what stands in it. What a release may lose, who may be in it, and what is published can be more or
less: less is tighter. What moves the same total between steps, or says how something is done, is not comparable. And
where a number is another number afterwards, its meaning has changed; so has that of a field that is not in this table.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pydantic import BaseModel

from crowdgate.jobs.diff.order import (
    Direction,
    Order,
    changed,
    class_size,
    later_is_looser,
    more_groups_are_looser,
    more_is_looser,
    more_is_tighter,
    more_of_them_is_looser,
    rising,
    unordered,
)
from crowdgate.measures.options import meant
from crowdgate.mechanisms.rows.spec import MarginLine
from crowdgate.policy.policy import AuditSpec
from crowdgate.policy.values import Sampling


@dataclass(frozen=True)
class Value:
    """A field that is compared as a whole: its order, and what it is. What it says when it is looser or tighter."""

    order: Order
    means: str
    looser: str = ""
    tighter: str = ""


@dataclass(frozen=True)
class Inside:
    """A field with fields of its own. `missing` is what stands for none (None: then one is added or removed)."""

    means: str
    missing: BaseModel | None = None
    added: Direction = Direction.CHANGED_MEANING


@dataclass(frozen=True)
class Listed:
    """A list without sequence. Items of one `key` are compared field by field; `added`: what another item does.
    `there` is an item that holds whether or not it is stated."""

    means: str
    added: Direction
    looser: str
    tighter: str
    there: BaseModel | None = None


@dataclass(frozen=True)
class Levels:
    """Attributes at levels, or candidates for them: more of them, or finer ones, are looser."""

    means: str


@dataclass(frozen=True)
class Name:
    """A field that names the policy and rules nothing: it is shown, and no change."""

    means: str


@dataclass(frozen=True)
class Apart:
    """A field by which items of a list are told apart: another value makes another item."""

    means: str


Field = Value | Inside | Listed | Levels | Name | Apart

EXACT = Value(unordered, "how an audit is played")
SHARES = Value(unordered, "how the same total is divided: the guarantee of the whole release stays")
PRECISE = Value(changed, "what counts as trustworthy, which gates read")


FIELDS: dict[str, Field] = {
    "ReleasePolicy.api_version": Value(changed, "the form of policy files"),
    "ReleasePolicy.kind": Value(changed, "the kind of file"),
    "ReleasePolicy.metadata": Inside("whose policy it is"),
    "ReleasePolicy.spec": Inside("what is released"),
    "Metadata.name": Value(changed, "the policy: releases under another name are other releases"),
    "Metadata.version": Name("the version, which a changed policy raises"),
    "Metadata.owner": Value(changed, "who answers for the policy, which is published"),
    "Metadata.description": Value(changed, "the policy in free words, which are published"),
    "ReleaseSpec.enforcement": Value(rising("enforce", "dry-run"), "whether anything is released, or only rehearsed"),
    "ReleaseSpec.contract": Value(changed, "the table that is read, and its levels"),
    "ReleaseSpec.budget": Value(changed, "the population whose budget pays"),
    "ReleaseSpec.privacy": Inside("the total of one release"),
    "ReleaseSpec.mechanism": Inside("what protects"),
    "ReleaseSpec.gates": Listed(
        "what must hold", Direction.TIGHTER,
        "a gate is gone: what it withheld can be published", "one more gate must pass",
    ),
    "ReleaseSpec.publish": Inside("where releases go"),
    "ReleaseSpec.audit": Inside("how the mechanism is audited", missing=AuditSpec()),
    "ReleaseSpec.against": Inside("the public register that gates compare with"),
    "RegisterSpec.contract": Value(changed, "the public register that gates compare with"),
    "Privacy.epsilon": Value(
        more_is_looser, "what one release may tell about anybody",
        "one release may tell more about every person", "one release may tell less about any person",
    ),
    "Privacy.delta": Value(
        more_is_looser, "the probability that the limit on what is told does not hold",
        "the guarantee may fail with a greater probability", "the guarantee may fail with a smaller probability only",
    ),
    "GateRule.measure": Apart("what a gate measures"),
    "GateRule.over": Apart("the attributes that a gate speaks of"),
    "GateRule.of": Apart("the attribute that a gate speaks of"),
    "GateRule.options": Apart("how a gate measures"),
    "GateRule.at_most": Value(
        more_is_looser, "the limit of a gate",
        "releases pass that were withheld", "releases are withheld that passed",
    ),
    "GateRule.at_least": Value(
        more_is_tighter, "the limit of a gate",
        "releases pass that were withheld", "releases are withheld that passed",
    ),
    "GateRule.charge": Inside("what a gate costs"),
    "Charge.epsilon": Value(unordered, "what a gate costs: it is judged more exactly, and leaves the mechanism less"),
    "GateRule.severity": Value(
        rising("advise", "block"), "whether a gate withholds",
        "the gate only advises: what fails it is published", "the gate withholds what fails it",
    ),
    "GateRule.reason": Name("why there is a gate"),
    "GateRule.reference": Name("where a gate was decided"),
    "GateRule.waiver": Inside("a failure of the gate does not withhold", added=Direction.LOOSER),
    "Waiver.reason": Name("why a failure is put up with"),
    "Waiver.approved_by": Name("who answers for a waiver"),
    "Waiver.expires": Value(
        later_is_looser, "up to when a failure does not withhold",
        "what fails the gate is published for longer", "the gate withholds what fails it from an earlier day on",
    ),
    "Publish.to": Value(changed, "where releases go"),
    "Publish.formats": Value(unordered, "the formats of the same data"),
    "Publish.deployments_may_set": Value(
        more_of_them_is_looser, "what scheduled runs may set",
        "scheduled runs may set more of a release", "scheduled runs may set less of a release",
    ),
    "AuditSpec.population": Value(changed, "the public population of audits"),
    "AuditSpec.units": Value(changed, "the size of the tables that are attacked"),
    "AuditSpec.trials": EXACT,
    "AuditSpec.weight": Value(changed, "which predicates count as singling out"),
    "AuditSpec.limit": Value(
        more_is_looser, "the excess that an audit lets pass",
        "audits pass that failed", "audits fail that passed",
    ),
    "AuditSpec.replacement": Value(changed, "how tables of audits are drawn"),
    "AuditSpec.inference": Inside("audits of inference"),
    "AuditSpec.membership": Inside("audits of membership"),
    "InferenceSpec.releases": EXACT,
    "InferenceSpec.coverage": Value(changed, "at how many of the targets inference is audited"),
    "InferenceSpec.limit": Value(
        more_is_looser, "the improvement over the baselines that an audit lets pass",
        "audits pass that failed", "audits fail that passed",
    ),
    "MembershipSpec.releases": EXACT,
    "MembershipSpec.skew": Value(changed, "how rare members are in audits"),
    "MembershipSpec.recall": Value(changed, "which attacks on membership count"),
    "MembershipSpec.limit": Value(
        more_is_looser, "the precision of a claim of membership that an audit lets pass",
        "audits pass that failed", "audits fail that passed",
    ),
    "MechanismSpec.kind": Value(changed, "what protects: the releases are of another kind"),
    "SafeKAnonymity.sampling": Inside("who is in a release"),
    "SafeKAnonymity.k": Value(
        class_size, "how many sampled people share every released combination, at least",
        "rarer combinations may be published", "rare combinations may be left out that were published",
    ),
    "SafeKAnonymity.attributes": Levels("what is published of a person"),
    "SafeKAnonymity.choose": Inside("how levels are chosen from the table"),
    "SafeKAnonymity.margins": Inside("noisy counts beside the rows", added=Direction.LOOSER),
    "SafeKAnonymity.suppression": Value(rising("class"), "what is left out"),
    "SafeKAnonymity.recoding": Value(rising("global"), "whether all rows have the same levels"),
    "SampleSource.beta": Value(
        more_is_looser, "the share of rows that secret coins keep",
        "more people are in a release", "fewer people are in a release",
    ),
    "SampleSource.inherited": Value(changed, "the sample that the table already is"),
    "Candidates.choose": Levels("the levels among which a release chooses"),
    "LevelChoice.epsilon": SHARES,
    "LevelChoice.score": Value(unordered, "what levels are chosen for"),
    "LevelChoice.on": Value(unordered, "whether levels are chosen on the table or on the sample"),
    "LevelChoice.target": Value(unordered, "the attribute that levels are chosen for"),
    "LevelChoice.weights": Value(unordered, "how much attributes count when levels are chosen"),
    "MarginsSpec.epsilon": SHARES,
    "MarginsSpec.delta": SHARES,
    "MarginsSpec.noise": Value(unordered, "the law of the noise"),
    "MarginsSpec.tables": Listed(
        "noisy counts beside the rows", Direction.LOOSER,
        "more counts are published", "fewer counts are published", there=MarginLine.model_validate({"all": "1"}),
    ),
    "MarginsSpec.levels": Value(unordered, "the levels of the counts beside the rows"),
    "MarginLine.all": Apart("counts of so many attributes"),
    "MarginLine.attributes": Apart("counts of these attributes"),
    "DpTablesSpec.noise": Value(unordered, "the law of the noise"),
    "DpTablesSpec.sampling": Inside("who is in a release", missing=Sampling.model_construct(beta=Fraction(1))),
    "DpTablesSpec.levels": Levels("the attributes of the tables"),
    "DpTablesSpec.tables": Listed(
        "what is published", Direction.LOOSER, "more numbers are published", "fewer numbers are published"
    ),
    "DpTablesSpec.split": SHARES,
    "DpTablesSpec.relative_error": PRECISE,
    "DpTablesSpec.suppress": Value(
        rising(False, True), "whether numbers that are not trustworthy are left out",
        "numbers are published that are mostly noise", "numbers that are mostly noise are left out",
    ),
    "DpTablesSpec.raw": Value(
        rising(True, False), "whether noisy numbers are published as they were drawn, too",
        "the numbers as they were drawn are published, too", "the numbers as they were drawn are not published",
    ),
    "TableItem.share": SHARES,
    "OneTable.attributes": Apart("which attributes a table counts"),
    "AllTables.all": Apart("of how many attributes tables count"),
    "TotalTable.total": Apart("the number of rows"),
    "SumTable.sum": Apart("which column is summed"),
    "SumTable.by": Apart("the cells of sums"),
    "SumTable.low": Value(changed, "the bounds of summed numbers"),
    "SumTable.high": Value(changed, "the bounds of summed numbers"),
    "SumTable.clamps": Value(
        rising(True, False), "whether it is published how many are at the bounds",
        "more numbers are published", "fewer numbers are published",
    ),
    "MeanTable.mean": Apart("of which column means are taken"),
    "MeanTable.by": Apart("the cells of means"),
    "MeanTable.low": Value(changed, "the bounds of averaged numbers"),
    "MeanTable.high": Value(changed, "the bounds of averaged numbers"),
    "MeanTable.clamps": Value(
        rising(True, False), "whether it is published how many are at the bounds",
        "more numbers are published", "fewer numbers are published",
    ),
    "QuantilesTable.quantiles": Apart("of which column quantiles are taken"),
    "QuantilesTable.level": Apart("the bins of quantiles"),
    "QuantilesTable.at": Value(
        more_of_them_is_looser, "which quantiles are published",
        "more numbers are published", "fewer numbers are published",
    ),
    "QuantilesTable.by": Apart("the cells of quantiles"),
    "DpSyntheticSpec.sampling": Inside("who is in a release", missing=Sampling.model_construct(beta=Fraction(1))),
    "DpSyntheticSpec.attributes": Levels("the columns of synthetic rows"),
    "DpSyntheticSpec.triples": Value(
        more_groups_are_looser, "the tables of three attributes that are measured and published",
        "more noisy tables are published", "fewer noisy tables are published",
    ),
    "DpSyntheticSpec.impossible": Value(changed, "what public knowledge rules out"),
    "DpSyntheticSpec.one_way_share": SHARES,
    "DpSyntheticSpec.certificate_share": SHARES,
    "DpSyntheticSpec.model_cells": Value(unordered, "how large the model may be"),
    "DpSyntheticSpec.pair_error": PRECISE,
    "Sampling.beta": Value(
        more_is_looser, "the share of rows that secret coins keep",
        "more people are in a release", "fewer people are in a release",
    ),
    "PrivacyBudget.api_version": Value(changed, "the form of budget files"),
    "PrivacyBudget.kind": Value(changed, "the kind of file"),
    "PrivacyBudget.metadata": Inside("whose budget it is"),
    "PrivacyBudget.spec": Inside("what a population may lose"),
    "BudgetMetadata.name": Value(changed, "the population"),
    "BudgetMetadata.owner": Value(changed, "who answers for the budget"),
    "BudgetMetadata.description": Value(changed, "the population in free words"),
    "BudgetSpec.ledger": Value(changed, "the ledger that remembers what was spent"),
    "BudgetSpec.epsilon": Value(
        more_is_looser, "what these people may lose in their lifetime",
        "these people may lose more in their lifetime", "these people may lose less in their lifetime",
    ),
    "BudgetSpec.delta": Value(
        more_is_looser, "the probability, over a lifetime, that the limit does not hold",
        "the limit of a lifetime may fail with a greater probability",
        "the limit of a lifetime may fail with a smaller probability only",
    ),
    "BudgetSpec.people": Value(changed, "the public bound on people, which bounds are worked out for"),
    "BudgetSpec.unit": Value(changed, "whether a row or a person is protected"),
    "BudgetSpec.relation": Value(changed, "between which tables nobody can tell the difference"),
}  # fmt: skip
"""By class and field; a class has the fields of those that it is made of."""


def field_of(model: BaseModel, name: str) -> Field:
    """The line of the table; of a field that is not in it any change is one of meaning."""
    found = (FIELDS.get(f"{each.__name__}.{name}") for each in type(model).__mro__)
    return next((each for each in found if each is not None), Value(changed, "a field without a known order"))


def key(item: BaseModel) -> Hashable:
    """What an item of a list is told apart by: its class, its fields of this kind, and the side of its limit."""
    own = (name for name in type(item).model_fields if isinstance(field_of(item, name), Apart))
    side = getattr(item, "at_most", item) is None
    return (type(item).__name__, side, *(_frozen(getattr(item, name)) for name in own))


def _frozen(value: Any) -> Hashable:
    if isinstance(value, dict):
        return tuple(sorted(meant(value).items()))
    return frozenset(value) if isinstance(value, list) else value
