"""Renyi divergences of the steps of a release, with the mass that is cut from each.

* A step with a dominating pair (P, Q) is a post-processing of that pair. Its atoms of infinite loss are cut; a Gaussian
  of mean square v adds a v / 2; looseness t, factors e^t of P and e^-t of Q, adds (2 a - 1) t / (a - 1).
* An (epsilon, delta)-private step whose law is not known is dominated by losses -epsilon and epsilon beside a mass
  delta that is cut (`part_laws.opaque`): ln((e^(a epsilon) + e^((1 - a) epsilon)) / (1 + e^epsilon)) / (a - 1) is a
  bound.
* rho-zCDP is a rho at each order a (Bun, Steinke 2016).
* A sampled class has outcomes of infinite loss. With a greatest loss L, P' = min(P, e^L Q) lacks exactly the
  hockey-stick divergence at epsilon L, which is that of the class's own delta: so its cut mass is the exact delta at L.
  n is unknown: the largest divergence over all n is taken for each order, and the largest cut mass. Every class of n'
  >= n rows is a post-processing of the unsuppressed class of n (`class_laws`), whose P' bounds both: this stops the
  search.
* m rows of one person lie in classes by a partition of m; classes are independent, so their costs add up, and the
  largest sum over partitions is taken for each order.

Steps are taken for the unit removed and added, and the larger number at each order counts. L depends on public numbers
only, by `greatest_loss`; it may be chosen for each release, as long as it is before the release reads data.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from crowdgate.accounting.class_laws import SampledClass
from crowdgate.accounting.dominating_pairs import NOTHING, DominatingPair
from crowdgate.accounting.joint import JointLaw, partitions
from crowdgate.accounting.numbers import up
from crowdgate.accounting.part_laws import pure
from crowdgate.accounting.renyi import CUT_GRID, Divergences, largest
from crowdgate.arrays import Floats

LOSSES = tuple(quarters / 4 for quarters in range(1, 65))
"""Greatest losses among which a class's is chosen."""
PLANNED_RELEASES = 256
"""Releases for which cut masses must suffice."""


def pair_cost(pair: DominatingPair, orders: Sequence[int]) -> Divergences:
    """Return the cost of a step that `pair` dominates, removed or added."""
    return largest([_pair_cost(each, orders) for each in (pair, pair.swapped)])


def zcdp_cost(rho: Fraction, orders: Sequence[int]) -> Divergences:
    """Return the cost of a step that is rho-zCDP."""
    return Divergences.stated([math.nextafter(float(order * rho), math.inf) if rho else 0.0 for order in orders], 0.0)


def opaque_cost(epsilon: Fraction, delta: Fraction, orders: Sequence[int]) -> Divergences:
    """Return the cost of an (epsilon, delta)-private step whose law is not known: delta is its cut mass."""
    known = pair_cost(pure(up(epsilon)), orders)
    return Divergences(known.amounts, Fraction(math.ceil(delta * CUT_GRID), CUT_GRID))


def law_cost(law: JointLaw, orders: Sequence[int], cut_cap: Fraction) -> Divergences:
    """Return the cost of a release with this law: of its classes, its choice and its other steps."""
    steps = [pair_cost(pair, orders) for pair in (*law.others, *([] if law.choice is None else [law.choice]))]
    classes = [] if law.sampled is None else [class_cost(law.sampled, orders, cut_cap)]
    return sum((*classes, *steps), Divergences.zero(len(orders)))


def class_cost(sampled: SampledClass, orders: Sequence[int], cut_cap: Fraction) -> Divergences:
    """Return the cost of sampling and suppression for a person of any rows up to `sampled.rows`, in any classes, with
    losses cut for a lifetime's cap of cut masses (`greatest_loss`)."""
    limit = greatest_loss(sampled, cut_cap)
    one = {m: _class_cost(sampled, m, tuple(orders), limit) for m in range(1, sampled.rows + 1)}
    nothing = Divergences.zero(len(orders))
    return largest([sum((one[m] for m in rows), nothing) for rows in partitions(sampled.rows)])


def greatest_loss(sampled: SampledClass, cut_cap: Fraction) -> float:
    """Return the least of `LOSSES` at which the class's cut mass leaves cut_cap for PLANNED_RELEASES releases; the
    greatest if none does."""
    target = float(cut_cap / PLANNED_RELEASES)
    return next((limit for limit in LOSSES if _cut(sampled, limit, target) <= target), LOSSES[-1])


def _cut(sampled: SampledClass, limit: float, enough: float = math.inf) -> float:
    """Return the mass above the loss `limit` of the class at its worst n, removed or added."""
    return max(sampled.supremum(NOTHING, limit, add=add, enough=enough) for add in (False, True))


@lru_cache(maxsize=256)
def _class_cost(sampled: SampledClass, rows: int, orders: tuple[int, ...], limit: float) -> Divergences:
    own = SampledClass(sampled.k, sampled.beta, rows)
    removed, added = (own.renyi(orders, limit, add=add) for add in (False, True))
    return Divergences.stated(np.maximum(removed, added).tolist(), _cut(own, limit))


def _pair_cost(pair: DominatingPair, orders: Sequence[int]) -> Divergences:
    powers = np.array(orders, dtype=float)
    logs = np.array([_log_moment(pair, order) for order in orders])
    amounts = logs / (powers - 1) + powers * pair.variance / 2 + (2 * powers - 1) / (powers - 1) * pair.looseness
    return Divergences.stated((np.maximum(amounts, 0.0) * (1 + 1e-14)).tolist(), pair.only_p * math.exp(pair.looseness))


def _log_moment(pair: DominatingPair, order: int) -> float:
    """Return ln of the sum of P^a Q^(1 - a) over the atoms of the pair, rounded up."""
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(pair.masses) + (order - 1) * pair.losses
    top = float(logs.max(initial=-math.inf))
    if top == -math.inf:
        return -math.inf
    return top + math.log(float(np.exp(logs - top).sum())) + pair.slack + 1e-15 * (order + 1) * (abs(top) + 1)
