"""Setting of an inference audit: known attributes, secrets, and controls."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from crowdgate.arrays import Floats
from crowdgate.audit.common.population import Population
from crowdgate.audit.common.setting import setting_problem
from crowdgate.audit.inference.attacks import ATTACKS
from crowdgate.audit.inference.baselines import BASELINES
from crowdgate.audit.inference.controls import MONDRIAN, InferenceControl, controls
from crowdgate.audit.inference.secret import Secret
from crowdgate.audit.inference.secret_case import COVERAGES
from crowdgate.audit.inference.source_table import block_count
from crowdgate.contracts.contract import Attribute, Contract
from crowdgate.errors import Code, ConfigurationError, Problem
from crowdgate.hierarchy import EXACT
from crowdgate.histogram import joint
from crowdgate.kind.plan import Plan
from crowdgate.limits import MOST_SECRETS
from crowdgate.number_text import rounded, whole
from crowdgate.policy.policy import AuditSpec

LEAST_UNITS = 200
ON_LARGEST_BET = Fraction(3, 4)
"""Share of the capital on the largest bet in limits of gains. The gain of a harmless mechanism is nearly the same in
every release, and then the largest bet grows fastest."""
COLUMNS = "the policy's columns as they are"
MOST_NUMBERS = 30_000_000
"""Greatest number of known tuples times labels of a secret: models hold a number for each."""


def known_attributes(contract: Contract) -> tuple[str, ...]:
    """Return the names of the contract's releasable attributes that attackers know of a target."""
    return tuple(each.name for each in contract.attributes if each.is_known and each.releasable)


def secrets_of(plan: Plan) -> list[Secret]:
    """Return the secret attributes that the policy releases, each at its finest released level.

    Raises ConfigurationError for a secret that is released at no level or has one value, and where there is no secret.
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
    def problem(where: str, what: str, expected: str) -> Problem:
        return Problem(str(contract.files[0]), None, where, what, expected, code=Code.CONTRACT)

    for attribute in untold:
        expected = "a secret that the policy releases, or secret: false"
        yield problem(f"attribute {attribute.name!r}", "this secret attribute is not released", expected)
    for secret in found:
        if len(secret) < 2:
            expected = "a level with two values at least: of one value nothing is secret"
            yield problem(f"attribute {secret.name!r}", f"one value at level {secret.level.name!r}", expected)
    if not found and not untold:
        released = ", ".join(joint(plan.protection.views.values()).levels)
        expected = f"{{property: secret, value: true}}, or privacyRole: sensitive, at one of {released}"
        yield problem("attributes", "the policy releases no secret attribute", expected)
    if len(found) > MOST_SECRETS:
        yield problem("attributes", f"{whole(len(found))} secrets", f"{MOST_SECRETS} at most, others secret: false")
    if not known_attributes(contract):
        expected = "{property: knownToAttackers, value: true}, or privacyRole: quasi-identifier"
        yield problem("attributes", "no released attribute is known to attackers", expected)


def numbers_of(attribute: Attribute, level: str) -> Floats | None:
    """Return the number of each label (for an interval, where it begins) at the level `exact`. None for another level,
    for a domain that is not a range of numbers with a step, and if invalid cells have a label."""
    domain = attribute.domain
    if domain is None or domain.grid is None or level != EXACT or attribute.invalid == "level":
        return None
    grid = domain.grid
    return np.array([float(grid.first + grid.step * place) for place in range(grid.size)])


def controls_of(plan: Plan) -> tuple[InferenceControl, ...]:
    """Return the controls of an inference audit: mechanisms that publish some columns of every row unchanged, attacked
    like the release to test the audit (some must be caught, one must hold). The first publishes the policy's columns;
    its result is only shown."""
    columns = tuple(joint(plan.protection.views.values()).levels)
    shown = InferenceControl(columns, (), COLUMNS, "show", "publishes the policy's attributes of every row, exactly")
    every = controls()
    if plan.bundle.contract.unit.person is not None:  # the secret bit is per row, and a person may have several rows
        every = tuple(each for each in every if each.name != MONDRIAN)
    return shown, *every


def other_attributes(plan: Plan) -> tuple[str, ...]:
    """Return the names of the known and secret attributes, which the audit reads in addition to the mechanism's. Raises
    ConfigurationError as `secrets_of` does."""
    return (*known_attributes(plan.bundle.contract), *(each.name for each in secrets_of(plan)))


def policy_fields(plan: Plan, spec: AuditSpec, size: int) -> Mapping[str, Any]:
    """Return, by name, the fields of an inference audit's setting that the policy decides, for a population of `size`
    units."""
    wanted, n = spec.inference, units_of(spec, size)
    return {
        "n": n, "rows": plan.bundle.contract.unit.rows, "blocks": block_count(n),
        "releases": releases_of(plan, spec), "coverage": wanted.coverage, "limit": wanted.limit,
        "known": known_attributes(plan.bundle.contract), "attacks": tuple(name for name, _, _ in ATTACKS),
        "secrets": tuple((each.name, each.level.name) for each in secrets_of(plan)),
        "baselines": tuple(name for name, _, _ in BASELINES),
        "controls": tuple(each.name for each in controls_of(plan)), "ceiling": True,
        "on_largest_bet": ON_LARGEST_BET,
    }  # fmt: skip


def population_fields(_: Plan, __: AuditSpec, ___: Population) -> Mapping[str, Any]:
    """Return no fields: an inference audit's setting depends on the population's size only, which `policy_fields`
    receives."""
    return {}


def releases_of(plan: Plan, spec: AuditSpec) -> int:
    """Return the number of attacked releases of one table: the policy's own, or what the kind of release proposes."""
    return spec.inference.releases or plan.protection.kind.attacked_releases


def units_of(spec: AuditSpec, size: int) -> int:
    """Return the number of units of the table to release: the policy's own, or all `size` units of the population."""
    return spec.units or size


def refuse(plan: Plan, spec: AuditSpec, population: Population, _: Fraction) -> None:
    """Raise ConfigurationError for an inference audit's setting in which nothing could be found."""
    n, coverage = units_of(spec, population.size), float(spec.inference.coverage)
    if not LEAST_UNITS <= n <= population.size:
        found = f"{n} units, of a population of {population.size}"
        raise setting_problem(plan, spec, "units", found, f"{LEAST_UNITS} units at least, and no more than there are")
    tuples = min(n, len(population.cells))
    for secret in secrets_of(plan):
        if tuples * len(secret) > MOST_NUMBERS:
            found = (
                f"{secret.name!r} of {whole(len(secret))} values at level {secret.level.name!r}, and"
                f" {whole(tuples)} tuples"
            )
            raise setting_problem(
                plan, spec, "inference", found, f"a level of {whole(MOST_NUMBERS // tuples)} values at most"
            )
    if coverage not in COVERAGES:
        found, expected = (
            f"a coverage of {rounded(coverage, 6)}",
            f"one of {', '.join(f'{rounded(each, 6)}' for each in COVERAGES)}",
        )
        raise setting_problem(plan, spec, "inference", found, expected)
