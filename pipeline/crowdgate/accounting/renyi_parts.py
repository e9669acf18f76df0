"""Renyi divergences of the steps of a release, with the mass that is cut from each.

* A step with a dominating pair (P, Q) is a post-processing of that pair. Its atoms of infinite loss are cut; a Gaussian
  of mean square v adds a v / 2; looseness t, factors e^t of P and e^-t of Q, adds (2 a - 1) t / (a - 1).
* An (epsilon, delta)-private step whose law is not known is dominated by losses -epsilon and epsilon beside a mass
  delta that is cut (`part_laws.opaque`): ln((e^(a epsilon) + e^((1 - a) epsilon)) / (1 + e^epsilon)) / (a - 1) is a
  bound.
* rho-zCDP is a rho at each order a (Bun, Steinke 2016).
* A sampled class has outcomes of infinite loss. With a greatest loss L, P' = min(P, e^L Q) lacks exactly the
  hockey-stick divergence at epsilon L, which is that of the class's own delta: so its cut mass is the exact delta at L.
  n is unknown: the largest divergence over all n is taken for each order, and the largest cut mass
  (LIFETIME.md).
* m rows of one person lie in classes by a partition of m; classes are independent, so their costs add up, and the
  largest sum over partitions is taken for each order.

Steps are taken for the unit removed and added, and the larger number at each order counts. L depends on public numbers
only, by `greatest_loss`; it may be chosen for each release, as long as it is before the release reads data.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from crowdgate.accounting.class_laws import SampledClass
from crowdgate.accounting.dominating_pairs import DominatingPair
from crowdgate.accounting.joint import JointLaw, partitions
from crowdgate.accounting.numbers import raised, up
from crowdgate.accounting.part_laws import pure
from crowdgate.accounting.renyi import Divergences, largest
from crowdgate.accounting.renyi_filter import Filter
from crowdgate.arrays import Floats

LOSSES = tuple(sixteenths / 16 for sixteenths in range(1, 257))
"""Greatest losses among which a class's is chosen."""
_NEAR_LEAST = Fraction(9, 8)


def pair_cost(pair: DominatingPair, orders: Sequence[int]) -> Divergences:
    """Return the cost of a step that `pair` dominates, removed or added."""
    return largest([_pair_cost(each, orders) for each in (pair, pair.swapped)])


def zcdp_cost(rho: Fraction, orders: Sequence[int]) -> Divergences:
    """Return the cost of a step that is rho-zCDP."""
    return Divergences.rounded([order * rho for order in orders])


def opaque_cost(epsilon: Fraction, delta: Fraction, orders: Sequence[int]) -> Divergences:
    """Return the cost of an (epsilon, delta)-private step whose law is not known: delta is its cut mass."""
    known = pair_cost(pure(up(epsilon)), orders)
    return known + Divergences.rounded([0] * len(orders), delta)


def law_cost(law: JointLaw, budget: Filter) -> Divergences:
    """Return the cost of a release with this law: of its classes, its choice and its other steps."""
    steps = [*law.others, *([] if law.choice is None else [law.choice])]
    costs = [pair_cost(pair, budget.orders) for pair in steps]
    if law.sampled is not None:
        costs.append(class_cost(law.sampled, budget))
    return sum(costs, Divergences.zero(len(budget.orders)))


def class_cost(sampled: SampledClass, budget: Filter) -> Divergences:
    """Return the cost of sampling and suppression for a person of at most `sampled.rows` rows, in any classes, with
    losses cut at `greatest_loss`."""
    return cut_class_cost(sampled, budget.orders, greatest_loss(sampled, budget))


def greatest_loss(sampled: SampledClass, budget: Filter) -> float:
    """Return the least of `LOSSES` at which the cut mass takes no larger part of its cap than the divergences of
    theirs, or is near the least there is."""

    def lasts(limit: float) -> bool:
        cost = cut_class_cost(sampled, budget.orders, limit)
        if cost.cut <= budget.cut_cap * budget.part(cost):
            return True
        return cost.cut <= _NEAR_LEAST * cut_class_cost(sampled, budget.orders, LOSSES[-1]).cut

    high = 1
    while high < len(LOSSES) and not lasts(LOSSES[high - 1]):
        high *= 2
    return LOSSES[bisect_left(LOSSES, True, high // 2, high - 1, key=lasts)]


def cut_class_cost(sampled: SampledClass, orders: Sequence[int], limit: float) -> Divergences:
    """Return the cost of sampling and suppression with losses cut at `limit`."""
    one = {m: _one_class_cost(replace(sampled, rows=m), tuple(orders), limit) for m in range(1, sampled.rows + 1)}
    nothing = Divergences.zero(len(orders))
    return largest([sum((one[m] for m in rows), nothing) for rows in partitions(sampled.rows)])


@lru_cache(maxsize=1024)
def _one_class_cost(sampled: SampledClass, orders: tuple[int, ...], limit: float) -> Divergences:
    return largest([Divergences.rounded(*sampled.renyi(orders, limit, add=add)) for add in (False, True)])


def _pair_cost(pair: DominatingPair, orders: Sequence[int]) -> Divergences:
    powers = np.array(orders, dtype=float)
    logs = np.array([_log_moment(pair, order) for order in orders])
    amounts = logs / (powers - 1) + powers * pair.variance / 2 + (2 * powers - 1) / (powers - 1) * pair.looseness
    return Divergences.rounded(np.maximum(amounts, 0.0) * (1 + 1e-14), raised(pair.only_p * math.exp(pair.looseness)))


def _log_moment(pair: DominatingPair, order: int) -> float:
    """Return ln of the sum of P^a Q^(1 - a) over the atoms of the pair, rounded up."""
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(pair.masses) + (order - 1) * pair.losses
    top = float(logs.max(initial=-math.inf))
    if top == -math.inf:
        return -math.inf
    return top + math.log(float(np.exp(logs - top).sum())) + pair.slack + 1e-15 * (order + 1) * (abs(top) + 1)
