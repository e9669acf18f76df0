"""Settings shared by all audits: the policy's section, the population, the code and its libraries."""

import hashlib
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
from pydantic import ValidationError

from crowdgate.audit.common.observation import PublicKnowledge
from crowdgate.audit.common.policy_mechanism import PolicyMechanism
from crowdgate.audit.common.population import Population
from crowdgate.documents.yaml_text import Location
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.kind.plan import Plan
from crowdgate.policy.policy import AuditSpec
from crowdgate.system.extras import AUDIT, need
from crowdgate.system.installed_code import code_digest, libraries

MODEL_LIBRARY = "scikit-learn"


def audit_spec(plan: Plan, overrides: Mapping[str, Any] | None = None) -> AuditSpec:
    """Return the audit section of the policy, with `overrides` from the command line (texts by name) in place of the
    policy's values. Raises ConfigurationError for an override that no policy could state."""
    own = plan.bundle.policy.spec.audit or AuditSpec()
    given = {name: value for name, value in (overrides or {}).items() if value is not None}
    if not given:
        return own
    try:
        read = AuditSpec.model_validate(given)
    except ValidationError as error:
        problems = [
            Problem(
                "command line", None, f"--{each['loc'][0]}", "not usable", each["msg"].removeprefix("Value error, ")
            )
            for each in error.errors(include_url=False, include_input=False)
        ]
        raise ConfigurationError(problems) from None
    return own.model_copy(update={name: getattr(read, name) for name in given})


def setting_problem(
    plan: Plan, spec: AuditSpec, key: str, found: str, expected: str, instead: str | None = None
) -> ConfigurationError:
    """Return the ConfigurationError for an audit setting: at the policy's line of `key`, or at the command-line option
    that replaced it."""
    own = plan.bundle.policy.spec.audit
    if getattr(spec, key) != getattr(own or AuditSpec(), key):
        return ConfigurationError(Problem("command line", None, f"--{key}", found, expected, instead))
    at: Location = ("spec", "audit", key) if own is not None else ("spec",)
    return ConfigurationError(plan.bundle.document.problem(at, found, expected, instead))


def population_problem(plan: Plan, spec: AuditSpec) -> ConfigurationError:
    """Return the ConfigurationError for a population with fewer than two units."""
    found, expected = "the population has no two units", "a public table with units to draw"
    return setting_problem(plan, spec, "population", found, expected)


def unread_outputs(plan: Plan, known: PublicKnowledge) -> tuple[str, ...]:
    """Return the names of the outputs that the policy's mechanism draws and that no attacker reads."""
    rng = np.random.default_rng(0)
    seen = PolicyMechanism(plan.protection).apply(known.population.draw(2, rng), known, rng).seen
    return () if seen is None else seen.unread


def common_fields(plan: Plan, population: Population, confidential: bool) -> dict[str, Any]:
    """Return the fields that the settings of all audits share, by name: policy, guarantee, population, code and
    libraries."""
    bundle = plan.bundle
    return {
        "policy": bundle.policy.metadata.name, "version": bundle.policy.metadata.version,
        "policy_digest": bundle.digest, "mechanism": plan.protection.kind.name, "epsilon": plan.guarantee.epsilon,
        "delta": plan.guarantee.delta, "points": plan.guarantee.points[1:],
        "contract": bundle.contract.id, "population": population.name,
        "population_digest": digest_of_population(population), "population_size": population.size,
        "code": code_digest(), "libraries": libraries(), "confidential": confidential,
    }  # fmt: skip


def digest_of_population(population: Population) -> str:
    """Return the SHA-256 of a population: its distinct units, their multiplicities, attributes and levels."""
    total = hashlib.sha256()
    for name, level in population.levels.items():
        total.update(repr((name, level.name, level.labels)).encode())
    for column in (*population.cells.codes, population.members):
        total.update(np.ascontiguousarray(column, dtype=np.int64).tobytes())
    if population.rows is not None:
        for part in (population.rows.indptr, population.rows.indices, population.rows.data):
            total.update(np.ascontiguousarray(part, dtype=np.int64).tobytes())
    return total.hexdigest()


def model_libraries() -> dict[str, str]:
    """Return the versions, by library name, of the libraries that draw, compute and fit models. Raises
    ConfigurationError without scikit-learn."""
    need(AUDIT, "--of")
    return {**libraries(), MODEL_LIBRARY: version(MODEL_LIBRARY)}
