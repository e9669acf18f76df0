"""The band of a page about a policy: owner, population, cost of one release, and the budget left before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.kind.band import Band, Tone
from crowdgate.kind.run_facts import RunBudget
from crowdgate.number_text import decimal, whole
from crowdgate.planning.titles import in_words

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan
    from crowdgate.planning.budget_left import BudgetLeft


def policy_band(plan: Plan, left: BudgetLeft, about: str, outcome: tuple[str, Tone], step: str) -> Band:
    """Return the band of a page about a policy: `about` is the subject of the page, `outcome` its outcome in a word
    with its tone, `step` the next step."""
    metadata, budget = plan.bundle.policy.metadata, _next_budget(plan, left)
    facts = [
        ("Owner", metadata.owner),
        ("Population", f"{plan.bundle.contract.population}, at most {whole(left.people)} people"),
        ("Policy version", metadata.version),
        ("Policy", str(metadata.name)),
    ]
    once = plan.guarantee
    return Band(
        outcome[0], f"{in_words(metadata.name)}, {plan.protection.kind.product}: {about}", outcome[1],
        metadata.description, facts, f"epsilon {decimal(once.epsilon)}, delta {decimal(once.delta)} for one release.",
        _left_text(left, budget), None if budget is None else budget.shares, step,
    )  # fmt: skip


def _left_text(left: BudgetLeft, around: RunBudget | None) -> str:
    """Return the budget left, and that the bar around the next release begins with it; empty where no ledger was
    read."""
    before = (left.spent.epsilon, left.spent.delta)
    used = None if left.used is None else (left.used, left.used)
    now = RunBudget((left.cap.epsilon, left.cap.delta), before, before, used)
    before_it = ", before this release." if around is not None else "."
    return f"{now.left_text.removesuffix('.')}{before_it}" if left.read else ""


def _next_budget(plan: Plan, left: BudgetLeft) -> RunBudget | None:
    """Return the budget around the next release; None where the ledger would refuse it, or in Renyi divergences, as
    the part that it takes is then unknown."""
    cap, before = (left.cap.epsilon, left.cap.delta), (left.spent.epsilon, left.spent.delta)
    after = (before[0] + plan.guarantee.epsilon, before[1] + plan.guarantee.delta)
    fits = all(of <= most for of, most in zip(after, cap, strict=True))
    return RunBudget(cap, before, after) if left.used is None and left.read and fits else None
