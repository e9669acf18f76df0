"""The law of one class under Bernoulli sampling and suppression below k, for each size n of the class.

Of a class of n rows, m of them one person's, J ~ Bin(n, beta) rows are sampled with the person and Bin(n - m, beta)
without; J is released if it is at least k. The ratio f(j; n) / f(j; n - m) is the product over i < m of (1 - beta) (n -
i) / (n - i - j), which rises with j. That of the suppressed outcome is a mean of those below k. So each divergence
is the one of a threshold, P(J >= t) - a P'(J >= t) at its best t, and

* it rises with m: a threshold's probability without the person falls. A person with fewer rows is covered;
* without suppression it falls with n: a class of n' >= n rows is a post-processing of one of n, to which other people's
  n' - n rows are added independently. Suppression is a post-processing too. So the unsuppressed class of n, together
  with any independent steps, bounds all suppressed classes from n on: this stops each supremum over n.

Rounding: logarithms of masses are Loader's (`binomial`), with an absolute error below `slack`; the distribution
function is summed from the largest class on, F(k - 1; n) = F(k - 1; n + 1) + beta f(k - 1; n), of positive terms.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from crowdgate.accounting.binomial import log_masses
from crowdgate.accounting.dominating_pairs import NOTHING, DominatingPair, both_sides
from crowdgate.arrays import Floats, Integers

_FEW = 500
_BEYOND = 1e-39
"""Above e^-90, which bounds the mass of Bin(n, beta) above n beta + 14 sqrt(n beta) + 60 (Bernstein)."""
"""Sizes of a class above k for which all outcomes are evaluated; for more, those within 14 standard deviations."""
_FIRST_SIZES = 48
_MOST_SIZES = 2048
_TOLERANCE = 1e-11
_NEGLIGIBLE = 1e-38
_LITTLE, _LITTLE_MASS = 1e-7, 1e-25
"""A divergence, for each unit of its order, and a cut mass: so small that they end a search."""
_USELESS = 0.5
"""A cut mass that no budget allows: then all mass is cut, and no divergence is left."""
_LARGEST = 400_000
"""Largest class evaluated; larger ones are bounded by the unsuppressed class of this size."""
_FINE, _STEP, _FAR = 1.0, 0.01, 24
"""Epsilons at which a supremum over n is evaluated: up to 1 in equal steps, and some beyond."""


Outcomes = tuple[Integers, Floats, Floats, Floats]
"""Places, losses and masses of the outcomes of several classes, and each class's mass of infinite losses."""


@dataclass(frozen=True)
class SampledClass:
    """Sampling at rate `beta` and suppression below `k`, of a class with `rows` rows of one person."""

    k: int
    beta: float
    rows: int = 1

    def slack(self, n: int) -> float:
        """Relative slack above the rounding errors of masses of classes up to `n`."""
        return 1e-12 + 8e-15 * (n + 50)

    def deltas(self, first: int, many: int, others: DominatingPair, epsilon: float, *, add: bool) -> Floats:
        """Return the divergence at `epsilon` of the class of each of `many` sizes from `first` on, together with
        `others`; for a person that is added if `add`, in which case `others` must be swapped likewise."""
        place, losses, masses, infinite = self._outcomes(first, many, add)
        terms = masses * others.delta(epsilon - losses)
        total = np.bincount(place, terms, many) + infinite
        return np.minimum(total * (1 + self.slack(first + many)), 1.0)

    def supremum(
        self, others: DominatingPair, epsilon: float, *, add: bool, enough: float = math.inf, least: float = 0.0
    ) -> float:
        """Return an upper bound on `deltas` over all sizes, exact but for rounding; any value above `enough` if the
        supremum is, and `least` or little more if the supremum is not above `least`."""
        best = max(least, float(others.delta(np.array([epsilon]))[0]))
        first, many = max(self.k, self.rows), _FIRST_SIZES
        while True:
            best = max(best, float(self.deltas(first, many, others, epsilon, add=add).max()))
            first += many
            if best > enough:
                return best
            rest = self._unsuppressed(first, others, epsilon, add)
            if rest <= best * (1 + _TOLERANCE) + _NEGLIGIBLE or first > _LARGEST:
                return max(best, rest)
            many = min(2 * many, _MOST_SIZES)

    def _unsuppressed(self, n: int, others: DominatingPair, epsilon: float, add: bool) -> float:
        free = SampledClass(0, self.beta, self.rows)
        return float(free.deltas(n, 1, others, epsilon, add=add)[0])

    def renyi(self, orders: Sequence[int], limit: float, *, add: bool) -> tuple[Floats, float]:
        """Return bounds for the class at all sizes: on its Renyi divergence at each order if its mass at losses above
        `limit` is cut to that of this loss, and on the mass that is cut."""
        best, cut, little = np.zeros(len(orders)), 0.0, _LITTLE * np.array(orders)
        first, many = max(self.k, self.rows), _FIRST_SIZES
        free = SampledClass(0, self.beta, self.rows)
        while True:
            best = np.maximum(best, self._divergences(first, many, orders, limit, add))
            cut = max(cut, self._cut(first, many, limit, add))
            if cut > _USELESS:
                return np.zeros(len(orders)), 1.0
            first += many
            rest, beyond = free._divergences(first, 1, orders, limit, add), free._cut(first, 1, limit, add)
            if (np.all(rest <= best + little) and beyond <= cut + _LITTLE_MASS) or first > _LARGEST:
                return np.maximum(best, rest), max(cut, beyond)
            many = min(2 * many, _MOST_SIZES)

    def _divergences(self, first: int, many: int, orders: Sequence[int], limit: float, add: bool) -> Floats:
        """Return the largest bound at each order over `many` sizes from `first` on."""
        place, losses, masses, _ = self._outcomes(first, many, add)
        with np.errstate(divide="ignore"):
            logs = np.log(masses)
        cut, slack = np.minimum(losses, limit), self.slack(first + many)
        terms = ((a, _largest_log(place, logs + a * cut - losses, many)) for a in orders)
        return np.array([max(0.0, log + slack + 4e-15 * (a + 1) * (limit + 2)) / (a - 1) for a, log in terms])

    def _cut(self, first: int, many: int, limit: float, add: bool) -> float:
        """Return the largest mass above the loss `limit`, over `many` sizes from `first` on."""
        return float(self.deltas(first, many, NOTHING, limit, add=add).max())

    def worst_pair(self, *, add: bool) -> DominatingPair:
        """Return a pair that dominates the class at all sizes at once: the supremum over n at each epsilon, for a
        person that is removed, or added."""
        return both_sides(self.knots(), *(_suprema(self, each) for each in (add, not add)))

    def knots(self) -> Floats:
        """Return the epsilons, from 0 on, at which curves of this class are evaluated to be held as a pair."""
        last = max(1.2, self.rows * math.log(4 * (self.k + self.rows) / max(self.beta, 1e-9)))
        return np.concatenate([np.arange(0, _FINE, _STEP), np.geomspace(_FINE, last, _FAR)])

    def _all_suprema(self, add: bool) -> Floats:
        """Return the supremum over n at each epsilon of `knots`."""
        knots = self.knots()
        best: Floats = np.zeros(len(knots))
        n = max(self.k, self.rows)
        free = SampledClass(0, self.beta, self.rows)
        while True:
            best = np.maximum(best, self._curves(n, _FIRST_SIZES, knots, add).max(axis=0))
            n += _FIRST_SIZES
            rest = free._curves(n, 1, knots, add)[0]
            if np.all(rest <= best * (1 + _TOLERANCE) + _NEGLIGIBLE) or n > _LARGEST // 100:
                return np.asarray(np.maximum(best, rest))

    def _curves(self, first: int, many: int, knots: Floats, add: bool) -> Floats:
        """Return the divergences of classes of `many` sizes from `first` on (rows) at each epsilon of `knots`."""
        place, losses, masses, infinite = self._outcomes(first, many, add)
        order = np.argsort(place, kind="stable")
        starts = np.searchsorted(place[order], np.arange(many))
        # rounding: each factor is raised by more than the error of the product
        terms = np.multiply.outer(np.exp(-losses[order]), np.exp(knots) * (1 - 1e-14))
        np.subtract(1 + 1e-14, terms, out=terms)
        np.maximum(terms, 0, out=terms)
        terms *= masses[order, None]
        total = np.add.reduceat(terms, starts, axis=0) + infinite[:, None]
        return np.asarray(np.minimum(total * (1 + self.slack(first + many)), 1.0))

    def _outcomes(self, first: int, many: int, add: bool) -> Outcomes:
        return _outcomes(self, first, many, add)

    def _all_outcomes(self, sizes: Integers, add: bool) -> Outcomes:
        """Return the outcomes of the classes of consecutive `sizes`: places in `sizes`, losses and masses; and the mass
        of infinite losses of each size."""
        observed = sizes - self.rows if add else sizes  # the rows of the first law
        far = np.floor(sizes * self.beta + 14 * np.sqrt(sizes * self.beta) + 60).astype(np.int64)
        last = np.where(sizes - self.k > _FEW, np.minimum(observed, far), observed)
        counts = np.maximum(last - self.k + 1, 0)
        place = np.repeat(np.arange(len(sizes)), counts)
        j = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts) + self.k
        n, rows = sizes[place], observed[place]
        masses = np.exp(log_masses(j, rows - j, self.beta))
        losses = self._losses(n, j)
        never = n - j < self.rows
        infinite = np.bincount(place[never], masses[never], len(sizes)) + (last < observed) * _BEYOND
        own, loss, mass = self._suppressed(sizes, add)
        place, losses, masses = place[~never], losses[~never], masses[~never]
        return (
            np.concatenate([own, place]),
            np.concatenate([loss, -losses if add else losses]),
            np.concatenate([mass, masses]),
            infinite,
        )

    def _losses(self, n: Integers, j: Integers) -> Floats:
        """Return ln f(j; n) - ln f(j; n - m)."""
        total = np.full(len(n), self.rows * math.log1p(-self.beta))
        for i in range(self.rows):
            total += np.log((n - i) / np.maximum(n - i - j, 1))
        return total

    def _suppressed(self, sizes: Integers, add: bool) -> tuple[Integers, Floats, Floats]:
        """Return place, loss and mass of the suppressed outcome of each class of consecutive `sizes`."""
        if self.k == 0:
            return np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
        low, high = int(sizes[0]) - self.rows, int(sizes[-1])
        fitting = np.arange(max(low, self.k - 1), high)
        steps = np.zeros(high - low)  # beta f(k - 1; n), from n = low on: F(k - 1; n) minus F(k - 1; n + 1)
        steps[fitting - low] = self.beta * np.exp(
            log_masses(np.full(len(fitting), self.k - 1), fitting - self.k + 1, self.beta)
        )
        j = np.arange(min(self.k, high + 1))
        top = float(np.exp(log_masses(j, high - j, self.beta)).sum())
        below = top + np.append(np.cumsum(steps[::-1])[::-1], 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.log1p(-np.minimum(steps / below[:-1], 1.0))
        loss = np.sum([each[i : i + len(sizes)] for i in range(self.rows)], axis=0)
        masses = (below[: len(sizes)] if add else below[self.rows :])[: len(sizes)]
        there = masses > 1e-290
        return np.flatnonzero(there), (-loss if add else loss)[there], masses[there]


@lru_cache(maxsize=64)
def _outcomes(sampled: SampledClass, first: int, many: int, add: bool) -> Outcomes:
    """Return the outcomes of classes of `many` sizes from `first` on: the same for each epsilon."""
    return sampled._all_outcomes(np.arange(first, first + many), add)


@lru_cache(maxsize=64)
def _suprema(sampled: SampledClass, add: bool) -> Floats:
    """Return the suprema over n of a class: the same for each direction of a pair, and for all other steps."""
    return sampled._all_suprema(add)


def _largest_log(place: Integers, logs: Floats, many: int) -> float:
    """Return ln of the largest sum, over places, of the terms with these logarithms."""
    top = float(logs.max())
    sums = np.bincount(place, np.exp(logs - top), many)
    return top + math.log(float(sums.max()))
