"""The most that a membership audit could find: the precision of attackers who see the policy's attributes of every row,
unchanged. They attack tables that are always the same ones."""

from crowdgate.audit.common.ceiling import Ceiling
from crowdgate.audit.common.population import Population
from crowdgate.audit.membership.controls import SHOWN
from crowdgate.audit.membership.findings import greatest_precision
from crowdgate.audit.membership.play import MembershipGame
from crowdgate.audit.membership.setting import claimed_shares, limit_of, recall_of, units_of
from crowdgate.audit.membership.target_population import TargetPopulation
from crowdgate.kind.plan import Plan
from crowdgate.policy.policy import AuditSpec
from crowdgate.risk.membership import base_rate

TABLES = (5, 50)
"""Numbers of tables: few, and more before an audit is called hopeless. Precision can differ between tables: of 3,000
people with unique ages it was .40 to .54 by five tables, where .42 is the mean of 200."""
_OTHERWISE = "a smaller recall in a gate on this audit, or attributes at finer levels"


def ceiling(plan: Plan, spec: AuditSpec, population: Population) -> Ceiling:
    """Return the ceiling of a membership audit of this policy."""
    limit, least, value = limit_of(spec), base_rate(spec.membership.skew), 0.0
    for tables in TABLES:
        value = reached(plan, spec, population, tables)
        if value > limit:
            break
    return Ceiling("membership", "a precision", value, limit, float(least), _OTHERWISE)


def reached(plan: Plan, spec: AuditSpec, population: Population, tables: int) -> float:
    """Return the greatest precision at the judged skew, with at least the judged recall, by so many tables; 0 if the
    recall is not reached."""
    crowd = TargetPopulation(population, units_of(spec, population.size))
    recall = recall_of(plan, crowd.n)
    shares = claimed_shares(spec, recall, crowd.n, population.size)
    game = MembershipGame(SHOWN, crowd, shares, 0, 1, attacks=SHOWN.attacks)
    played = game.played({0: game.batch(0, tables)}, "show", "", None)
    return greatest_precision([played], spec.membership.skew, recall)
