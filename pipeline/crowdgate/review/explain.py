"""A policy in plain words for its owner: Markdown from templates, with the numbers of `check` and `plan`.

No data is read.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate import report
from crowdgate.forecast.outlook import MOST_BOUNDS, people_times_delta, pso_bound
from crowdgate.gate import gate_text, limit_text
from crowdgate.guarantee import group
from crowdgate.measures.options import DEFAULTS
from crowdgate.number_text import decimal, stated_number, whole
from crowdgate.planning.budget_left import BudgetLeft, informed_text, next_release_sentences, releases_in_budget
from crowdgate.releases.enforcement import WORDS, is_dry_run
from crowdgate.review.check import check

if TYPE_CHECKING:
    from crowdgate.gate import Verdict
    from crowdgate.guarantee import Guarantee
    from crowdgate.kind.plan import Plan
    from crowdgate.measures import Measure
    from crowdgate.policy.policy import GateRule
    from crowdgate.review.check import GateNote, PolicyCheck

HOUSEHOLD = 4
"""The number of privacy units in the example of a dependent group of people."""
SMALL, EMPTY = Fraction(1, 100), Fraction(1)
"""The products of people and delta up to which the risk is small, and from which the guarantee is empty."""
UNHELD = "Decisions on what is collected are not held to the ledger, which can't be read here."


def explain_policy(policy: Path) -> str:
    """Return an explanation of a policy in plain words, as Markdown. Raises ConfigurationError for faulty files."""
    found = check(policy, header=False)
    page = found.plan.protection.kind.explanation(found.plan.protection.mechanism)
    return report.markdown(page.template, {**_values(found), **page.values})


def _values(found: PolicyCheck) -> dict[str, object]:
    plan = found.plan
    return {
        **_head(plan),
        **_guarantee_values(plan, found.left),
        **_lifetime_budget(plan),
        "allowed": found.allowed,
        "refused": found.refused,
        "remarks": [*informed_text(found.informed), *([] if found.unheld is None else [UNHELD])],
        "left": found.left.words() if found.left.read else [],
        "known": found.left.read,
        "warnings": [each.words for each in found.warnings],
        "dry_run": WORDS if is_dry_run(plan.bundle) else None,
        "gates": _gates(found),
    }


def _head(plan: Plan) -> dict[str, object]:
    policy, contract, kind = plan.bundle.policy, plan.bundle.contract, plan.protection.kind
    return {
        "title": policy.metadata.name,
        "version": policy.metadata.version,
        "description": policy.metadata.description,
        "owner": policy.metadata.owner,
        "serves": kind.serves,
        "contract": contract.id,
        "population": contract.population,
        "people": whole(plan.bundle.budget.spec.people),
        "person": contract.unit.person,
        "rows": contract.unit.rows,
        "to": policy.spec.publish.to,
        "formats": policy.spec.publish.formats,
    }


def _guarantee_values(plan: Plan, left: BudgetLeft) -> dict[str, object]:
    once, promised = plan.guarantee, plan.guarantee_text()
    factor = once.factor
    return {
        "plain": next_release_sentences(plan, left),
        "promised": promised[0],
        "replaced": promised[1],
        "unit": once.unit,
        **_spent(once),
        "factor": None if factor is None else decimal(factor, 3),
        "factor_of_100": factor is not None and factor < 100,
        "people_times_delta": decimal(people_times_delta(plan), 4),
        "harm": _harm(people_times_delta(plan)),
        "parts": [{"name": part.name, **_spent(part)} for part in once.parts],
        "group": _group(once),
    }


def _spent(of: Any) -> dict[str, str]:
    return {"epsilon": decimal(of.epsilon), "delta": decimal(of.delta)}


def _harm(expected: Fraction) -> str:
    return "small" if expected <= SMALL else "large" if expected < EMPTY else "empty"


def _group(once: Guarantee) -> dict[str, object]:
    epsilon, delta = group(once.epsilon, min(once.delta, Fraction(1)), HOUSEHOLD)
    return {"size": HOUSEHOLD, "epsilon": decimal(epsilon), "delta": decimal(delta)}


def _lifetime_budget(plan: Plan) -> dict[str, object]:
    releases = releases_in_budget(plan)
    counts = range(1, min(releases, MOST_BOUNDS) + 1)
    return {
        "budget": _spent(plan.bundle.budget.spec),
        "releases": releases,
        "fitting": whole(100 * plan.first_release_facts().most_rows),
        "bounds": [decimal(pso_bound(plan, count), 4) for count in counts],
    }


def _gates(found: PolicyCheck) -> list[dict[str, object]]:
    verdicts = {id(verdict.rule): verdict for verdict in found.verdicts}
    return [
        _gate(found.plan, rule, measure, note, verdicts.get(id(rule)))
        for (rule, measure), note in zip(found.plan.gates, found.gates, strict=True)
    ]


def _gate(plan: Plan, rule: GateRule, measure: Measure, note: GateNote, now: Verdict | None) -> dict[str, object]:
    return {
        "sentence": measure.sentence.format(**_stated(plan, rule)),
        "gate": gate_text(rule),
        "limit": stated_number(rule.at_most or Fraction(0)) if measure.excess else limit_text(rule),
        "reads": str(measure.reads),
        "excess": measure.excess,
        "register": measure.register,
        "audited": measure.asks is not None,
        "blocks": note.blocks,
        "cost": note.cost,
        "reach": str(note.reach),
        "warning": note.warning,
        "notes": note.notes,
        "waived": note.waived,
        "outcome": None if now is None else now.ended,
        "now": None if now is None else now.reason,
    }


def _stated(plan: Plan, rule: GateRule) -> dict[str, str]:
    """Return the values that the sentence on a gate's measure may use, by name: the measure's options in words, `of`
    and `over`."""
    options = {"people": Fraction(plan.bundle.budget.spec.people), **DEFAULTS, **rule.options}
    over = rule.over or tuple(plan.protection.figures.levels)
    return {
        **{name: whole(int(value)) if name == "people" else stated_number(value) for name, value in options.items()},
        "of": report.paragraph_text(rule.of or ""),
        "over": report.paragraph_text(", ".join(over)),
    }
