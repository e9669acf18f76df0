"""Posterior means and variances of the true counts of one table, from unbiased estimates with known noise.

The prior is estimated from the table itself: a mixture of 0 and of uniform distributions on overlapping intervals, from
0 to a_1 and to a_2, from a_1 to a_3, from a_2 to a_4 and so on. Intervals that all begin at 0 (Stephens 2017) would
expect too many small counts where hardly any cell is empty: errors of values near 0 would be too small there.

The ends a are multiples of the cell's expected count, the product of the table's published margins, so that all cells
have one mixture. Knowledge of margins (`count_errors`) moves the cells of a row together: without expected counts in
the prior it moves the cells with much noise. Earlier methods had one mixture for each of eight groups of cells with
like expected counts: errors of values of 3 to 10 standard errors were .87 to .93 of those that occur in sparse tables.

The prior of a cell is that of the other cells. With its own estimate in the prior, a cell of a small table would take
its noise for knowledge: errors of values near 0 were .56 to .83 of those that occur in tables of one attribute.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowdgate.arrays import Floats, Integers
from crowdgate.mechanisms.tables.error_methods import BY_OTHER_CELLS, FIRST_METHOD, LATEST_METHOD, ErrorMethod
from crowdgate.system import lazy_libraries

_LOWEST, _HIGHEST, _RATIO = -4, 3, 4.0
"""Groups of cells: the expected count is about `_RATIO` to the power -4 to 3 times the standard error."""
_FEW = 5.0
"""The weight of the whole table's mixture in a group, in cells."""
_HALVINGS = 2
"""The least interval is half of a standard error, halved so often: nearly empty cells of sparse tables."""
_LEAST = 2.0 ** -(_HALVINGS + 1)
"""The least interval, in standard errors."""
_LEAST_EXPECTED = 2.0**-6
"""The least expected count, in standard errors. With one eighth, errors were 1.11 times those that occur in a table
where most values of each column have no rows; below this number they hardly change."""
_ROUNDS = 50
_ROUNDS_OF_OTHERS = 8
"""Rounds of expected counts that depend on each other: their number is fixed, as verification repeats them."""
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
    estimates: Floats, variance: Floats, values: Integers | Floats, method: ErrorMethod = LATEST_METHOD,
    own: Sequence[float] = (),
) -> Posterior:  # fmt: skip
    """Return the posterior of each cell. `estimates` are unbiased with errors of this `variance` (flat, above 0);
    `values` are the published counts, in the table's shape; `own` as in `others_expected`."""
    deviation = np.sqrt(variance)
    u = np.maximum(estimates.reshape(-1), -_FARTHEST * deviation)
    if method == LATEST_METHOD:
        expected = np.maximum(others_expected(values, own).reshape(-1), deviation * _LEAST_EXPECTED)
        likelihoods, means, squares = _components(u, deviation, *_parts_of_expected(u, deviation, expected))
        shares = _responsibility(likelihoods, _weights_by_others(likelihoods, _weights(likelihoods, 2 * _ROUNDS)))
    else:
        likelihoods, means, squares = _components(u, deviation, *_intervals(u, deviation, method))
        shares = _shares(likelihoods, _groups(values, deviation), by_others=method in BY_OTHER_CELLS)
    mean = np.einsum("ij,ij->i", shares, means)
    return Posterior(mean, np.maximum(np.einsum("ij,ij->i", shares, squares) - np.square(mean), 0))


def others_expected(values: Integers | Floats, own: Sequence[float] = ()) -> Floats:
    """Return the expected counts, each without what the noise of the cell itself adds to the margin of each axis and to
    the total: the parts `own`, in this order (default: nothing). A cell is replaced by what is expected of it, as if
    its own count were missing."""
    found, total, table = expected_counts(values), max(float(values.sum()), 1.0), values.astype(np.float64)
    if values.ndim < 2 or not any(own):
        return found
    axes = [tuple(other for other in range(values.ndim) if other != axis) for axis in range(values.ndim)]
    margins = [table.sum(axis=others, keepdims=True) for others in axes]
    for _ in range(_ROUNDS_OF_OTHERS):
        change = found - table
        whole = np.maximum(total + own[-1] * change, 1.0)
        found = whole
        for margin, part in zip(margins, own, strict=False):
            found = found * np.maximum(margin + part * change, 0) / whole
        found = np.minimum(found, total)
    return found


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


def _parts_of_expected(u: Floats, deviation: Floats, expected: Floats) -> tuple[Floats, Floats]:
    """Return the lower and the upper ends of the uniform distributions of each cell (rows): the same multiples of its
    expected count for all cells, in steps of sqrt(2), from `_LEAST` for the greatest expected count to above all
    estimates."""
    least = _LEAST * float((deviation / expected).min())
    greatest = float(((np.maximum(u, 0) + 4 * deviation) / expected).max())
    ends = least * np.sqrt(2) ** np.arange(3 + int(np.ceil(2 * np.log2(greatest / least))))
    return expected[:, None] * np.concatenate([[0.0, 0.0], ends[:-2]]), expected[:, None] * ends


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
    weights = _weights(likelihoods, _ROUNDS)
    order = np.argsort(groups, kind="stable")
    own, starts, place = _runs(groups[order])
    sorted_ones, local = likelihoods[order], np.tile(weights, (len(own), 1))
    for _ in range(_ROUNDS):
        added = np.add.reduceat(_responsibility(sorted_ones, local[place]), starts, axis=0)
        local = _normal(added + _FEW * weights)
    own_shares, found = _responsibility(sorted_ones, local[place]), np.empty_like(likelihoods)
    if by_others:
        others = np.add.reduceat(own_shares, starts, axis=0)[place] - own_shares
        of_others = _weights_by_others(sorted_ones, weights)
        own_shares = _responsibility(sorted_ones, np.maximum(others, 0) + _FEW * of_others)
    found[order] = own_shares
    return found


def _weights(likelihoods: Floats, rounds: int) -> Floats:
    """Return the weights of the components in all cells, by expectation and maximisation, with one more cell in which
    all are equally probable."""
    parts = likelihoods.shape[1]
    weights = np.full(parts, 1 / parts)
    for _ in range(rounds):
        weights = _normal(_responsibility(likelihoods, weights).sum(axis=0) + 1 / parts)
    return weights


def _weights_by_others(likelihoods: Floats, weights: Floats) -> Floats:
    """Return for each cell the weights without what the cell itself added to them."""
    own = _responsibility(likelihoods, weights)
    return _normal(np.maximum(own.sum(axis=0) - own, 0) + 1 / likelihoods.shape[1])


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
