"""Sampling and safe k-anonymity: Bernoulli sample, generalisation, suppression of classes below k.

The output is (epsilon, delta)-differentially private for adding or removing one row (Li, Qardaji, Su 2012, Theorem 5;
here with the exact delta), because every released column is in the class key, the levels do not depend on the sample,
and neither the sample's size nor the number of suppressed rows is published. Levels are fixed, or chosen as `choice.py`
says; when they are chosen on the sample itself, the delta is that of both together.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pipeline.accounting import safe_k
from pipeline.contract import Attribute, Contract, Role
from pipeline.errors import nearest
from pipeline.guarantee import Part
from pipeline.hierarchy import Level
from pipeline.histogram import Histogram, Thinning, View, at_least, thin
from pipeline.mechanisms.choice import (
    Choice,
    candidate_count,
    candidate_levels,
    choice_problems,
    joint_delta,
    joint_least_k,
    level_problems,
    plan_choice,
)
from pipeline.mechanisms.lattice import roll_up
from pipeline.noise import Selector, noisy_max
from pipeline.policy import GREATEST_K, SafeKAnonymity

Finding = tuple[tuple[str | int, ...], str, str, str | None]
"""(place below `mechanism`, what is there, what is expected, the nearest right word)."""


@dataclass(frozen=True)
class Protected:
    """What the mechanism made: the release and its levels; the sample and the table at these levels (confidential)."""

    output: Histogram
    sample: Histogram
    full: Histogram
    levels: Mapping[str, Level]


@dataclass(frozen=True, eq=False)
class SafeK:
    """The mechanism with its numbers: keep with probability beta, publish classes of at least k.

    `levels` are those that the table is counted at: the released ones, or the finest candidates of a choice.
    """

    beta: Fraction
    k: int
    levels: Mapping[str, Level]
    part: Part
    choice: Choice | None = None

    @property
    def view(self) -> View:
        """The class key: every released attribute at its level."""
        return View(self.levels)

    @property
    def delta(self) -> float:
        """The delta that is reached at the part's epsilon."""
        if self.choice is not None and self.choice.on == "sample":
            return joint_delta(self.k, self.beta, self.part.epsilon, self.choice.epsilon, len(self.choice.lattice))
        return safe_k.exact_delta(self.k, self.beta, self.part.epsilon)

    @property
    def least_k(self) -> int:
        """The smallest k that keeps the part."""
        if self.choice is not None and self.choice.on == "sample":
            return joint_least_k(self.part, self.beta, self.choice.epsilon, len(self.choice.lattice))
        return safe_k.least_k(self.part.epsilon, self.part.delta, self.beta)

    def protect(self, full: Histogram, thinning: Thinning, select: Selector = noisy_max) -> Protected:
        """Choose the levels if they are to be chosen, sample the rows that `full` counts, suppress classes below k."""
        if self.choice is None:
            return self._at(self.levels, full, thin(full, thinning))
        if self.choice.on == "sample":
            sample = thin(full, thinning)
            levels = self.choice.choose(sample, self.k, self.beta, select)
            return self._at(levels, roll_up(full, self.levels, levels), roll_up(sample, self.levels, levels))
        levels = self.choice.choose(full, self.k, self.beta, select)
        full = roll_up(full, self.levels, levels)
        return self._at(levels, full, thin(full, thinning))

    def _at(self, levels: Mapping[str, Level], full: Histogram, sample: Histogram) -> Protected:
        return Protected(at_least(sample, self.k), sample, full, levels)

    def parameters(self, released: Mapping[str, Level] | None = None) -> dict[str, Any]:
        """What the manifest says of the mechanism; before a release, what may be chosen stands for the level."""
        levels = {name: level.name for name, level in (released or self.levels).items()}
        stated = {"kind": "safe_k_anonymity", "beta": str(self.beta), "k": self.k}
        if self.choice is None:
            return {**stated, "attributes": levels}
        open_ = self.choice.chosen if released is None else []
        names = {name: [level.name for level in self.choice.lattice.candidates[name]] for name in open_}
        return {**stated, "attributes": {**levels, **names}, "choice": self.choice.parameters()}


def plan_safe_k(spec: SafeKAnonymity, contract: Contract, part: Part) -> tuple[SafeK | None, list[Finding]]:
    """The mechanism that keeps `part` of the guarantee, or what stands against it in the policy."""
    findings = [*_attribute_findings(spec, contract), *choice_problems(spec)]
    k, finding = _class_size(spec, part)
    findings += [finding] if finding else []
    if findings or k is None:
        return None, findings
    levels = {name: candidate_levels(contract, name, stated)[0] for name, stated in spec.attributes.items()}
    return SafeK(spec.sampling.beta, k, levels, part, plan_choice(spec, contract)), []


def _least_k(spec: SafeKAnonymity, part: Part) -> int:
    if spec.choose is None or spec.choose.on == "full":
        return safe_k.least_k(part.epsilon, part.delta, spec.sampling.beta)
    return joint_least_k(part, spec.sampling.beta, spec.choose.epsilon, candidate_count(spec))


def _class_size(spec: SafeKAnonymity, part: Part) -> tuple[int | None, Finding | None]:
    epsilon, delta, beta = part.epsilon, part.delta, spec.sampling.beta
    joint = spec.choose is not None and spec.choose.on == "sample"
    target = f"(epsilon {float(epsilon):g}, delta {float(delta):g}) at beta {float(beta):g}"
    target += " with the choice of levels on the same sample" if joint else ""
    if delta == 0 or beta == 1:
        expected = "a delta above 0 and a beta below 1: without them no k reaches a guarantee"
        return None, (("sampling", "beta"), f"no k reaches {target}", expected, None)
    try:
        least = _least_k(spec, part)
    except ValueError:
        if joint:
            expected = "a smaller beta, a smaller epsilon of the choice, or `on: full`"
            return None, (("choose", "on"), f"no k reaches {target}", expected, "full")
        expected = f"a smaller beta, or a larger epsilon or delta: k is at most {GREATEST_K}"
        return None, (("sampling", "beta"), f"no k reaches {target}", expected, None)
    if spec.k == "least":
        return least, None
    if spec.k < least:
        return None, (("k",), f"{spec.k} does not reach {target}", f"at least {least}, or `least`", str(least))
    return spec.k, None


def _attribute_findings(spec: SafeKAnonymity, contract: Contract) -> Iterator[Finding]:
    releasable = [attribute.name for attribute in contract.attributes if attribute.releasable]
    for name, stated in spec.attributes.items():
        attribute = contract.by_name.get(name)
        found = _unreleasable(attribute)
        if attribute is None or attribute.hierarchy is None or found:
            yield ("attributes", name), found, f"an attribute of contract {contract.id}", nearest(name, releasable)
        else:
            yield from level_problems(name, stated, attribute.hierarchy)


def _unreleasable(attribute: Attribute | None) -> str:
    if attribute is None:
        return "unknown attribute"
    if attribute.role is Role.DIRECT_IDENTIFIER:
        return "a direct identifier, which is never published"
    return "" if attribute.releasable else "an attribute without a public domain"
