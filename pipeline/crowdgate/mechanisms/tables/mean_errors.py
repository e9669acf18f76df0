"""Distribution of the true mean of each group, given the noisy sums and counts of all groups.

Given its noisy count, a group has N rows with variance U (`posterior`): a group that is published because its noise
made it large is known to be smaller. If its mean is m, its noisy sum is about m N, with the variance of the noise on
sums, m^2 U, and the variance of sampling.

The other groups are prior knowledge of m: it is Normal around their mean. The variance has three parts: what the other
groups differ beyond their noise (by moments, weighted by inverse variances: Paule, Mandel 1982); what a mean of N rows
differs if numbers are as different as evenly spread ones; and the variance of the other groups' mean. No prior is used
where both bounds are further from the ratio than `_FAR` of its standard errors. There, bounds have no effect: the error
is that of the ratio whatever the prior, which could only make it wrong.

These are approximations: noise is taken as Normal. No guarantee depends on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.mechanisms.tables.error_methods import LATEST_METHOD, ErrorMethod
from crowdgate.mechanisms.tables.posterior import posterior

if TYPE_CHECKING:
    from crowdgate.arrays import Floats

_FAR = 3.0
_LEAST_ROWS = 1e-9
"""Rows of an empty group: so few that they say nothing, and so many that their fourth power does not vanish."""
_ROUNDS = 20
"""Rounds of estimates that depend on each other: their number is fixed, as verification repeats them."""


@dataclass(frozen=True, eq=False)
class NoisyGroups:
    """Noisy sums and counts of groups, of one shape, with the variances of their noise, the least and the greatest
    number of a row, and the rate of sampling."""

    sums: Floats
    counts: Floats
    sum_variance: float
    count_variance: float
    low: float
    high: float
    rate: float


def mean_posterior(groups: NoisyGroups, method: ErrorMethod = LATEST_METHOD) -> tuple[Floats, Floats]:
    """Return the centre and the standard error of the true mean of each group, Normal and cut off at the bounds."""
    spread = np.full(groups.counts.size, groups.count_variance)
    known = posterior(groups.counts.reshape(-1), spread, np.maximum(groups.counts, 0), method)
    rows = np.maximum(known.mean, _LEAST_ROWS)
    own = _Known(groups, groups.sums.reshape(-1), rows, known.variance)
    centre, variance = own.without_prior()
    near = np.minimum(centre - groups.low, groups.high - centre) < _FAR * np.sqrt(variance)
    if near.any() and rows.size > 1:
        centre, variance = np.where(near, own.with_prior(*own.other_groups()), (centre, variance))
    return centre.reshape(groups.sums.shape), np.sqrt(variance).reshape(groups.sums.shape)


@dataclass(frozen=True, eq=False)
class _Known:
    """Noisy sums of groups, and the means and variances of their true numbers of rows, flat."""

    groups: NoisyGroups
    sums: Floats
    rows: Floats
    unknown: Floats

    def without_prior(self) -> tuple[Floats, Floats]:
        centre = self.sums / self.rows
        return centre, self._noise(self._within_bounds(centre)) / np.square(self.rows)

    def with_prior(self, prior: Floats, spread: Floats) -> tuple[Floats, Floats]:
        """Return centres and variances of the means, given those of the prior."""
        centre, variance = prior, spread
        for _ in range(_ROUNDS):
            noise = self._noise(self._within_bounds(centre))
            variance = 1 / (np.square(self.rows) / noise + 1 / spread)
            centre = variance * (self.rows * self.sums / noise + prior / spread)
        return centre, variance

    def other_groups(self) -> tuple[Floats, Floats]:
        """Return for each group the mean of a group, by all other groups, and its variance."""
        low, high = self.groups.low, self.groups.high
        mean = np.full(self.rows.shape, (low + high) / 2)
        between = np.full(self.rows.shape, (high - low) ** 2 / 12)
        for _ in range(_ROUNDS):
            noise = self._noise(mean) + self._within_group(mean) * self.rows
            weight = self.rows / (noise + np.square(self.rows) * between)
            known = _of_others(weight * self.rows)
            mean = self._within_bounds(_of_others(weight * self.sums) / known)
            beyond = np.square(weight) * (np.square(self.sums - mean * self.rows) - noise)
            between = np.maximum(_of_others(beyond) / _of_others(np.square(weight * self.rows)), 0)
        return mean, between + 1 / known + self._within_group(mean) / np.maximum(self.rows, 1)

    def _noise(self, mean: Floats) -> Floats:
        """Return the variance of the sum of a group of this mean."""
        sampled = (1 - self.groups.rate) * self.rows * self._greatest_variance(mean)
        return np.asarray(self.groups.sum_variance + np.square(mean) * self.unknown + sampled)

    def _within_group(self, mean: Floats) -> Floats:
        """Return the variance of evenly spread numbers, which is a third of the greatest."""
        return self._greatest_variance(mean) / 3

    def _greatest_variance(self, mean: Floats) -> Floats:
        """Return the greatest variance of numbers of this mean between the bounds (Bhatia, Davis 2000)."""
        return np.asarray((self.groups.high - mean) * (mean - self.groups.low))

    def _within_bounds(self, mean: Floats) -> Floats:
        return np.clip(mean, self.groups.low, self.groups.high)


def _of_others(numbers: Floats) -> Floats:
    """Return for each group the sum of the numbers of all other groups: of those before it and of those after it, as a
    difference from the whole sum loses small groups beside a large one."""
    padded = np.concatenate([[0.0], numbers, [0.0]])
    return np.asarray(np.cumsum(padded)[:-2] + np.cumsum(padded[::-1])[::-1][2:])
