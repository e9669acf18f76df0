"""What noisy distances between rows and table say: of every pair a share with its limits, and of all together.

A distance is the sum of absolute differences between the cells of two tables of two columns, in rows. Half of it, in
parts of the released rows N, is published; where as many rows are released as the table has, it is the total variation
distance, and otherwise within half of the difference of both, in parts of N, of it. The noise is discrete Gaussian, so
its limits are exact.

Where the table was sampled first, distances are from the sample. Against the table, with every person counted as beta,
half the sum of |sample - beta table| over K cells comes on top. With n people it is expected to be at most
sqrt(K beta (1 - beta) n) / 2 (Cauchy, Schwarz), and as every coin changes at most 1/2 it exceeds that by more than
sqrt(n l / 8) with probability e^-l at most (McDiarmid 1989). n is not known: but with probability e^-l each, the sample
has at most 1/2 and sqrt(2 l) standard errors of the number of rows more than N (as if what is measured were fixed
beforehand), and beta n is at most sqrt(2 l beta n) more (Chernoff). Half of what may fail is that of the distance's
noise, and a sixth that of each of these three.
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
"""Of limits: how often they do not hold."""


@dataclass(frozen=True, eq=False)
class Certificate:
    """Noisy `distances` in rows with noise of that squared sigma, between `rows` rows (a number with noise of variance
    `rows_variance`) and a sample of rate `beta`; the number of `cells` of every pair. A pair is trustworthy whose upper
    limit is at most `pair_error`."""

    distances: Integers
    squared_sigma: Fraction
    cells: Sequence[int]
    rows: int
    rows_variance: Fraction
    beta: Fraction
    pair_error: Fraction

    @property
    def errors(self) -> Floats:
        """Of every pair, unbiased: negative where noise is larger than what there is to measure."""
        return self.distances / (2 * self.rows)

    @property
    def lower(self) -> Floats:
        """Lower ends of 95 % intervals, each pair by itself."""
        return np.maximum(self.errors - self._half(self._law.half_width(1 - self._miss)) - self.sampling_error, 0.0)

    @property
    def upper(self) -> Floats:
        """Upper ends of 95 % intervals, each pair by itself."""
        return np.maximum(self.errors + self._half(self._law.half_width(1 - self._miss)) + self.sampling_error, 0.0)

    @property
    def trustworthy(self) -> Bools:
        """Pairs whose upper end is within the pair error."""
        return np.asarray(self.upper <= float(self.pair_error))

    @property
    def sampling_error(self) -> Floats:
        """What the coins of the sample can add for every pair; 0 without them."""
        if self.beta == 1:
            return np.zeros(len(self.cells))
        rate, sizes = float(self.beta), np.array(self.cells, dtype=np.float64)
        far = -log(self._miss / 3)
        sampled = self.rows + 0.5 + sqrt(2 * far * self.rows_variance)
        root = (sqrt(2 * far) + sqrt(2 * far + 4 * sampled)) / 2  # of beta n
        return np.asarray((np.sqrt(sizes * (1 - rate)) + sqrt(far / (2 * rate))) * root / (2 * self.rows))

    @property
    def summed_up(self) -> PairErrors:
        """What gates read, with ends that fail one in twenty times on either side."""
        return PairErrors(self._greatest(), self._mean(), float(self.trustworthy.mean()))

    def _greatest(self) -> Measurement:
        """The pair that is farthest in truth lies below the greatest number but for its own noise; above the truth may
        be the noise of any."""
        one = self._half(self._law.half_width(1 - 2 * self._miss))
        any_one = self._half(self._law.half_width(1 - 2 * self._miss / len(self.distances)))
        lower, upper = self.errors - any_one - self.sampling_error, self.errors + one + self.sampling_error
        return _from_0(self.errors.max(), lower.max(), upper.max())

    def _mean(self) -> Measurement:
        """Noises are independent, and `width` fails in half of its misses on either side, which leaves the other half
        to the coins: their part is a mean of such parts, of which every coin changes as much."""
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
