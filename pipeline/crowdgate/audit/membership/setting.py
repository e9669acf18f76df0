"""Setting of a membership audit: size of the tables, claimed shares, and controls."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from crowdgate.audit.common.observation import PublicKnowledge
from crowdgate.audit.common.population import Population
from crowdgate.audit.common.setting import setting_problem, unread_outputs
from crowdgate.audit.membership.attacks import NAMES
from crowdgate.audit.membership.controls import SHOWN, MembershipControl, controls
from crowdgate.audit.membership.findings import LEAST_FOUND
from crowdgate.candidate import Cost
from crowdgate.guarantee import Guarantee, Part, replace_one_guarantee
from crowdgate.kind.plan import Plan
from crowdgate.measures.recorded_audits import membership_recall
from crowdgate.number_text import decimal, exact_text, whole
from crowdgate.policy.policy import AuditSpec
from crowdgate.risk.membership import base_rate, non_members_needed

LEAST_UNITS = 200
TIMES_BLIND = 2
"""Default limit of an attacker's precision, as a multiple of the blind attacker's."""
USUAL_RECALL = Fraction(1, 1000)
"""Default of the judged recall, if that is LEAST_FOUND members. A greater one asks for many members, whom nobody finds
with certainty in a table of a few attributes, even if every row is published."""
CLAIMED = tuple(Fraction(each) for each in ("1e-4", "1e-3", "0.01", "0.1", "0.5", "1"))
"""Claimed shares of the population: the false positive rates of the blind attacker."""


def releases_of(plan: Plan, spec: AuditSpec) -> int:
    """Return the number of drawn and released tables: the policy's own, or what the kind of release proposes."""
    return spec.membership.releases or plan.protection.kind.attacked_tables


def units_of(spec: AuditSpec, size: int) -> int:
    """Return the number of units of a table: the policy's own, or half of the population's `size` units."""
    return spec.units or size // 2


def limit_of(spec: AuditSpec) -> Fraction:
    """Return the greatest precision that passes: the policy's own, or TIMES_BLIND times that of the blind attacker."""
    wanted = spec.membership
    return min(Fraction(1), TIMES_BLIND / (1 + wanted.skew)) if wanted.limit is None else wanted.limit


def recall_of(plan: Plan, n: int) -> Fraction:
    """Return the judged recall for tables of n units: as the policy states, or else USUAL_RECALL, or the share of
    LEAST_FOUND members if that is greater. The default depends on nothing else, so that no audit chooses its setting by
    what it finds."""
    stated = membership_recall(plan.bundle.policy.spec)
    return max(USUAL_RECALL, least_recall(n)) if stated is None else stated


def least_recall(n: int) -> Fraction:
    """Return the least recall, in six decimals, that finds LEAST_FOUND of n members."""
    return min(Fraction(1), Fraction(-(-LEAST_FOUND * 10**6 // n), 10**6))


def claimed_shares(spec: AuditSpec, recall: Fraction, n: int, size: int) -> tuple[float, ...]:
    """Return the shares of the population of `size` units that attackers claim, of at least one unit each. They include
    the judged recall, and the share of `deciding_share`."""
    wanted = {*CLAIMED, recall, deciding_share(spec, recall, n, size)}
    return tuple(float(each) for each in sorted(wanted) if each * size >= 1)


def deciding_share(spec: AuditSpec, recall: Fraction, n: int, size: int) -> Fraction:
    """Return the share of the population of `size` units that is claimed when the judged recall is found with exactly
    the greatest precision that passes, in a table of n units.

    An attacker who reaches that recall with fewer claims, and so with greater precision, finds at least as many members
    at this share, and exceeds the limit here too. So an attack that is certain of few members and blind for the others
    can't hide between two shares.
    """
    limit = limit_of(spec)
    if not limit:  # nothing could pass
        return Fraction(1)
    false = recall * (1 - limit) / (limit * spec.membership.skew)
    return min(Fraction(1), (recall * n + false * (size - n)) / size)


def attacked_guarantee(plan: Plan) -> Guarantee:
    """Return the privacy guarantee of the attacked outputs: the release without the outcomes of charged gates; with
    them if the parts keep their total only jointly."""
    if plan.guarantee.joint is not None:
        return plan.guarantee
    return Guarantee.of(plan.protection.parts, plan.guarantee.relation, plan.guarantee.unit)


def cap_of(plan: Plan) -> tuple[Fraction, Fraction, Fraction] | None:
    """Return the rate of the sample, and epsilon and delta, for replacing one unit, of the outputs that are not
    computed on the sample. None if nothing is sampled, or if a person may have several rows."""
    beta, parts = plan.protection.figures.beta, plan.protection.parts
    sampled = [part for part in parts if part.name == "mechanism"] or list(parts[:1] if len(parts) == 1 else ())
    if beta == 1 or plan.bundle.contract.unit.rows > 1 or not sampled:
        return None
    return beta, *_other_cost([part for part in parts if part not in sampled])


def _other_cost(parts: Sequence[Part]) -> Cost:
    if not parts:
        return Fraction(0), Fraction(0)
    form = Guarantee.of(tuple(parts)).replace_one_form(None)
    return form.epsilon, min(form.delta, Fraction(1))


def sampled_rate(plan: Plan) -> Fraction | None:
    """Return the sampling rate that caps true positive rates; None without a cap."""
    cap = cap_of(plan)
    return None if cap is None else cap[0]


def controls_of(plan: Plan) -> tuple[MembershipControl, ...]:
    """Return the controls of a membership audit of this policy, and the mechanism whose result is only shown."""
    return *controls(sampled_rate(plan)), SHOWN


def policy_fields(plan: Plan, spec: AuditSpec, size: int) -> Mapping[str, Any]:
    """Return, by name, the fields of a membership audit's setting that the policy decides, for a population of `size`
    units."""
    wanted, n = spec.membership, units_of(spec, size)
    recall = recall_of(plan, n)
    attacked = attacked_guarantee(plan)
    known = replace_one_guarantee(attacked, plan.protection.figures.beta, plan.bundle.contract.unit.rows)
    points = () if attacked.joint is None else attacked.joint.replacements
    return {
        "n": n, "releases": releases_of(plan, spec), "claimed": claimed_shares(spec, recall, n, size),
        "skew": wanted.skew, "recall": recall, "limit": limit_of(spec), "known_epsilon": known.epsilon,
        "known_delta": min(known.delta, Fraction(1)), "known_points": points, "cap": cap_of(plan), "attacks": NAMES,
        "controls": tuple(each.name for each in controls_of(plan)),
    }  # fmt: skip


def population_fields(plan: Plan, spec: AuditSpec, population: Population) -> Mapping[str, Any]:
    """Return, by name, the fields of a membership audit's setting that depend on the population: the outputs that no
    attack reads."""
    return {"unread": unread_outputs(plan, PublicKnowledge(population, units_of(spec, population.size), False))}


def refuse(plan: Plan, spec: AuditSpec, population: Population, alpha: Fraction) -> None:
    """Raise ConfigurationError for a membership audit's setting in which nothing could be found, or nothing could
    pass."""
    size, wanted, limit = population.size, spec.membership, limit_of(spec)
    n = units_of(spec, size)
    if not LEAST_UNITS <= n <= size // 2:
        found = f"{whole(n)} units, of a population of {whole(size)}: the others are the non-members"
        expected = f"from {LEAST_UNITS} units to half of the population, {whole(size // 2)}"
        raise setting_problem(plan, spec, "units", found, expected, str(size // 2) if n > size // 2 else None)
    recall = recall_of(plan, n)
    if recall * n < LEAST_FOUND:
        found = f"a recall of {exact_text(recall)} in a table of {whole(n)} units: fewer than {LEAST_FOUND} people"
        expected = f"a recall of {exact_text(least_recall(n))} at least"
        raise setting_problem(plan, spec, "membership", found, expected)
    blind = base_rate(wanted.skew)
    if limit < blind:
        found = f"a precision of {exact_text(limit)} at 1:{exact_text(wanted.skew)}, and nothing could pass"
        expected = f"a limit of at least {decimal(blind)}, the precision of claiming everybody; or a greater skew"
        raise setting_problem(plan, spec, "membership", found, expected)
    needed = non_members_needed(limit, recall, wanted.skew, alpha)
    if size - n < needed:
        at = f"1:{exact_text(wanted.skew)} and recall {exact_text(recall)}"
        found = f"{whole(size - n)} non-members are too few to show a precision of {exact_text(limit)} at skew {at}"
        expected = (
            f"at least {whole(needed)} non-members (units outside the table), a smaller skew, or a greater recall"
        )
        raise setting_problem(plan, spec, "membership", found, expected)
