"""Setting of an audit of whole releases."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from crowdgate.audit.common.population import Population
from crowdgate.audit.law.setting import ERROR
from crowdgate.kind.plan import Plan
from crowdgate.policy.policy import AuditSpec

RELEASES, LEAST = 20, 2
"""Greatest and least number of whole releases. Two are compared with each other."""
UNITS = 6_000_000
"""Greatest number of privacy units in all releases together, unless the least number of releases has more: they take
some minutes."""


def releases_of(size: int) -> int:
    """Return the number of whole releases of a population of `size` units."""
    return max(LEAST, min(RELEASES, UNITS // max(1, size)))


def policy_fields(plan: Plan, spec: AuditSpec, size: int) -> Mapping[str, Any]:
    """Return, by name, the fields of the setting that the policy decides, for a population of `size` units."""
    del plan, spec
    return {"n": size, "releases": releases_of(size), "limit": Fraction(0), "error": ERROR, "controls": ()}


def population_fields(plan: Plan, spec: AuditSpec, population: Population) -> Mapping[str, Any]:
    """Return no fields: none depends on the population."""
    del plan, spec, population
    return {}


def refuse(plan: Plan, spec: AuditSpec, population: Population, alpha: Fraction) -> None:
    """Refuse nothing: every release can contradict its statement."""
    del plan, spec, population, alpha
