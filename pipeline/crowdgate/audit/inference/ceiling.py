"""The most that an inference audit could find: the gain of attackers who look a target up in the policy's columns of
every row, unchanged. The table is always divided into the same blocks, whatever the seed of the audit."""

from crowdgate.audit.common.ceiling import Ceiling
from crowdgate.audit.common.population import Population
from crowdgate.audit.inference.findings import greatest_improvement
from crowdgate.audit.inference.play import InferenceGame
from crowdgate.audit.inference.setting import controls_of, secrets_of
from crowdgate.audit.inference.tables import InferenceTables
from crowdgate.kind.plan import Plan
from crowdgate.policy.policy import AuditSpec

_OTHERWISE = "another secret, columns at finer levels, or no gate on this audit"


def ceiling(plan: Plan, spec: AuditSpec, population: Population) -> Ceiling:
    """Return the ceiling of an inference audit of this policy."""
    value = reached(plan, spec, population)
    return Ceiling("inference", "a gain", value, spec.inference.limit, otherwise=_OTHERWISE)


def reached(plan: Plan, spec: AuditSpec, population: Population) -> float:
    """Return the greatest gain of any secret, group of targets and coverage; 1 if none is known."""
    shown, *_ = controls_of(plan)
    tables = InferenceTables(plan, spec, population, tuple(secrets_of(plan)), 0)
    game = InferenceGame(shown, tables.cases, 0, 1, attacks=shown.attacks)
    return greatest_improvement([game.played({0: game.batch(0, shown.releases)}, "show", "", None)])
