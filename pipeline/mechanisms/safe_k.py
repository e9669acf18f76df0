"""Sampling and safe k-anonymity: Bernoulli sample, fixed generalisation, suppression of classes below k.

The output is (epsilon, delta)-differentially private for adding or removing one row (Li, Qardaji, Su 2012, Theorem 5;
here with the exact delta), because every released column is in the class key, the levels do not depend on the sample,
and neither the sample's size nor the number of suppressed rows is published.
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
from pipeline.policy import GREATEST_K, SafeKAnonymity

Finding = tuple[tuple[str | int, ...], str, str, str | None]
"""(place below `mechanism`, what is there, what is expected, the nearest right word)."""


@dataclass(frozen=True)
class Protected:
    """What the mechanism made: the release, and the sample it came from (confidential)."""

    output: Histogram
    sample: Histogram


@dataclass(frozen=True, eq=False)
class SafeK:
    """The mechanism with its numbers: keep with probability beta, publish classes of at least k."""

    beta: Fraction
    k: int
    levels: Mapping[str, Level]
    part: Part

    @property
    def view(self) -> View:
        """The class key: every released attribute at its level."""
        return View(self.levels)

    def protect(self, full: Histogram, thinning: Thinning) -> Protected:
        """Sample the rows that `full` counts and suppress classes below k."""
        sample = thin(full, thinning)
        return Protected(at_least(sample, self.k), sample)

    def parameters(self) -> dict[str, Any]:
        """What the manifest says of the mechanism."""
        return {
            "kind": "safe_k_anonymity",
            "beta": str(self.beta),
            "k": self.k,
            "attributes": {name: level.name for name, level in self.levels.items()},
        }


def plan_safe_k(spec: SafeKAnonymity, contract: Contract, part: Part) -> tuple[SafeK | None, list[Finding]]:
    """The mechanism that keeps `part` of the guarantee, or what stands against it in the policy."""
    findings = [*_attribute_findings(spec, contract)]
    k, finding = _class_size(spec, part)
    findings += [finding] if finding else []
    if findings or k is None:
        return None, findings
    hierarchies = {name: contract.by_name[name].hierarchy for name in spec.attributes}
    levels = {name: found.level(spec.attributes[name]) for name, found in hierarchies.items() if found is not None}
    return SafeK(spec.sampling.beta, k, levels, part), []


def _class_size(spec: SafeKAnonymity, part: Part) -> tuple[int | None, Finding | None]:
    epsilon, delta, beta = part.epsilon, part.delta, spec.sampling.beta
    target = f"(epsilon {float(epsilon):g}, delta {float(delta):g}) at beta {float(beta):g}"
    if delta == 0 or beta == 1:
        expected = "a delta above 0 and a beta below 1: without them no k reaches a guarantee"
        return None, (("sampling", "beta"), f"no k reaches {target}", expected, None)
    try:
        least = safe_k.least_k(epsilon, delta, beta)
    except ValueError:
        expected = f"a smaller beta, or a larger epsilon or delta: k is at most {GREATEST_K}"
        return None, (("sampling", "beta"), f"no k reaches {target}", expected, None)
    if spec.k == "least":
        return least, None
    if spec.k < least:
        return None, (("k",), f"{spec.k} does not reach {target}", f"at least {least}, or `least`", str(least))
    return spec.k, None


def _attribute_findings(spec: SafeKAnonymity, contract: Contract) -> Iterator[Finding]:
    releasable = [attribute.name for attribute in contract.attributes if attribute.releasable]
    for name, level in spec.attributes.items():
        attribute = contract.by_name.get(name)
        found = _unreleasable(attribute)
        if attribute is None or attribute.hierarchy is None or found:
            yield ("attributes", name), found, f"an attribute of contract {contract.id}", nearest(name, releasable)
        elif level not in attribute.hierarchy.names:
            names = attribute.hierarchy.names
            yield ("attributes", name), f"unknown level {level!r}", f"one of {', '.join(names)}", nearest(level, names)


def _unreleasable(attribute: Attribute | None) -> str:
    if attribute is None:
        return "unknown attribute"
    if attribute.role is Role.DIRECT_IDENTIFIER:
        return "a direct identifier, which is never published"
    return "" if attribute.releasable else "an attribute without a public domain"
