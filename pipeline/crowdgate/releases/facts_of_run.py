"""Public facts about a run that published nothing, for its page: owner, population and budget."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING

from crowdgate.errors import CrowdgateError
from crowdgate.history.ledger_facts import budget_around
from crowdgate.kind.run_facts import RunBudget, RunDescription
from crowdgate.planning.paid_series import paid_series
from crowdgate.releases.staging import about_fields, series_fields

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan
    from crowdgate.ledger.ledger import Ledger
    from crowdgate.manifest import SeriesFields


def facts_of_run(plan: Plan, ledger: Ledger, release_id: str, *, charged: bool) -> RunDescription:
    """Return the facts about a run that was `charged` or not. Its budget is unknown if the ledger can't be read just
    now, as that must not fail the release."""
    contract, people = plan.bundle.contract, plan.bundle.budget.spec.people
    budget = series = None
    with suppress(CrowdgateError):
        entry = ledger.entry(release_id) if charged else None
        budget = _budget_now(ledger, contract.population) if entry is None else budget_around(ledger, entry)
        series = series_of_run(plan, ledger, release_id)
    kind = plan.protection.kind.name
    return RunDescription(contract.population, about_fields(plan), kind, people, budget, series)


def series_of_run(plan: Plan, ledger: Ledger, release_id: str) -> SeriesFields | None:
    """Return the series of a run with the release that pays for it, by default the run itself; None without a series.
    It is unknown (None) if the ledger can't be read just now, as that must not fail the release."""
    with suppress(CrowdgateError):
        paid = paid_series(plan, ledger)
        return series_fields(plan, release_id if paid is None or paid.payer is None else paid.payer)
    return None


def _budget_now(ledger: Ledger, population: str) -> RunBudget | None:
    """Return the budget of a population around a run that is not charged; None if it is not registered."""
    budget, spent = ledger.budget(population), ledger.spent(population)
    if budget is None:
        return None
    amounts, total = (spent.epsilon, spent.delta), ledger.divergences(population)
    used = None if budget.lifetime is None or total is None else Fraction(budget.lifetime.used(total))
    return RunBudget((budget.cap.epsilon, budget.cap.delta), amounts, amounts, None if used is None else (used, used))
