"""Posterior means and variances of the true counts of one table, from unbiased estimates with known noise.

The prior is estimated from the table itself: a mixture of 0 and of uniform distributions on overlapping intervals, from
0 to a_1 and to a_2, from a_1 to a_3, from a_2 to a_4 and so on. Intervals that all begin at 0 (Stephens 2017) would
expect too many small counts where hardly any cell is empty: errors of values near 0 would be too small there. The
weights differ between groups of cells whose expected counts, products of the table's published
margins, are alike. A group of few cells takes its weights mostly from the whole table.

The prior of a cell is that of the other cells. With its own estimate in the prior, a cell of a small table would take
its noise for knowledge: errors of values near 0 were .56 to .83 of those that occur in tables of one attribute.
"""

from dataclasses import dataclass

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.mechanisms.tables.error_methods import BY_OTHER_CELLS, FIRST_METHOD, LATEST_METHOD, ErrorMethod
from crowdgate.system import lazy_libraries

_LOWEST, _HIGHEST, _RATIO = -4, 3, 4.0
"""Groups of cells: the expected count is about `_RATIO` to the power -4 to 3 times the standard error."""
_GROUPS = _HIGHEST - _LOWEST + 1
_FEW = 5.0
"""The weight of the whole table's mixture in a group, in cells."""
_HALVINGS = 2
"""The least interval is half of a standard error, halved so often: nearly empty cells of sparse tables."""
_ROUNDS = 50
_LEARNT = 1 << 16
"""The number of cells, about, from which the mixtures of a larger table are learnt: a weight of 1 % in all cells is
then known to within 4 %."""
_CELLS_AT_ONCE = 1 << 12
_PLACES = 20301102
"""Seed of the places of cells that are learnt from: public, like the numbers that it chooses from."""
_FARTHEST = 30.0
"""Estimates further below 0, in standard errors, are taken for this far: no release has them."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """Mean and variance of each cell's true count, flat, given what is published."""

    mean: Floats
    variance: Floats

    def squares(self, values: Integers | Floats) -> Floats:
        """Return the expected squared distance of each value from the true count, flat."""
        return np.asarray(np.square(values.reshape(-1) - self.mean) + self.variance)


def posterior(
    estimates: Floats, variance: Floats, values: Integers | Floats, method: ErrorMethod = LATEST_METHOD
) -> Posterior:
    """Return the posterior of each cell. `estimates` are unbiased with errors of this `variance` (flat, above 0);
    `values` are the published counts, in the table's shape."""
    deviation = np.sqrt(variance)
    u = np.maximum(estimates.reshape(-1), -_FARTHEST * deviation)
    intervals, groups = _intervals(u, deviation, method), _groups(values, deviation)
    if method == LATEST_METHOD:
        return _by_some_cells(u, deviation, intervals, groups)
    likelihoods, means, squares = _components(u, deviation, *intervals)
    return _moments(_shares(likelihoods, groups, by_others=method in BY_OTHER_CELLS), means, squares)


def _by_some_cells(u: Floats, deviation: Floats, intervals: tuple[Floats, Floats], groups: Integers) -> Posterior:
    """Return the posterior of each cell, computed for some cells at a time. The mixtures of a very large table are
    learnt from some cells that stand for all."""
    learnt = _chosen_cells(u.size)
    likelihoods = _components(u[learnt], deviation[learnt], *intervals)[0]
    mixtures = _Mixtures.learnt(likelihoods, groups[learnt], u.size / learnt.size)
    parts = []
    for start in range(0, u.size, _CELLS_AT_ONCE):
        part = slice(start, start + _CELLS_AT_ONCE)
        likelihoods, means, squares = _components(u[part], deviation[part], *intervals)
        parts.append(_moments(mixtures.shares(likelihoods, groups[part]), means, squares))
    return Posterior(np.concatenate([each.mean for each in parts]), np.concatenate([each.variance for each in parts]))


def _moments(shares: Floats, means: Floats, squares: Floats) -> Posterior:
    mean = np.einsum("ij,ij->i", shares, means)
    return Posterior(mean, np.maximum(np.einsum("ij,ij->i", shares, squares) - np.square(mean), 0))


def _chosen_cells(number: int) -> Integers:
    """Return the places of all cells, or of about `_LEARNT` of more. They are the same in every program: numpy keeps
    the raw numbers of its generators from version to version."""
    if number <= _LEARNT:
        return np.arange(number, dtype=np.int64)
    chosen = np.random.PCG64(_PLACES).random_raw(number) < np.uint64((_LEARNT << 64) // number)
    return np.flatnonzero(chosen).astype(np.int64)


@dataclass(frozen=True, eq=False)
class _Mixtures:
    """The weights of the components in the whole table and in each group of cells (rows), and the expected numbers of
    cells of each component, likewise."""

    whole: Floats
    cells: Floats
    of_group: Floats
    cells_of_group: Floats

    @classmethod
    def learnt(cls, likelihoods: Floats, groups: Integers, times: float) -> "_Mixtures":
        """Return the mixtures of cells that count so many `times`: by expectation and maximisation, first for the whole
        table, then for all groups at once."""
        number = likelihoods.shape[1]
        whole = np.full(number, 1 / number)
        for _ in range(_ROUNDS):
            whole = _normal(times * _responsibility(likelihoods, whole).sum(axis=0) + 1 / number)
        cells = times * _responsibility(likelihoods, whole).sum(axis=0)
        order = np.argsort(groups, kind="stable")
        own, starts, place = _runs(groups[order])
        sorted_ones, local = likelihoods[order], np.tile(whole, (len(own), 1))

        def sums() -> Floats:
            return np.asarray(times * np.add.reduceat(_responsibility(sorted_ones, local[place]), starts, axis=0))

        for _ in range(_ROUNDS):
            local = _normal(sums() + _FEW * whole)
        of_group, cells_of_group = np.tile(whole, (_GROUPS, 1)), np.zeros((_GROUPS, number))
        of_group[own], cells_of_group[own] = local, sums()
        return cls(whole, cells, of_group, cells_of_group)

    def shares(self, likelihoods: Floats, groups: Integers) -> Floats:
        """Return the posterior probability of each component for each cell, with the weights of its group without what
        the cell itself added to them."""
        own = _responsibility(likelihoods, self.of_group[groups])
        others = np.maximum(self.cells - _responsibility(likelihoods, self.whole), 0)
        whole = _normal(others + 1 / likelihoods.shape[1])
        return _responsibility(likelihoods, np.maximum(self.cells_of_group[groups] - own, 0) + _FEW * whole)


def expected_counts(values: Integers | Floats) -> Floats:
    """Return the products of a table's margins of one attribute each, scaled to its total: the counts that independent
    attributes would have. For at most one attribute all are the mean."""
    if values.ndim < 2:
        return np.full(values.shape, values.mean())
    total = max(float(values.sum()), 1.0)
    out = np.full(values.shape, total)
    for axis in range(values.ndim):
        others = tuple(other for other in range(values.ndim) if other != axis)
        out = out * (values.sum(axis=others, keepdims=True) / total)
    return out


def _intervals(u: Floats, deviation: Floats, method: ErrorMethod) -> tuple[Floats, Floats]:
    """Return the lower and the upper ends of the uniform distributions. Upper ends are half of a standard error and
    more, in steps of sqrt(2), to above all estimates, and some smaller ones in steps of 2."""
    first, from_zero = float(np.median(deviation)) / 2, method == FIRST_METHOD
    greatest = max(float(u.max()), 0.0) + 4 * float(deviation.max())
    number = max(1 if from_zero else 2, int(np.ceil(2 * np.log2(greatest / first))))
    ends = np.asarray(first * np.sqrt(2) ** np.arange(1, 1 + number))
    if method in BY_OTHER_CELLS:
        ends = np.concatenate([first * 2.0 ** np.arange(-_HALVINGS, 1), ends])
    return np.zeros_like(ends) if from_zero else np.concatenate([[0.0, 0.0], ends[:-2]]), ends


def _components(u: Floats, deviation: Floats, starts: Floats, ends: Floats) -> tuple[Floats, Floats, Floats]:
    """Return for each cell (rows) and component of the prior (columns, 0 first) the likelihood, and the first and
    second moment of the posterior: those of a normal distribution that is cut off at both ends."""
    s, at = deviation[:, None], u[:, None]
    low, high = (starts - at) / s, (ends - at) / s
    ndtr = lazy_libraries.special.ndtr
    mass = np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
    mass = np.maximum(mass, np.finfo(np.float64).tiny)
    at_low, at_high = (np.exp(-np.square(z) / 2) / np.sqrt(2 * np.pi) for z in (low, high))
    mean = np.clip(at + s * (at_low - at_high) / mass, starts, ends)
    square = at * at + s * s + s * ((at + starts) * at_low - (at + ends) * at_high) / mass
    square = np.clip(square, starts * starts, ends * ends)
    nothing, at_zero = np.zeros_like(at), np.exp(-np.square(at / s) / 2) / np.sqrt(2 * np.pi)
    pairs = ((at_zero / s, mass / (ends - starts)), (nothing, mean), (nothing, square))
    likelihood, first, second = (np.concatenate(pair, axis=1) for pair in pairs)
    return likelihood / likelihood.max(axis=1, keepdims=True), first, second


def _groups(values: Integers | Floats, deviation: Floats) -> Integers:
    """Return the group of each cell, by its expected count in standard errors."""
    ratio = np.maximum(expected_counts(values).reshape(-1) / deviation, _RATIO ** (_LOWEST - 1))
    steps: Integers = np.floor(np.log(ratio) / np.log(_RATIO)).astype(np.int64)
    return np.clip(steps, _LOWEST, _HIGHEST) - _LOWEST


def _shares(likelihoods: Floats, groups: Integers, *, by_others: bool) -> Floats:
    """Return the posterior probability of each component for each cell, with the weights of its group: by expectation
    and maximisation, first for the whole table, then for all groups at once. `by_others` leaves out what the cell
    itself added to the weights."""
    parts = likelihoods.shape[1]
    weights = np.full(parts, 1 / parts)
    for _ in range(_ROUNDS):
        weights = _normal(_responsibility(likelihoods, weights).sum(axis=0) + 1 / parts)
    order = np.argsort(groups, kind="stable")
    own, starts, place = _runs(groups[order])
    sorted_ones, local = likelihoods[order], np.tile(weights, (len(own), 1))
    for _ in range(_ROUNDS):
        added = np.add.reduceat(_responsibility(sorted_ones, local[place]), starts, axis=0)
        local = _normal(added + _FEW * weights)
    own_shares, found = _responsibility(sorted_ones, local[place]), np.empty_like(likelihoods)
    if by_others:
        of_whole = _responsibility(sorted_ones, weights)
        others = np.add.reduceat(own_shares, starts, axis=0)[place] - own_shares
        of_others = _normal(np.maximum(of_whole.sum(axis=0) - of_whole, 0) + 1 / parts)
        own_shares = _responsibility(sorted_ones, np.maximum(others, 0) + _FEW * of_others)
    found[order] = own_shares
    return found


def _runs(groups: Integers) -> tuple[Integers, Integers, Integers]:
    """Return the distinct groups, the place where each begins, and the number of each cell's group. `groups` rise."""
    own, starts, place = np.unique(groups, return_index=True, return_inverse=True)
    return own, starts.astype(np.int64), place.reshape(-1).astype(np.int64)


def _responsibility(likelihoods: Floats, weights: Floats) -> Floats:
    """Return the probability of each component for each cell, given the components' weights."""
    weighted = likelihoods * weights
    weighted /= weighted.sum(axis=-1, keepdims=True)
    return weighted


def _normal(weights: Floats) -> Floats:
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))
