"""Renyi divergences of a release of synthetic rows: the rho of all its measurements, choices and its certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.accounting.renyi_parts import zcdp_cost

if TYPE_CHECKING:
    from crowdgate.accounting.renyi import Divergences
    from crowdgate.accounting.renyi_filter import Filter
    from crowdgate.kinds.synthetic.plan import SyntheticPlan


def divergences(planned: SyntheticPlan, budget: Filter) -> Divergences:
    """Return the divergences of rho-zCDP. A sample before it changes nothing: the mixture of mechanisms on samples is
    no more divergent than the worst of them."""
    return zcdp_cost(planned.mechanism.drawing.budget.rho, budget.orders)
