"""Renyi divergences of a release of tables: the noise on each query, and the sample that queries are computed from."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from crowdgate.accounting import part_laws
from crowdgate.accounting.dominating_pairs import composed
from crowdgate.accounting.numbers import up
from crowdgate.accounting.renyi import Divergences
from crowdgate.accounting.renyi_parts import opaque_cost, pair_cost, zcdp_cost
from crowdgate.mechanisms.tables.joint_cost import noise_law

if TYPE_CHECKING:
    from crowdgate.accounting.dominating_pairs import DominatingPair
    from crowdgate.accounting.renyi_filter import Filter
    from crowdgate.kinds.tables.plan import TablesPlan
    from crowdgate.mechanisms.tables.dp_tables import DpTables


def divergences(planned: TablesPlan, budget: Filter) -> Divergences:
    """Return the divergences of the noise: rho-zCDP, or the epsilon of each query.

    On a sample they are those of the pair of the noise after sampling, for a row that is added or removed, or of the
    noise alone, whichever allows more such releases: sampling first makes no release more divergent.
    """
    noisy, nothing = planned.mechanism, Divergences.zero(len(budget.orders))
    found = [_unsampled(noisy, budget)]
    if noisy.beta < 1:
        found.append(_sampled(noisy, budget))
    return max(found, key=lambda one: budget.left(nothing, one))


def _unsampled(noisy: DpTables, budget: Filter) -> Divergences:
    if noisy.budget.noise == "gaussian":
        return zcdp_cost(sum(noisy.spends, Fraction(0)), budget.orders)
    costs = (opaque_cost(each, Fraction(0), budget.orders) for each in noisy.spends)
    return sum(costs, Divergences.zero(len(budget.orders)))


def _sampled(noisy: DpTables, budget: Filter) -> Divergences:
    try:
        return pair_cost(part_laws.sampled(_pair(noisy), up(noisy.beta)), budget.orders)
    except ValueError:  # the noise is too small to be compared with the normal law
        return _unsampled(noisy, budget)


def _pair(noisy: DpTables) -> DominatingPair:
    if noisy.budget.noise == "laplace":
        return composed([part_laws.pure(up(each)) for each in noisy.spends])
    return noise_law(noisy).pair()
