"""Noisy distances between rows and table: for each pair of columns an error with its limits, and a summary.

A distance is the sum of absolute differences between the cells of two tables of two columns, in rows. Half of the
distance, divided by the number N of released rows, is published. If N equals the number of the table's rows, this is
the total variation distance; otherwise it differs by at most half of the difference of both numbers, divided by N. The
noise is discrete Gaussian, so its limits are exact.

If the table was sampled first, distances are from the sample. Against the table, with each person counted as beta, half
the sum of |sample - beta table| over K cells is added. With n people its expectation is at most sqrt(K beta (1 - beta)
n) / 2 (Cauchy, Schwarz). As each person's sampling changes it by at most 1/2, it exceeds that by more than sqrt(n l /
8) with probability e^-l at most (McDiarmid 1989). n is unknown. But with probability 1 - e^-l each, the sample exceeds
N by at most 1/2 and sqrt(2 l) standard errors of the number of rows (as if the measured tables were fixed beforehand),
and beta n exceeds the sample by at most sqrt(2 l beta n) (Chernoff). Half of the failure probability goes to the
distance's noise, and a sixth to each of these three bounds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import log, sqrt

import numpy as np

from crowdgate.accounting.discrete_laws import DiscreteGaussian
from crowdgate.accounting.noise_sums import width
from crowdgate.arrays import Bools, Floats, Integers
from crowdgate.candidate import Measurement, PairErrors

MISS = 0.05
"""Probability that an interval misses the true value."""


@dataclass(frozen=True, eq=False)
class Certificate:
    """Errors of pairs of columns, from noisy `distances` in rows (noise of `squared_sigma`) between `rows` synthetic
    rows (a number with noise of variance `rows_variance`) and a sample of rate `beta`; `cells` of each pair's table. A
    pair is trustworthy if its upper confidence limit is at most `pair_error`."""

    distances: Integers
    squared_sigma: Fraction
    cells: Sequence[int]
    rows: int
    rows_variance: Fraction
    beta: Fraction
    pair_error: Fraction

    @property
    def errors(self) -> Floats:
        """The error of each pair of columns: half of the noisy distance, over the number of rows. Unbiased, so negative
        if the noise exceeds the distance."""
        return self.distances / (2 * self.rows)

    @property
    def lower(self) -> Floats:
        """The lower limit of the error of each pair of columns: a 95 % confidence interval for each pair
        individually."""
        return np.maximum(self.errors - self._half(self._law.half_width(1 - self._miss)) - self.sampling_error, 0.0)

    @property
    def upper(self) -> Floats:
        """The upper limit of the error of each pair of columns: a 95 % confidence interval for each pair
        individually."""
        return np.maximum(self.errors + self._half(self._law.half_width(1 - self._miss)) + self.sampling_error, 0.0)

    @property
    def trustworthy(self) -> Bools:
        """For each pair of columns, True if the upper confidence limit of its error is at most `pair_error`."""
        return np.asarray(self.upper <= float(self.pair_error))

    @property
    def sampling_error(self) -> Floats:
        """An upper bound on the error that sampling adds to each pair of columns; 0 without sampling."""
        if self.beta == 1:
            return np.zeros(len(self.cells))
        rate, sizes = float(self.beta), np.array(self.cells, dtype=np.float64)
        far = -log(self._miss / 3)
        sampled = self.rows + 0.5 + sqrt(2 * far * self.rows_variance)
        root = (sqrt(2 * far) + sqrt(2 * far + 4 * sampled)) / 2  # root of the bound on beta n
        return np.asarray((np.sqrt(sizes * (1 - rate)) + sqrt(far / (2 * rate))) * root / (2 * self.rows))

    @property
    def summed_up(self) -> PairErrors:
        """The greatest error, the mean error and the share of trustworthy pairs, for gates. Each confidence limit fails
        with probability at most 1/20."""
        return PairErrors(self._greatest(), self._mean(), float(self.trustworthy.mean()))

    def _greatest(self) -> Measurement:
        """Return the greatest error of a pair with its limits. The pair with the truly greatest error can exceed the
        greatest measured error only by its own noise; the measured error can exceed the truth by the noise of any
        pair."""
        one = self._half(self._law.half_width(1 - 2 * self._miss))
        any_one = self._half(self._law.half_width(1 - 2 * self._miss / len(self.distances)))
        lower, upper = self.errors - any_one - self.sampling_error, self.errors + one + self.sampling_error
        return _from_0(self.errors.max(), lower.max(), upper.max())

    def _mean(self) -> Measurement:
        """Return the mean error with its limits. Noises are independent, and `width` fails in half of its misses on
        either side, which leaves the other half to sampling. The sampling part is a mean of the pairs' sampling parts,
        each of which changes by as much when one person's sampling changes."""
        number = len(self.distances)
        noise = float(width([self._law], number)) * self._law.variance**0.5 / sqrt(number)
        half = self._half(noise) + float(self.sampling_error.mean())
        mean = float(self.errors.mean())
        return _from_0(mean, mean - half, mean + half)

    @cached_property
    def _law(self) -> DiscreteGaussian:
        return DiscreteGaussian(self.squared_sigma)

    @property
    def _miss(self) -> float:
        return MISS if self.beta == 1 else MISS / 2

    def _half(self, distance: float) -> float:
        return distance / (2 * self.rows)


def _from_0(value: float, lower: float, upper: float) -> Measurement:
    return Measurement(max(0.0, float(value)), max(0.0, float(lower)), max(0.0, float(upper)))
