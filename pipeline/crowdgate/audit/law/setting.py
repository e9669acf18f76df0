"""Setting of an audit of the stated distributions."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from crowdgate.audit.common.population import Population
from crowdgate.kind.plan import Plan
from crowdgate.policy.policy import AuditSpec

ERROR = Fraction(1, 10_000)
"""False-alarm rate of a first attempt: of all tests of an audit together."""


def releases_of(plan: Plan, spec: AuditSpec) -> int:
    """Return the number of fresh releases: the policy's own, or what the kind of release proposes."""
    return spec.law.releases or plan.protection.kind.audited_draws


def policy_fields(plan: Plan, spec: AuditSpec, size: int) -> Mapping[str, Any]:
    """Return, by name, the fields of the setting that the policy decides, for a population of `size` units."""
    return {"n": size, "releases": releases_of(plan, spec), "limit": spec.law.limit, "error": ERROR, "controls": ()}


def population_fields(plan: Plan, spec: AuditSpec, population: Population) -> Mapping[str, Any]:
    """Return no fields: none depends on the population."""
    del plan, spec, population
    return {}


def refuse(plan: Plan, spec: AuditSpec, population: Population, alpha: Fraction) -> None:
    """Refuse nothing: every release can contradict its statement."""
    del plan, spec, population, alpha
