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
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import Bools, Floats, Integers
from crowdgate.mechanisms.tables.bin_tree import TreeEstimates, tree_estimates
from crowdgate.mechanisms.tables.posterior import posterior
from crowdgate.system import lazy_libraries

if TYPE_CHECKING:
    from crowdgate.accounting.discrete_laws import Law

_Z95 = 1.959963984540054
FEW_ROWS = 3
"""A quantile is stated where its group's noisy number of rows is at least this many standard errors. Below, there is
little but the other groups to say what it is, and a group that differs from them would have it wrong."""
_ROUNDS = 20
"""Rounds in which the variance between groups is estimated."""


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


def with_limits(
    bins: Integers, errors: Floats, limits: Sequence[tuple[Integers, Integers]]
) -> tuple[Integers, Integers, Integers, Floats]:
    """Return bins, limits that are widened to contain them (-1 above bin -1), and errors, along a last axis of
    probabilities. `limits` are those of each probability."""
    low, high = (np.stack(each, axis=-1) for each in zip(*limits, strict=True))
    return bins, np.minimum(low, bins), np.where(bins < 0, -1, np.maximum(high, bins)), errors


@dataclass(frozen=True, eq=False)
class KnownBins:
    """Knowledge of the true counts of bins, along the last axis: unbiased `estimates` with their variances.

    Bins are known independently, but for the sums of groups of bins: noisy counts with variances (`groups`, finest
    first), with the group of each bin or smaller group at the next (`parents`); and but for the sum of all bins, of
    variance `total` at most.
    """

    estimates: Floats
    variances: Floats
    total: float
    groups: Sequence[Floats] = ()
    parents: Sequence[Integers] = ()

    @cached_property
    def _noise(self) -> TreeEstimates:
        counts = [self.variances, *self.groups]
        return tree_estimates(counts, counts, self.parents)

    @cached_property
    def all_rows(self) -> tuple[Floats, Floats]:
        """The unbiased number of rows of each group, with its variance."""
        return self.estimates.sum(axis=-1, keepdims=True), np.minimum(self._noise.total_variance, self.total)

    @cached_property
    def rows(self) -> tuple[Floats, Floats]:
        """The mean and the variance of the number of rows of each group, given those of the others (`posterior`)."""
        total, variance = self.all_rows
        found = posterior(total.reshape(-1), variance.reshape(-1), np.maximum(total.reshape(-1), 0))
        return found.mean.reshape(total.shape), found.variance.reshape(total.shape)

    def balances(self, probability: Fraction, beta: Fraction) -> tuple[Floats, Floats]:
        """Return the unbiased balance of each bin, and the variance of its noise and of sampling."""
        noise = self._noise.balance_variance(float(probability), self.total)
        spread = noise + _coins(probability, beta) * self.rows[0]
        return _balances(self.estimates, probability)[0], np.maximum(spread, np.finfo(np.float64).tiny)


def known_quantiles(known: KnownBins, probabilities: Sequence[Fraction], beta: Fraction) -> tuple[Integers, Floats]:
    """Return the bins of quantiles and their errors, along a last axis of probabilities: the medians of what is known
    of the true bins, in the order of the probabilities; -1 with error NaN for groups of few rows (`FEW_ROWS`)."""
    found = [quantile_posterior(known, p, beta) for p in probabilities]
    bins, order = np.stack([each.bins() for each in found], axis=-1), np.argsort([float(p) for p in probabilities])
    bins[..., order] = np.maximum.accumulate(bins[..., order], axis=-1)
    total, variance = (each[..., 0] for each in known.all_rows)
    bins[total < np.maximum(1.0, FEW_ROWS * np.sqrt(variance))] = -1
    return bins, np.stack([each.errors(bins[..., at]) for at, each in enumerate(found)], axis=-1)


@dataclass(frozen=True, eq=False)
class QuantilePosterior:
    """The probabilities that the true bin of one quantile is at most each bin, along the last axis."""

    reached: Floats

    def bins(self) -> Integers:
        """Return the median: the first bin that is at least as likely reached as not."""
        return _first(self.reached >= 0.5)

    def errors(self, bins: Integers) -> Floats:
        """Return the root mean square distance of the published `bins` from the true bins, in bins; NaN for bin -1."""
        chances = np.diff(self.reached, axis=-1, prepend=0.0)
        distance = np.arange(chances.shape[-1]) - bins[..., None]
        return np.where(bins < 0, np.nan, np.sqrt((chances * np.square(distance)).sum(axis=-1)))


def quantile_posterior(known: KnownBins, probability: Fraction, beta: Fraction) -> QuantilePosterior:
    """Return what is known of the true bins of a quantile.

    The true bin is at most j with the probability that the balance of j is at least 0, which is Normal around that of
    the unbiased counts: counts that are cut off at 0 would add rows to all bins that are empty, and move the quantiles
    of small groups there. The shape of all groups is prior knowledge of each (`_with_other_groups`). True balances
    never fall (`_rising`); where the probabilities fall, the greatest so far is taken.
    """
    balance, spread = known.balances(probability, beta)
    if balance.size > balance.shape[-1]:
        balance, spread = _with_other_groups(known, balance, spread, probability, beta)
    reached = lazy_libraries.special.ndtr(_rising(balance) / np.sqrt(spread))
    reached[..., -1] = 1.0
    return QuantilePosterior(np.maximum.accumulate(reached, axis=-1))


def _rising(numbers: Floats) -> Floats:
    """Return numbers that never fall along the last axis: means of the greatest so far and of the least from there on.
    They are nearly as near as those of isotonic regression."""
    least = np.minimum.accumulate(numbers[..., ::-1], axis=-1)[..., ::-1]
    return np.asarray((np.maximum.accumulate(numbers, axis=-1) + least) / 2)


def _with_other_groups(
    known: KnownBins, balance: Floats, spread: Floats, probability: Fraction, beta: Fraction
) -> tuple[Floats, Floats]:
    """Return means and variances of the balances, given those that each group has by its own counts, and the shape of
    all other groups together.

    A group of n rows whose distribution function differs from that shape P by a random amount of variance g has a
    balance of mean n (P - p) and variance n^2 g + n P (1 - P); of n sampled rows, beta of the latter is the table's and
    the rest the sample's. n is the harmonic mean of the number of rows, to second order: the fewer there are, the less
    the other groups say.
    """
    total, unknown = known.rows
    rows = np.maximum(total**3 / (np.square(total) + unknown), 0.5)
    groups = tuple(range(balance.ndim - 1))
    others = known.estimates.sum(axis=groups) - known.estimates
    shape = np.clip(np.cumsum(others, axis=-1) / np.maximum(others.sum(axis=-1, keepdims=True), 1.0), 0, 1)
    expected, chance = rows * (shape - float(probability)), rows * shape * (1 - shape)
    between = _between_groups(np.square(balance - expected), spread + float(beta) * chance, np.square(rows))
    prior = np.square(rows) * between + float(beta) * chance
    share = spread / (spread + np.maximum(prior, np.finfo(np.float64).tiny))
    return balance + share * (expected - balance), np.maximum(spread * (1 - share), np.finfo(np.float64).tiny)


def _between_groups(squares: Floats, noise: Floats, rows: Floats) -> Floats:
    """Return the variance g between groups in each bin: that of maximum likelihood (by scoring) for Normal balances
    with these `squares` of differences from the expected ones, and variances `noise` + `rows` g. `rows` are squared."""
    groups = tuple(range(squares.ndim - 1))
    found = np.full(squares.shape[-1], 1 / 12)
    for _ in range(_ROUNDS):
        weight = rows / np.square(noise + rows * found)
        found = np.maximum((weight * (squares - noise)).sum(axis=groups) / (weight * rows).sum(axis=groups), 0)
    return found


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
