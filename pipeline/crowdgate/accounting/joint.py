"""The joint privacy cost of one release: its parts' laws composed, at one delta for each epsilon.

A release samples and suppresses classes (`SampledClass`), adds noise to numbers of the full table, judges gates through
noise, and may choose levels privately; each step has randomness of its own and parameters that are fixed before data
are read. Write t for a person of m rows.

Theorem. For each epsilon and each of the directions "t is removed" and "t is added", delta is at most

    sum over outcomes c of the choice of P(c) sup over n of D_n(epsilon - loss of c),

D_n being the divergence of one class of n rows, t's among them, together with all other steps, if m = 1.

1. Given the choice, t's rows lie in fixed classes. Other classes have equal laws with and without t, and independent
   sampling: what is released of them is a post-processing of independent randomness. What remains is a product of t's
   class and the noisy numbers, of which each is dominated by its pair; products are dominated by the product.
2. The size n of the class is the table's, one n for all outputs given the choice: so the supremum is over n for the
   whole product. Given another outcome c, t's row lies in another class: so it is inside the sum over c. A supremum
   outside that sum is too small: .02745 for .03458 at k 3, beta .3, a choice of .5, epsilon 1.
3. The two directions are two divergences. One pair (P, Q) serves both, swapped for t added: all parts are swapped
   together, and the larger of both sums is delta.

For m > 1 rows, which lie in classes by any partition of m, each class has its own n, and the product has one factor for
each class. The largest class is t's class; the worst pair (`SampledClass.worst_pair`), a supremum over n by itself, of
each other class is among the steps. Given another outcome c the rows lie in other classes: so the largest value over
all partitions is taken for each c, inside the sum, like the supremum over n. For t replaced by another person t is
removed, and the worst pairs of the other's classes, for a person that is added, are among the steps, which count both
changes; the largest value over the partitions of both is taken for each c. One direction is enough, as both tables are
alike. Rows of both in one class differ from fewer rows of one.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial

import numpy as np

from crowdgate.accounting.class_laws import SampledClass
from crowdgate.accounting.dominating_pairs import NOTHING, DominatingPair, coarser, composed, lowered
from crowdgate.arrays import Floats

MOST_ROWS = 3
"""Rows of a person for which partitions over classes are evaluated."""
GREATEST_EPSILON = 50.0
_MOST_CHOICES = 64
_LARGEST_CLASS_LOSS = 30.0
_NEAR = 1e-6
_STEPS = 60
_SMALLER = 1e-9
"""A relative distance above all slacks: what is smaller by it stays the smaller of two deltas when they are rounded up.
"""


@dataclass(frozen=True, eq=False)
class JointLaw:
    """The laws of one release's steps: `sampled`, its class law if it releases rows; `others`, the pairs of steps with
    independent randomness; and `choice`, the pair of a private choice that sizes of classes may depend on."""

    sampled: SampledClass | None
    others: tuple[DominatingPair, ...] = ()
    choice: DominatingPair | None = None

    def delta(self, epsilon: float, enough: float = math.inf) -> float:
        """Return an upper bound on the release's delta at `epsilon`, from 0 on; any value above `enough` if it is."""
        found = self.direction(epsilon, enough, add=False)
        if found > enough:
            return found
        # the larger of both counts: the search for the second may stop where it is surely the smaller
        least = found * (1 - _SMALLER) if self.choice is None else 0.0
        return max(found, _direction([self], epsilon, enough, least, add=True))

    def direction(self, epsilon: float, enough: float = math.inf, *, add: bool) -> float:
        """Return the part of `delta` for a person that is removed, or added."""
        return _direction([self], epsilon, enough, add=add)

    def _given(self, at: Floats, enough: float, least: float, add: bool) -> Iterator[Floats]:
        """Yield for each partition of a person's rows the divergences given the choice, at its outcomes' epsilons; any
        values up to `least` for smaller ones."""
        if self.sampled is None:
            yield self._others[add].delta(at)
            return
        limit = enough if self.choice is None else math.inf
        for own, others in self._placed(add):
            yield np.array([own.supremum(others, x, add=add, enough=limit, least=least) for x in at.tolist()])

    @cached_property
    def _others(self) -> tuple[DominatingPair, DominatingPair]:
        return composed(self.others), composed([pair.swapped for pair in self.others])

    def _placed(self, add: bool) -> Iterator[tuple[SampledClass, DominatingPair]]:
        """Yield for each partition of a person's rows over classes, one class first, its largest class, and the product
        of the worst pairs of the others with all other steps."""
        assert self.sampled is not None
        yield self.sampled, self._others[add]
        yield from self._several_classes[add]()

    @cached_property
    def _several_classes(self) -> tuple[Callable[[], Sequence[tuple[SampledClass, DominatingPair]]], ...]:
        assert self.sampled is not None
        return tuple(cache(partial(_in_classes, self.sampled, self._others[add], add=add)) for add in (False, True))


def _direction(laws: Sequence[JointLaw], epsilon: float, enough: float, least: float = 0.0, *, add: bool) -> float:
    """Return the delta of one direction where any of these laws with the same choice may hold, given each outcome of
    the choice another one. Without a choice, a delta below `least` may be raised to it."""
    own = laws[0].choice
    choice = NOTHING if own is None else coarser(own.swapped if add else own, _MOST_CHOICES)
    at = lowered(epsilon, max(_span((law._others[add], choice)) for law in laws)) - choice.losses
    given, found = np.zeros(len(at)), 0.0
    for each in (each for law in laws for each in law._given(at, enough, least, add)):
        given = np.maximum(given, each)
        found = _mixed(choice, given)
        if found > enough:
            break
    return found


def _span(pairs: Iterable[DominatingPair]) -> float:
    """Return a bound on the losses of these pairs together, and of a class."""
    return _LARGEST_CLASS_LOSS + sum(float(np.max(np.abs(pair.losses), initial=0.0)) for pair in pairs)


def _mixed(choice: DominatingPair, given: Floats) -> float:
    """Return the sum over the outcomes of the choice of their divergences."""
    return min(1.0, float((choice.masses * given).sum() + choice.only_p) * (1 + choice.slack))


def _in_classes(
    sampled: SampledClass, others: DominatingPair, *, add: bool
) -> tuple[tuple[SampledClass, DominatingPair], ...]:
    """Return for each partition of a person's rows over several classes the largest class, and the product of the worst
    pairs of the other classes with `others`."""
    classes = {m: SampledClass(sampled.k, sampled.beta, m) for m in range(1, sampled.rows + 1)}
    worst = {m: each.worst_pair(add=add) for m, each in classes.items() if m <= sampled.rows // 2}
    several = (each for each in partitions(sampled.rows) if len(each) > 1)
    return tuple((classes[largest], composed([*(worst[m] for m in rest), others])) for largest, *rest in several)


def partitions(total: int, most: int | None = None) -> Iterator[tuple[int, ...]]:
    """Yield the ways to write `total` as a sum of positive whole numbers, the largest first."""
    if total == 0:
        yield ()
    for first in range(min(total, most or total), 0, -1):
        for others in partitions(total - first, first):
            yield (first, *others)


def replaced(law: JointLaw) -> Callable[[float], float]:
    """Return the curve of delta for one person replaced by another: `law` states all steps but classes at the changes
    of both, a removal and an addition."""
    sampled = law.sampled
    if sampled is None:
        return law.delta
    added = ([SampledClass(sampled.k, sampled.beta, m) for m in each] for each in partitions(sampled.rows))
    laws = [replace(law, others=(*law.others, *(each.worst_pair(add=True) for each in classes))) for classes in added]
    return lambda epsilon: _direction(laws, epsilon, math.inf, add=False)


def least_epsilon(curve: Callable[[float], float], delta: float, near: float = _NEAR) -> float:
    """Return an epsilon, at most a relative `near` above the least, at which the falling `curve` is at most `delta`.

    Raises ValueError if there is none up to 50.
    """
    low, high, above = 0.0, 0.5, curve(0.0)
    if above <= delta:
        return 0.0
    while (below := curve(high)) > delta:
        low, above, high = high, below, 2 * high
        if high > GREATEST_EPSILON:
            raise ValueError(f"delta must be reachable at an epsilon of at most {GREATEST_EPSILON:g}")
    return least_between((low, above), (high, below), curve, delta, near)


def least_between(
    one: tuple[float, float], other: tuple[float, float], curve: Callable[[float], float], delta: float, near: float
) -> float:
    """Return a number, at most a relative `near` above the least, at which the falling `curve` is at most `delta`, from
    two numbers with their values: at `one` it is above `delta`, at the larger `other` it is not.

    By false position in the logarithm of delta, each step a little past its estimate, towards the end that moved less
    recently. By halving, once the same end moved three times.
    """
    (low, above), (high, below) = one, other
    goal, past, alike = math.log(delta), near / 3, 0
    for _ in range(_STEPS):
        if high - low <= near * high:
            break
        logs = (math.log(above) - goal, math.log(max(below, 1e-300)) - goal)
        middle = (low + high) / 2 if alike > 1 else _between(low, high, *logs, past)
        found = curve(middle)
        alike = alike + 1 if (found <= delta) == (past < 0) else 0
        if found <= delta:
            high, below, past = middle, found, -near / 3
        else:
            low, above, past = middle, found, near / 3
    return high


def _between(low: float, high: float, above: float, below: float, past: float) -> float:
    """Return the zero of the line through (low, above) and (high, below), moved inside by `past` of `high`."""
    width = high - low
    step = past * high / width
    least = min(0.02, abs(step))
    return low + width * min(max(above / (above - below) + step, least), 1 - least)
