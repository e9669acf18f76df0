"""Setting of an audit of whole releases."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from crowdgate.audit.common.population import Population
from crowdgate.audit.law.setting import ERROR
from crowdgate.kind.plan import Plan
from crowdgate.policy.policy import AuditSpec

RELEASES = 20
"""Number of whole releases."""


def policy_fields(plan: Plan, spec: AuditSpec, size: int) -> Mapping[str, Any]:
    """Return, by name, the fields of the setting that the policy decides, for a population of `size` units."""
    del plan, spec
    return {"n": size, "releases": RELEASES, "limit": Fraction(0), "error": ERROR, "controls": ()}


def population_fields(plan: Plan, spec: AuditSpec, population: Population) -> Mapping[str, Any]:
    """Return no fields: none depends on the population."""
    del plan, spec, population
    return {}


def refuse(plan: Plan, spec: AuditSpec, population: Population, alpha: Fraction) -> None:
    """Refuse nothing: every release can contradict its statement."""
    del plan, spec, population, alpha
