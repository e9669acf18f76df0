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

from crowdgate.measures.options import effective_options
from crowdgate.mechanisms.rows.spec import MarginLine
from crowdgate.policy.policy import AuditSpec
from crowdgate.policy.values import Sampling
from crowdgate.review.diff.order import (
    Direction,
    Order,
    any_change,
    class_size,
    later_is_looser,
    more_groups_are_looser,
    more_is_looser,
    more_is_tighter,
    more_of_them_is_looser,
    rising,
    unordered,
)


@dataclass(frozen=True)
class ValueField:
    """A field that is compared as a whole: its order, and what it is. What it says when it is looser or tighter."""

    order: Order
    means: str
    looser: str = ""
    tighter: str = ""


@dataclass(frozen=True)
class NestedField:
    """A field with fields of its own. `missing` is what stands for none (None: then one is added or removed)."""

    means: str
    missing: BaseModel | None = None
    added: Direction = Direction.CHANGED_MEANING


@dataclass(frozen=True)
class ListField:
    """A list without sequence. Items of one `key` are compared field by field; `added`: what another item does.
    `there` is an item that holds whether or not it is stated."""

    means: str
    added: Direction
    looser: str
    tighter: str
    there: BaseModel | None = None


@dataclass(frozen=True)
class LevelsField:
    """Attributes at levels, or candidates for them: more of them, or finer ones, are looser."""

    means: str


@dataclass(frozen=True)
class NameField:
    """A field that names the policy and rules nothing: it is shown, and no change."""

    means: str


@dataclass(frozen=True)
class KeyField:
    """A field by which items of a list are told apart: another value makes another item."""

    means: str


Field = ValueField | NestedField | ListField | LevelsField | NameField | KeyField

EXACT = ValueField(unordered, "how an audit is played")
SHARES = ValueField(unordered, "how the same total is divided: the guarantee of the whole release stays")
PRECISE = ValueField(any_change, "what counts as trustworthy, which gates read")


FIELDS: dict[str, Field] = {
    "ReleasePolicy.api_version": ValueField(any_change, "the form of policy files"),
    "ReleasePolicy.kind": ValueField(any_change, "the kind of file"),
    "ReleasePolicy.metadata": NestedField("whose policy it is"),
    "ReleasePolicy.spec": NestedField("what is released"),
    "Metadata.name": ValueField(any_change, "the policy: releases under another name are other releases"),
    "Metadata.version": NameField("the version, which a changed policy raises"),
    "Metadata.owner": ValueField(any_change, "who answers for the policy, which is published"),
    "Metadata.description": ValueField(any_change, "the policy in free words, which are published"),
    "ReleaseSpec.enforcement": ValueField(
        rising("enforce", "dry-run"), "whether anything is released, or only rehearsed"
    ),
    "ReleaseSpec.contract": ValueField(any_change, "the table that is read, and its levels"),
    "ReleaseSpec.budget": ValueField(any_change, "the population whose budget pays"),
    "ReleaseSpec.privacy": NestedField("the total of one release"),
    "ReleaseSpec.mechanism": NestedField("what protects"),
    "ReleaseSpec.gates": ListField(
        "what must hold", Direction.TIGHTER,
        "a gate is gone: what it withheld can be published", "one more gate must pass",
    ),
    "ReleaseSpec.publish": NestedField("where releases go"),
    "ReleaseSpec.audit": NestedField("how the mechanism is audited", missing=AuditSpec()),
    "ReleaseSpec.against": NestedField("the public register that gates compare with"),
    "RegisterSpec.contract": ValueField(any_change, "the public register that gates compare with"),
    "Privacy.epsilon": ValueField(
        more_is_looser, "what one release may tell about anybody",
        "one release may tell more about every person", "one release may tell less about any person",
    ),
    "Privacy.delta": ValueField(
        more_is_looser, "the probability that the limit on what is told does not hold",
        "the guarantee may fail with a greater probability", "the guarantee may fail with a smaller probability only",
    ),
    "GateRule.measure": KeyField("what a gate measures"),
    "GateRule.over": KeyField("the attributes that a gate speaks of"),
    "GateRule.of": KeyField("the attribute that a gate speaks of"),
    "GateRule.options": KeyField("how a gate measures"),
    "GateRule.at_most": ValueField(
        more_is_looser, "the limit of a gate",
        "releases pass that were withheld", "releases are withheld that passed",
    ),
    "GateRule.at_least": ValueField(
        more_is_tighter, "the limit of a gate",
        "releases pass that were withheld", "releases are withheld that passed",
    ),
    "GateRule.charge": NestedField("what a gate costs"),
    "Charge.epsilon": ValueField(
        unordered, "what a gate costs: it is judged more exactly, and leaves the mechanism less"
    ),
    "GateRule.severity": ValueField(
        rising("advise", "block"), "whether a gate withholds",
        "the gate only advises: what fails it is published", "the gate withholds what fails it",
    ),
    "GateRule.reason": NameField("why there is a gate"),
    "GateRule.reference": NameField("where a gate was decided"),
    "GateRule.waiver": NestedField("a failure of the gate does not withhold", added=Direction.LOOSER),
    "Waiver.reason": NameField("why a failure is put up with"),
    "Waiver.approved_by": NameField("who answers for a waiver"),
    "Waiver.expires": ValueField(
        later_is_looser, "up to when a failure does not withhold",
        "what fails the gate is published for longer", "the gate withholds what fails it from an earlier day on",
    ),
    "Publish.to": ValueField(any_change, "where releases go"),
    "Publish.formats": ValueField(unordered, "the formats of the same data"),
    "Publish.deployments_may_set": ValueField(
        more_of_them_is_looser, "what scheduled runs may set",
        "scheduled runs may set more of a release", "scheduled runs may set less of a release",
    ),
    "AuditSpec.population": ValueField(any_change, "the public population of audits"),
    "AuditSpec.units": ValueField(any_change, "the size of the tables that are attacked"),
    "AuditSpec.trials": EXACT,
    "AuditSpec.weight": ValueField(any_change, "which predicates count as singling out"),
    "AuditSpec.limit": ValueField(
        more_is_looser, "the excess that an audit lets pass",
        "audits pass that failed", "audits fail that passed",
    ),
    "AuditSpec.replacement": ValueField(any_change, "how tables of audits are drawn"),
    "AuditSpec.inference": NestedField("audits of inference"),
    "AuditSpec.membership": NestedField("audits of membership"),
    "InferenceSpec.releases": EXACT,
    "InferenceSpec.coverage": ValueField(any_change, "at how many of the targets inference is audited"),
    "InferenceSpec.limit": ValueField(
        more_is_looser, "the improvement over the baselines that an audit lets pass",
        "audits pass that failed", "audits fail that passed",
    ),
    "MembershipSpec.releases": EXACT,
    "MembershipSpec.skew": ValueField(any_change, "how rare members are in audits"),
    "MembershipSpec.recall": ValueField(any_change, "which attacks on membership count"),
    "MembershipSpec.limit": ValueField(
        more_is_looser, "the precision of a claim of membership that an audit lets pass",
        "audits pass that failed", "audits fail that passed",
    ),
    "MechanismSpec.kind": ValueField(any_change, "what protects: the releases are of another kind"),
    "SafeKAnonymity.sampling": NestedField("who is in a release"),
    "SafeKAnonymity.k": ValueField(
        class_size, "how many sampled people share every released combination, at least",
        "rarer combinations may be published", "rare combinations may be left out that were published",
    ),
    "SafeKAnonymity.attributes": LevelsField("what is published of a person"),
    "SafeKAnonymity.choose": NestedField("how levels are chosen from the table"),
    "SafeKAnonymity.margins": NestedField("noisy counts beside the rows", added=Direction.LOOSER),
    "SafeKAnonymity.suppression": ValueField(rising("class"), "what is left out"),
    "SafeKAnonymity.recoding": ValueField(rising("global"), "whether all rows have the same levels"),
    "SampleSource.beta": ValueField(
        more_is_looser, "the share of rows that secret coins keep",
        "more people are in a release", "fewer people are in a release",
    ),
    "SampleSource.inherited": ValueField(any_change, "the sample that the table already is"),
    "Candidates.choose": LevelsField("the levels among which a release chooses"),
    "LevelChoice.epsilon": SHARES,
    "LevelChoice.score": ValueField(unordered, "what levels are chosen for"),
    "LevelChoice.on": ValueField(unordered, "whether levels are chosen on the table or on the sample"),
    "LevelChoice.target": ValueField(unordered, "the attribute that levels are chosen for"),
    "LevelChoice.weights": ValueField(unordered, "how much attributes count when levels are chosen"),
    "MarginsSpec.epsilon": SHARES,
    "MarginsSpec.delta": SHARES,
    "MarginsSpec.noise": ValueField(unordered, "the law of the noise"),
    "MarginsSpec.tables": ListField(
        "noisy counts beside the rows", Direction.LOOSER,
        "more counts are published", "fewer counts are published", there=MarginLine.model_validate({"all": "1"}),
    ),
    "MarginsSpec.levels": ValueField(unordered, "the levels of the counts beside the rows"),
    "MarginLine.all": KeyField("counts of so many attributes"),
    "MarginLine.attributes": KeyField("counts of these attributes"),
    "DpTablesSpec.noise": ValueField(unordered, "the law of the noise"),
    "DpTablesSpec.sampling": NestedField("who is in a release", missing=Sampling.model_construct(beta=Fraction(1))),
    "DpTablesSpec.levels": LevelsField("the attributes of the tables"),
    "DpTablesSpec.tables": ListField(
        "what is published", Direction.LOOSER, "more numbers are published", "fewer numbers are published"
    ),
    "DpTablesSpec.split": SHARES,
    "DpTablesSpec.relative_error": PRECISE,
    "DpTablesSpec.suppress": ValueField(
        rising(False, True), "whether numbers that are not trustworthy are left out",
        "numbers are published that are mostly noise", "numbers that are mostly noise are left out",
    ),
    "DpTablesSpec.raw": ValueField(
        rising(True, False), "whether noisy numbers are published as they were drawn, too",
        "the numbers as they were drawn are published, too", "the numbers as they were drawn are not published",
    ),
    "TableItem.share": SHARES,
    "OneTable.attributes": KeyField("which attributes a table counts"),
    "AllTables.all": KeyField("of how many attributes tables count"),
    "TotalTable.total": KeyField("the number of rows"),
    "SumTable.sum": KeyField("which column is summed"),
    "SumTable.by": KeyField("the cells of sums"),
    "SumTable.low": ValueField(any_change, "the bounds of summed numbers"),
    "SumTable.high": ValueField(any_change, "the bounds of summed numbers"),
    "SumTable.clamps": ValueField(
        rising(True, False), "whether it is published how many are at the bounds",
        "more numbers are published", "fewer numbers are published",
    ),
    "MeanTable.mean": KeyField("of which column means are taken"),
    "MeanTable.by": KeyField("the cells of means"),
    "MeanTable.low": ValueField(any_change, "the bounds of averaged numbers"),
    "MeanTable.high": ValueField(any_change, "the bounds of averaged numbers"),
    "MeanTable.clamps": ValueField(
        rising(True, False), "whether it is published how many are at the bounds",
        "more numbers are published", "fewer numbers are published",
    ),
    "QuantilesTable.quantiles": KeyField("of which column quantiles are taken"),
    "QuantilesTable.level": KeyField("the bins of quantiles"),
    "QuantilesTable.at": ValueField(
        more_of_them_is_looser, "which quantiles are published",
        "more numbers are published", "fewer numbers are published",
    ),
    "QuantilesTable.by": KeyField("the cells of quantiles"),
    "DpSyntheticSpec.sampling": NestedField("who is in a release", missing=Sampling.model_construct(beta=Fraction(1))),
    "DpSyntheticSpec.attributes": LevelsField("the columns of synthetic rows"),
    "DpSyntheticSpec.triples": ValueField(
        more_groups_are_looser, "the tables of three attributes that are measured and published",
        "more noisy tables are published", "fewer noisy tables are published",
    ),
    "DpSyntheticSpec.impossible": ValueField(any_change, "what public knowledge rules out"),
    "DpSyntheticSpec.one_way_share": SHARES,
    "DpSyntheticSpec.certificate_share": SHARES,
    "DpSyntheticSpec.model_cells": ValueField(unordered, "how large the model may be"),
    "DpSyntheticSpec.pair_error": PRECISE,
    "Sampling.beta": ValueField(
        more_is_looser, "the share of rows that secret coins keep",
        "more people are in a release", "fewer people are in a release",
    ),
    "PrivacyBudget.api_version": ValueField(any_change, "the form of budget files"),
    "PrivacyBudget.kind": ValueField(any_change, "the kind of file"),
    "PrivacyBudget.metadata": NestedField("whose budget it is"),
    "PrivacyBudget.spec": NestedField("what a population may lose"),
    "BudgetMetadata.name": ValueField(any_change, "the population"),
    "BudgetMetadata.owner": ValueField(any_change, "who answers for the budget"),
    "BudgetMetadata.description": ValueField(any_change, "the population in free words"),
    "BudgetSpec.ledger": ValueField(any_change, "the ledger that remembers what was spent"),
    "BudgetSpec.epsilon": ValueField(
        more_is_looser, "what these people may lose in their lifetime",
        "these people may lose more in their lifetime", "these people may lose less in their lifetime",
    ),
    "BudgetSpec.delta": ValueField(
        more_is_looser, "the probability, over a lifetime, that the limit does not hold",
        "the limit of a lifetime may fail with a greater probability",
        "the limit of a lifetime may fail with a smaller probability only",
    ),
    "BudgetSpec.people": ValueField(any_change, "the public bound on people, which bounds are worked out for"),
    "BudgetSpec.unit": ValueField(any_change, "whether a row or a person is protected"),
    "BudgetSpec.relation": ValueField(any_change, "between which tables nobody can tell the difference"),
}  # fmt: skip
"""By class and field; a class has the fields of those that it is made of."""


def field_of(model: BaseModel, name: str) -> Field:
    """The line of the table; of a field that is not in it any change is one of meaning."""
    found = (FIELDS.get(f"{each.__name__}.{name}") for each in type(model).__mro__)
    return next((each for each in found if each is not None), ValueField(any_change, "a field without a known order"))


def key(item: BaseModel) -> Hashable:
    """What an item of a list is told apart by: its class, its fields of this kind, and the side of its limit."""
    own = (name for name in type(item).model_fields if isinstance(field_of(item, name), KeyField))
    side = getattr(item, "at_most", item) is None
    return (type(item).__name__, side, *(_frozen(getattr(item, name)) for name in own))


def _frozen(value: Any) -> Hashable:
    if isinstance(value, dict):
        return tuple(sorted(effective_options(value).items()))
    return frozenset(value) if isinstance(value, list) else value
