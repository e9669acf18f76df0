"""Explanation of how synthetic rows are made, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.kind.kind import KindPage
from crowdgate.number_text import decimal, stated_number

if TYPE_CHECKING:
    from crowdgate.kinds.synthetic.plan import SyntheticPlan

TEMPLATE = "kinds/synthetic/explain.md.j2"


def explanation(planned: SyntheticPlan) -> KindPage:
    """Return the page that explains the columns, the division of the budget, the certificate, and the number of
    impossible combinations."""
    found, spec = planned.mechanism, planned.spec
    budget = found.drawing.budget
    values = {
        "columns": [{"name": name, "level": each.name, "size": len(each)} for name, each in found.finest.items()],
        "rho": decimal(budget.rho, 4),
        "one_ways": decimal(sum(budget.one_ways), 4),
        "rounds": decimal(budget.rounds, 4),
        "candidates": len(found.drawing.candidates),
        "certificate": decimal(budget.certificate, 4),
        "pair_error": stated_number(spec.pair_error),
        "impossible": len(spec.impossible),
        "beta": stated_number(found.beta),
    }
    return KindPage(TEMPLATE, values)
