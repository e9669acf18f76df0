"""Quantiles to the bins of a noisy histogram, with limits that are valid whatever the other bins hold.

The quantile of probability p is the first bin j whose balance D_j = (1 - p) (rows up to j) - p (rows above j) is not
negative. So the balance of the true bin Q is at least 0 and that of the bin before it below 0: two bins, for each Q.
The limits are the first bin whose noisy balance is not refuted to be at least 0, and the bin after the last whose noisy
balance is not refuted to be below 0. Each limit fails only if the noise of one fixed balance passes its one-sided 97.5
% quantile. They are computed from the noisy counts as drawn, whose noise is independent and not cut off at 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import Bools, Floats, Integers
from crowdgate.mechanisms.tables.bin_tree import tree_estimates
from crowdgate.system import lazy_libraries

if TYPE_CHECKING:
    from crowdgate.accounting.discrete_laws import Law

_Z95 = 1.959963984540054
_DEPENDENT = 1 / 8
"""The part of what clipping takes from the variances of single bins that balances keep, as clipped bins depend on each
other. It was chosen on twelve tables: without it, errors of balances were 1.07 times their standard errors."""


def quantile_bins(histogram: Floats, probability: Fraction) -> Integers:
    """Return the bin along the last axis where the cumulated counts, none below 0, reach `probability` of all; -1 where
    no counts remain."""
    cumulated = np.cumsum(np.maximum(histogram, 0), axis=-1)
    total = cumulated[..., -1:]
    return np.where(total[..., 0] <= 0, -1, _first(cumulated >= float(probability) * total))


def quantile_limits(drawn: Integers, probability: Fraction, law: Law, beta: Fraction) -> tuple[Integers, Integers]:
    """Return the first and the last possible bin of the quantile along the last axis, at 95 %, from counts as drawn.

    A balance sums all the noise, in two weights that add up to 1. So it is within 1 of a sum of continuous noise,
    except for what averages out over many bins. Sampling adds at most (1 - beta) p (1 - p) (rows) to the variance where
    D is 0, and less than is needed to pass 0 elsewhere.
    """
    p, (balance, total) = float(probability), _balances(drawn, probability)
    reach, last, bins = law.continuous_half_width(), drawn.shape[-1] - 1, np.arange(1, drawn.shape[-1] + 1)
    weights = np.sqrt((1 - p) ** 2 * bins + p**2 * (last + 1 - bins))
    rows = np.maximum(total, 0) + reach * np.sqrt(last + 1) + 1
    half = np.sqrt(np.square(reach * weights) + _Z95**2 * _coins(probability, beta) * rows) + 1
    return balance_limits(balance, half)


def balance_limits(balance: Floats, half: Floats) -> tuple[Integers, Integers]:
    """Return the first and the last bin along the last axis that balances with intervals of this `half` width do not
    refute to be that of the quantile."""
    last = balance.shape[-1] - 1
    after = np.minimum(last + 1 - _first((balance - half < 0)[..., ::-1], missing=last + 1), last)
    return _first(balance + half >= 0), after


def sampled_half_width(half: Floats, rows: Floats, probability: Fraction, beta: Fraction) -> Floats:
    """Return the half widths of balances of at most `rows` rows after sampling, from those of the noise."""
    return np.asarray(np.sqrt(np.square(half) + _Z95**2 * _coins(probability, beta) * rows))


@dataclass(frozen=True, eq=False)
class KnownBins:
    """Knowledge of the true counts of bins, along the last axis: published `values` with their expected squared errors
    (`squares`), posterior `means`, and unbiased `estimates` with their variances (`spread`). All of one shape.

    Bins are known independently, but for the sums of groups of bins: noisy counts with variances (`groups`, finest
    first), with the group of each bin or smaller group at the next (`parents`); and but for the sum of all bins, of
    variance `total` at most.
    """

    values: Floats
    squares: Floats
    means: Floats
    estimates: Floats
    spread: Floats
    total: float
    groups: Sequence[Floats] = ()
    parents: Sequence[Integers] = ()

    def balance_variance(self, variances: Floats, probability: Fraction) -> Floats:
        """Return the variance of the balance of each bin, from those of independent counts."""
        counts = [variances, *self.groups]
        return tree_estimates(counts, counts, self.parents).balance_variance(float(probability), self.total)


def quantile_errors(known: KnownBins, bins: Integers, probability: Fraction, beta: Fraction) -> Floats:
    """Return the root mean square distance of the published `bins` from the true bins, in bins; NaN for bin -1.

    The true bin is at most j with the probability that the balance of j is at least 0, which is Normal around that of
    the published counts. Groups without many rows say little, so the shape of the other groups is prior knowledge of
    each (`_with_other_groups`). Where the probabilities fall, the greatest so far is taken.
    """
    balance, total = _balances(known.values, probability)[0], known.means.sum(axis=-1, keepdims=True)
    tiny = np.finfo(np.float64).tiny
    spread, noise = (known.balance_variance(each, probability) for each in (known.squares, known.spread))
    spread = spread + _DEPENDENT * np.maximum(noise - spread, 0)
    spread = np.maximum(spread + _coins(probability, beta) * np.maximum(total, 0), tiny)
    if bins.size > 1:
        unknown = np.minimum(known.squares.sum(axis=-1, keepdims=True), known.total)
        balance, spread = _with_other_groups(
            KnownBalances(balance, spread, total, known.estimates, noise, unknown), probability
        )
    reached = np.maximum.accumulate(lazy_libraries.special.ndtr(balance / np.sqrt(spread)), axis=-1)
    reached[..., -1] = 1.0
    chances = np.diff(reached, axis=-1, prepend=0.0)
    distance = np.arange(chances.shape[-1]) - bins[..., None]
    return np.where(bins < 0, np.nan, np.sqrt((chances * np.square(distance)).sum(axis=-1)))


@dataclass(frozen=True, eq=False)
class KnownBalances:
    """Knowledge of the balances of bins, along the last axis: means and variances of them (`balance`, `spread`), and
    those of the number of all rows; unbiased `estimates` of the counts of bins, and the variances of their balances."""

    balance: Floats
    spread: Floats
    total: Floats
    estimates: Floats
    noise: Floats
    total_variance: Floats


def _with_other_groups(known: KnownBalances, probability: Fraction) -> tuple[Floats, Floats]:
    """Return means and variances of the balances, given those that each group has by its own counts, and the shape of
    all other groups together.

    A group of n rows whose distribution function differs from that shape P by a random amount of variance g has a
    balance of mean n (P - p) and variance n^2 g + n P (1 - P). For each bin, g is estimated from what the balances of
    all groups differ beyond their errors, with its own standard error added, as few groups say little. n is the
    harmonic mean of the number of rows, to second order: the fewer there are, the less the other groups say.
    """
    balance, spread = known.balance, known.spread
    rows = np.maximum(known.total**3 / (np.square(known.total) + known.total_variance), 0.5)
    groups = tuple(range(balance.ndim - 1))
    others = known.estimates.sum(axis=groups) - known.estimates
    shape = np.clip(np.cumsum(others, axis=-1) / np.maximum(others.sum(axis=-1, keepdims=True), 1.0), 0, 1)
    expected, chance = rows * (shape - float(probability)), rows * shape * (1 - shape)
    noise = known.noise + chance
    beyond = np.square(_balances(known.estimates, probability)[0] - expected) - noise
    weight = np.square(rows).sum()
    between = np.maximum(beyond.sum(axis=groups) / weight, 0)
    error = np.sqrt(2 * np.square(noise + np.square(rows) * between).sum(axis=groups)) / weight
    prior = np.maximum(np.square(rows) * (between + error) + chance, np.finfo(np.float64).tiny)
    share = spread / (spread + prior)
    return balance + share * (expected - balance), np.maximum(spread * (1 - share), np.finfo(np.float64).tiny)


def _balances(counts: Integers | Floats, probability: Fraction) -> tuple[Floats, Floats]:
    """Return the balance of each bin along the last axis, and the total."""
    below = np.cumsum(np.asarray(counts, dtype=np.float64), axis=-1)
    return below - float(probability) * below[..., -1:], below[..., -1:]


def _coins(probability: Fraction, beta: Fraction) -> float:
    """Return the variance that sampling adds to a balance near 0, for each row."""
    return float((1 - beta) * probability * (1 - probability))


def _first(marked: Bools, missing: int | None = None) -> Integers:
    """Return the first marked place along the last axis; `missing`, or else the last place, if there is none."""
    none = marked.shape[-1] - 1 if missing is None else missing
    out: Integers = np.where(marked.any(axis=-1), marked.argmax(axis=-1), none).astype(np.int64)
    return out
