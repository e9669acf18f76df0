"""The costs of a policy in a few labelled lines: privacy cost, budget left, and the bound on singling out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from crowdgate.accounting.pso_curve import stated_bounds
from crowdgate.manifest import bounds_text, weights_text
from crowdgate.measures.guarantees import kept_costs
from crowdgate.number_text import decimal
from crowdgate.planning.budget_left import facts_at_next
from crowdgate.planning.paid_series import series_text

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan
    from crowdgate.planning.budget_left import BudgetLeft

Row = tuple[str, str]
"""A label and a text."""


def cost_rows(plan: Plan, left: BudgetLeft) -> Iterator[Row]:
    """Yield labelled lines: the privacy cost of one release, the budget left, and the bound on singling out over all
    releases.
    """
    once = plan.guarantee
    series = series_text(plan, left.series)
    of = "" if series is None else " for one release"
    yield "Privacy cost", f"epsilon {decimal(once.epsilon)}, delta {decimal(once.delta)}{of}"
    if series is not None:
        yield "Series", series
    assumed = "" if left.read else f" (assumed: nothing was spent, as {left.unread})"
    yield "Budget left", f"{left.amounts_text()}{assumed}"
    if left.stops is not None and left.passing:
        yield "Budget left", f"{left.stops.gate} withholds all such releases but the first {left.passing}"
    if left.low is not None:
        yield "Warning", left.low.removesuffix(".")
    yield "Singling out", _singling_out_text(plan, left)


def _singling_out_text(plan: Plan, left: BudgetLeft) -> str:
    """Return the upper bounds on the success of predicate singling out at the next release, with all that was spent
    before, beside the success of an attacker without a release: at the three stated weights."""
    static = facts_at_next(plan, left)
    bounds = stated_bounds(static.most_rows, kept_costs(static, static.spent))
    said = f"an attacker describes exactly one person with {bounds_text(bounds)}"
    return f"{said}; predicates of 1 in {weights_text(bounds)}"
