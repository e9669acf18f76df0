"""The band of a page about a policy: owner, population, cost of one release, and the budget left before and after
it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crowdgate.kind.band import Band, Tone
from crowdgate.kind.run_facts import RunBudget, uncharged_text
from crowdgate.number_text import decimal, whole
from crowdgate.planning.paid_series import charged_next
from crowdgate.planning.titles import policy_title

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan
    from crowdgate.planning.budget_left import BudgetLeft


UNCHARGED = "; the same afterwards, as nothing is charged."


@dataclass(frozen=True)
class PolicyOutcome:
    """The outcome of a page about a policy in a word, with its tone, and the next step. `charged` tells whether the
    next release would be charged."""

    word: str
    tone: Tone
    step: str
    charged: bool = True


def policy_band(plan: Plan, left: BudgetLeft, about: str, outcome: PolicyOutcome) -> Band:
    """Return the band of a page about a policy; `about` is the subject of the page."""
    metadata, budget = plan.bundle.policy.metadata, _next_budget(plan, left, charged=outcome.charged)
    facts = [
        ("Owner", metadata.owner),
        ("Population", f"{plan.bundle.contract.population}, at most {whole(left.people)} people"),
        ("Policy version", metadata.version),
        ("Policy", str(metadata.name)),
    ]
    title = f"{policy_title(metadata.name, metadata.version)}, {plan.protection.kind.product}: {about}"
    return Band(
        outcome.word, title, outcome.tone, metadata.description, facts, _cost_text(plan, charged=outcome.charged),
        _left_text(left, budget, charged=outcome.charged), None if budget is None else budget.shares, outcome.step,
    )  # fmt: skip


def _cost_text(plan: Plan, *, charged: bool) -> str:
    once = plan.guarantee
    cost = f"epsilon {decimal(once.epsilon)}, delta {decimal(once.delta)}"
    return f"{cost} for one release." if charged else uncharged_text(cost)


def _left_text(left: BudgetLeft, around: RunBudget | None, *, charged: bool) -> str:
    """Return the budget left before the next release and after it; empty where no ledger was read."""
    if not left.read:
        return ""
    before = f"now {_budget_now(left).left_text.removesuffix('.')}"
    if not charged:
        return f"{before}{UNCHARGED}"
    return f"{before}." if around is None else f"{before}; after this release {around.left_amounts}."


def _budget_now(left: BudgetLeft) -> RunBudget:
    spent = (left.spent.epsilon, left.spent.delta)
    used = None if left.used is None else (left.used, left.used)
    return RunBudget((left.cap.epsilon, left.cap.delta), spent, spent, used)


def _next_budget(plan: Plan, left: BudgetLeft, *, charged: bool) -> RunBudget | None:
    """Return the budget around the next release; None where the ledger would refuse it or was not read, or in Renyi
    divergences, as the part that a charge takes is then unknown."""
    now = _budget_now(left)
    if not charged:
        return now if left.read else None
    once = charged_next(plan, left.series)
    after = (now.before[0] + once.epsilon, now.before[1] + once.delta)
    fits = all(of <= most for of, most in zip(after, now.cap, strict=True))
    return replace(now, after=after) if left.used is None and left.read and fits else None
