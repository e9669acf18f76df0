"""What an inference audit of a policy will play: who is known by what, what is asked, and what stands against it."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from importlib.metadata import version
from typing import Any

import numpy as np

from crowdgate.audit.common.population import Population
from crowdgate.audit.common.setting import common_fields, libraries
from crowdgate.audit.inference.attacks import ATTACKS
from crowdgate.audit.inference.baselines import BASELINES
from crowdgate.audit.inference.controls import MONDRIAN, InferenceControl, controls
from crowdgate.audit.inference.record import InferenceSetting
from crowdgate.audit.inference.secret import Floats, Secret
from crowdgate.audit.inference.secret_case import COVERAGES
from crowdgate.audit.inference.source_table import block_count
from crowdgate.contracts.contract import Attribute, Contract
from crowdgate.errors import Code, ConfigurationError, Problem
from crowdgate.hierarchy import EXACT
from crowdgate.histogram import joint
from crowdgate.kind.plan import Plan
from crowdgate.limits import MOST_SECRETS
from crowdgate.policy.policy import AuditSpec
from crowdgate.system.extras import AUDIT, need

LIBRARY = "scikit-learn"
LEAST_UNITS = 200
COLUMNS = "the policy's columns as they are"
MOST_NUMBERS = 30_000_000
"""Tuples of what is known times labels of a secret: models hold a number for each."""


def known_attributes(contract: Contract) -> tuple[str, ...]:
    """What is known of a target."""
    return tuple(each.name for each in contract.attributes if each.is_known and each.releasable)


def secrets_of(plan: Plan) -> list[Secret]:
    """What is asked: the secret attributes that the policy releases, at the finest level that it releases of each.

    Raises ConfigurationError for a secret that is told at no level, of one value, or where there is none.
    """
    contract, told = plan.bundle.contract, joint(plan.protection.views.values()).levels
    stated = [each for each in contract.attributes if each.secret and each.name not in told]
    found = [Secret(each.name, told[each.name], numbers_of(each, told[each.name].name)) for each in contract.attributes
             if each.is_secret and each.name in told]  # fmt: skip
    problems = list(_problems(plan, contract, stated, found))
    if problems:
        raise ConfigurationError(problems)
    return found


def _problems(plan: Plan, contract: Contract, untold: list[Attribute], found: list[Secret]) -> Iterator[Problem]:
    at = str(contract.files[0])
    for attribute in untold:
        expected = "a secret that the policy releases, or secret: false"
        yield Problem(
            at,
            None,
            f"attribute {attribute.name!r}",
            "a secret that is released at no level",
            expected,
            code=Code.CONTRACT,
        )
    for secret in found:
        if len(secret) < 2:
            expected = "a level with two values at least: of one value nothing is secret"
            yield Problem(
                at,
                None,
                f"attribute {secret.name!r}",
                f"one value at level {secret.level.name!r}",
                expected,
                code=Code.CONTRACT,
            )
    if not found and not untold:
        released = ", ".join(joint(plan.protection.views.values()).levels)
        expected = f"{{property: secret, value: true}}, or privacyRole: sensitive, at one of {released}"
        yield Problem(at, None, "attributes", "none that is secret is released", expected, code=Code.CONTRACT)
    if len(found) > MOST_SECRETS:
        yield Problem(
            at,
            None,
            "attributes",
            f"{len(found):,} secrets",
            f"{MOST_SECRETS} at most, others secret: false",
            code=Code.CONTRACT,
        )
    if not known_attributes(contract):
        expected = "{property: knownToAttackers, value: true}, or privacyRole: quasi-identifier"
        yield Problem(at, None, "attributes", "none is known to attackers", expected, code=Code.CONTRACT)


def numbers_of(attribute: Attribute, level: str) -> Floats | None:
    """The values of an attribute's labels where they are numbers in their order, at the level `exact`."""
    domain = attribute.domain
    if domain is None or domain.grid is None or level != EXACT or attribute.invalid == "level":
        return None
    grid = domain.grid
    return np.array([float(grid.first + grid.step * place) for place in range(grid.size)])


def controls_of(plan: Plan) -> tuple[InferenceControl, ...]:
    """What is played beside the policy's mechanism: its columns as they are first."""
    columns = tuple(joint(plan.protection.views.values()).levels)
    shown = InferenceControl(columns, (), COLUMNS, "show", "publishes the policy's attributes of every row, exactly")
    every = controls()
    if plan.bundle.contract.unit.person is not None:  # a coin is thrown for every row, and a person may have several
        every = tuple(each for each in every if each.name != MONDRIAN)
    return shown, *every


def other_attributes(plan: Plan) -> tuple[str, ...]:
    """What is read beside the mechanism's attributes. Raises ConfigurationError as `secrets_of` does."""
    return (*known_attributes(plan.bundle.contract), *(each.name for each in secrets_of(plan)))


def policy_fields(plan: Plan, spec: AuditSpec, size: int) -> Mapping[str, Any]:
    """What the policy says of an audit, on a population of so many units."""
    wanted, n = spec.inference, units_of(spec, size)
    return {
        "n": n, "rows": plan.bundle.contract.unit.rows, "blocks": block_count(n),
        "releases": wanted.releases, "coverage": wanted.coverage, "limit": wanted.limit,
        "known": known_attributes(plan.bundle.contract), "attacks": tuple(name for name, _, _ in ATTACKS),
        "secrets": tuple((each.name, each.level.name) for each in secrets_of(plan)),
        "baselines": tuple(name for name, _, _ in BASELINES),
        "controls": tuple(each.name for each in controls_of(plan)),
    }  # fmt: skip


def setting_of(plan: Plan, spec: AuditSpec, population: Population, confidential: bool = False) -> InferenceSetting:
    """Everything that decides what an audit finds but its seed and the noise of OpenDP's samplers."""
    shared = {**common_fields(plan, population, confidential), "libraries": libraries_of_models()}
    return InferenceSetting(**shared, **policy_fields(plan, spec, population.size))


def units_of(spec: AuditSpec, size: int) -> int:
    """The size of the table, of a population of so many units."""
    return spec.units or size


def libraries_of_models() -> dict[str, str]:
    """The versions of what draws, computes and fits. Raises ConfigurationError without scikit-learn."""
    need(AUDIT, "--of")
    return {**libraries(), LIBRARY: version(LIBRARY)}


def refuse(plan: Plan, spec: AuditSpec, population: Population, _: Fraction) -> None:
    """Raises ConfigurationError for a setting in which nothing could be found."""
    n, coverage = units_of(spec, population.size), float(spec.inference.coverage)
    if not LEAST_UNITS <= n <= population.size:
        found = f"{n} units, of a population of {population.size}"
        raise _setting_problem(plan, "units", found, f"{LEAST_UNITS} units at least, and no more than there are")
    tuples = min(n, len(population.cells))
    for secret in secrets_of(plan):
        if tuples * len(secret) > MOST_NUMBERS:
            found = f"{secret.name!r} of {len(secret):,} values at level {secret.level.name!r}, and {tuples:,} tuples"
            raise _setting_problem(plan, "inference", found, f"a level of {MOST_NUMBERS // tuples:,} values at most")
    if coverage not in COVERAGES:
        found, expected = f"a coverage of {coverage:g}", f"one of {', '.join(f'{each:g}' for each in COVERAGES)}"
        raise _setting_problem(plan, "inference", found, expected)


def _setting_problem(plan: Plan, key: str, found: str, expected: str) -> ConfigurationError:
    at = ("spec", "audit", key) if plan.bundle.policy.spec.audit is not None else ("spec",)
    return ConfigurationError(plan.bundle.document.problem(at, found, expected, None))
