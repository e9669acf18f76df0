"""Setting of an audit of singling out, and the controls that are played."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from crowdgate.accounting.audit_power import chance_to_pass
from crowdgate.accounting.pso_baselines import best_baseline, finite_baseline
from crowdgate.audit.common.ceiling import Ceiling
from crowdgate.audit.common.least_units import MOST_UNITS
from crowdgate.audit.common.observation import PublicKnowledge
from crowdgate.audit.common.population import Population
from crowdgate.audit.common.predicates import GRID
from crowdgate.audit.common.setting import setting_problem, unread_outputs
from crowdgate.audit.singling_out.ceiling import ceiling_of
from crowdgate.audit.singling_out.record import weights_of
from crowdgate.audit.singling_out.trials_needed import trials_needed
from crowdgate.audit.singling_out_attackers import ATTACKERS, Attacker
from crowdgate.audit.singling_out_controls import CONTROLS, SinglingOutControl, faulty_policy_controls
from crowdgate.candidate import OutputType
from crowdgate.kind.plan import Plan
from crowdgate.number_text import exact_text
from crowdgate.policy.policy import AuditSpec

LEAST_UNITS = 20
PART = 10
"""Divisor of the population: without replacement at most a 10th is drawn. From a larger part an attacker knows too well
who is in the table."""
LIKELY = Fraction(1, 2)
"""Least probability that one attacker without access to the release stays within the limit. An audit that can hardly
pass is not begun: it would count as an attempt, and later attempts are judged at half of the level."""


def public_knowledge(spec: AuditSpec, population: Population) -> PublicKnowledge:
    """Return the public knowledge of attackers in this audit: the population, the size of tables, and how they are
    drawn."""
    return PublicKnowledge(population, spec.units or population.size, spec.replacement)


def every_control(plan: Plan) -> tuple[SinglingOutControl, ...]:
    """Return all controls of a singling-out audit: those that depend on no policy, and those made of the policy's
    mechanism."""
    return *CONTROLS, *faulty_policy_controls(plan.protection, plan.first_release_facts(), plan.protection.figures.beta)


def controls_of(plan: Plan, known: PublicKnowledge) -> list[SinglingOutControl]:
    """Return the controls to play in a singling-out audit: those whose result is known on this population."""
    return [control for control in every_control(plan) if control.fits(known)]


def policy_fields(_: Plan, spec: AuditSpec, size: int) -> Mapping[str, Any]:
    """Return, by name, the fields of a singling-out audit's setting that the policy decides, for a population of `size`
    units."""
    n = size if spec.units is None else spec.units
    most = spec.largest(n)
    return {
        "n": n, "trials": spec.trials, "weight": most, "weights": weights_of(most, n), "limit": spec.limit,
        "replacement": spec.replacement, "attackers": tuple(each.name for each in ATTACKERS),
    }  # fmt: skip


def population_fields(plan: Plan, spec: AuditSpec, population: Population) -> Mapping[str, Any]:
    """Return, by name, the fields of a singling-out audit's setting that depend on the population. Controls that could
    not be detected on it are not played."""
    known = public_knowledge(spec, population)
    played = tuple(each.name for each in controls_of(plan, known))
    return {
        "beta": plan.protection.figures.beta if OutputType.ROWS in plan.protection.kind.shapes else None,
        "controls": played,
        "not_played": tuple(each.name for each in every_control(plan) if each.name not in played),
        "unread": unread_outputs(plan, known),
    }  # fmt: skip


def refuse(plan: Plan, spec: AuditSpec, population: Population, alpha: Fraction) -> None:
    """Raise ConfigurationError for a singling-out audit's setting in which nothing could be found, or hardly anything
    could pass."""
    n = spec.units or population.size
    if n < LEAST_UNITS:
        expected = f"{LEAST_UNITS} units at least, in a table that is attacked"
        raise setting_problem(plan, spec, "units", f"{n} units", expected)
    if n > MOST_UNITS:
        raise setting_problem(plan, spec, "units", f"{n} units", f"at most {MOST_UNITS}", str(MOST_UNITS))
    if not spec.replacement and PART * n > population.size:
        found = f"{n} units without replacement, of a population of {population.size}: many are known to be there"
        expected = f"at most {population.size // PART} units, a {PART}th of the population, or replacement: true"
        raise setting_problem(plan, spec, "units", found, expected, str(population.size // PART))
    most = spec.largest(n)
    if most * GRID < 1:
        found = f"a greatest weight of {exact_text(most)}, and no predicate is lighter than 2^-64"
        raise setting_problem(plan, spec, "weight", found, "a weight of 2^-64 at least")
    _refuse_trials(plan, spec, n, population.size, alpha)


def ceiling(plan: Plan, spec: AuditSpec, population: Population) -> Ceiling:
    """Return the ceiling of a singling-out audit of this policy."""
    del plan
    known = public_knowledge(spec, population)
    value = ceiling_of(known, weights_of(spec.largest(known.n), known.n))
    return Ceiling("limit", "an excess over the baseline", value, spec.limit)


def _refuse_trials(plan: Plan, spec: AuditSpec, n: int, size: int, alpha: Fraction) -> None:
    """Raise ConfigurationError if even a blind attacker would hardly pass with so few trials. The advised number
    suffices for all attackers, since it is not known beforehand which of them can read the release."""
    attackers = [_baselines(spec, n, size, attacker) for attacker in ATTACKERS]
    baseline = attackers[0][0]
    if chance_to_pass(min(Fraction(1), Fraction(baseline) + spec.limit), baseline, spec.trials, alpha) >= LIKELY:
        return
    needed = trials_needed(attackers, spec.limit, alpha)
    if needed is None:
        found = f"a limit of {exact_text(spec.limit)}, which no number of trials can show"
        raise setting_problem(plan, spec, "limit", found, "a greater limit")
    found = f"{spec.trials} trials, too few: even an attacker without access to the release would hardly pass"
    expected = f"{needed} trials at least, in which a harmless mechanism passes with probability .9; or a greater limit"
    raise setting_problem(plan, spec, "trials", found, expected, str(needed))


def _baselines(spec: AuditSpec, n: int, size: int, attacker: Attacker) -> tuple[float, ...]:
    """Return an attacker's greatest probability of isolation without access to the release, for each weight at which
    attackers answer."""
    weights = weights_of(spec.largest(n), n)
    if attacker.aside:
        return tuple(map(float, weights))
    return tuple(best_baseline(n, each) if spec.replacement else finite_baseline(n, size, each) for each in weights)
