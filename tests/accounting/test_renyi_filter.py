"""The filter of a lifetime: its caps, and what it pays for."""

from fractions import Fraction

import pytest

from crowdgate.accounting import part_laws
from crowdgate.accounting.class_laws import SampledClass
from crowdgate.accounting.renyi import Divergences
from crowdgate.accounting.renyi_filter import Filter
from crowdgate.accounting.renyi_parts import class_cost, opaque_cost, pair_cost, zcdp_cost
from crowdgate.accounting.tables_plan import tables_budget
from crowdgate.accounting.zcdp import greatest_rho

BUDGET = Filter.planned(4, "1e-8")
NOTHING = Divergences.zero(3)
MARGINS = tables_budget("0.3", "1e-10", "gaussian").spend


def test_the_default_orders_and_the_promise_of_a_budget() -> None:
    assert BUDGET.orders == (8, 10, 14)
    assert 1e-8 * (1 - 1e-9) <= BUDGET.delta(4) <= 1e-8


def bundled(k: int, beta: float) -> Divergences:
    """Return the cost of rows with margins of epsilon .3 and a gate of .05."""
    rows = class_cost(SampledClass(k, beta), BUDGET)
    return rows + zcdp_cost(MARGINS, BUDGET.orders) + pair_cost(part_laws.pure(0.05), BUDGET.orders)


@pytest.mark.parametrize(("k", "beta", "paid"), [(40, 0.3, 54), (29, 0.3, 46), (92, 0.5, 42), (60, 0.5, 32)])
def test_a_budget_pays_for_its_releases_of_rows(k: int, beta: float, paid: int) -> None:
    assert BUDGET.left(NOTHING, bundled(k, beta)) == paid


def test_a_budget_pays_for_its_releases_of_tables() -> None:
    one = zcdp_cost(greatest_rho(1, "1e-9"), BUDGET.orders)
    assert BUDGET.left(NOTHING, one) == 14
    assert BUDGET.left(NOTHING, opaque_cost(Fraction(1), Fraction("1e-9"), BUDGET.orders)) == 2
