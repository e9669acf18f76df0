"""The most that an inference audit could find: the gain of attackers who look a target up in the policy's columns of
every row, unchanged.

Each audit divides its table by a seed of its own, and other divisions give other baselines: of 1,500 people the gain of
one was .10 and of another .13. So an audit is hopeless only if several divisions agree. They are always the same ones.
"""

from crowdgate.audit.common.ceiling import Ceiling
from crowdgate.audit.common.population import Population
from crowdgate.audit.inference.findings import greatest_improvement
from crowdgate.audit.inference.play import InferenceGame
from crowdgate.audit.inference.setting import controls_of, secrets_of
from crowdgate.audit.inference.tables import InferenceTables
from crowdgate.kind.plan import Plan
from crowdgate.policy.policy import AuditSpec

DIVISIONS = 5
"""Number of divisions of the table that are tried before an audit is called hopeless."""
_OTHERWISE = "another secret, columns at finer levels, or no gate on this audit"


def ceiling(plan: Plan, spec: AuditSpec, population: Population) -> Ceiling:
    """Return the ceiling of an inference audit of this policy."""
    limit, value = spec.inference.limit, 0.0
    for seed in range(DIVISIONS):
        value = max(value, reached(plan, spec, population, seed))
        if value > limit:
            break
    return Ceiling("inference", "a gain", value, limit, otherwise=_OTHERWISE)


def reached(plan: Plan, spec: AuditSpec, population: Population, seed: int) -> float:
    """Return the greatest gain of any secret, group of targets and coverage, for the division of the table by a seed; 1
    if none is known."""
    shown, *_ = controls_of(plan)
    tables = InferenceTables(plan, spec, population, tuple(secrets_of(plan)), seed)
    game = InferenceGame(shown, tables.cases, 0, 1, attacks=shown.attacks)
    return greatest_improvement([game.played({0: game.batch(0, shown.releases)}, "show", "", None)])
