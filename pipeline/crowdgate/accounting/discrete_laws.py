"""Distributions of integer noise: discrete Laplace and discrete Gaussian, with the exact probability of each interval.

Laplace of scale s: P(x) = (1 - a) / (1 + a) a^|x|, a = e^(-1/s). Gaussian of parameter sigma^2: P(x) is proportional to
e^(-x^2 / (2 sigma^2)) on the integers, and its variance is at most sigma^2 (Canonne, Kamath, Steinke 2020).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist

import numpy as np

from crowdgate.accounting.numbers import raised
from crowdgate.arrays import Floats
from crowdgate.system import lazy_libraries

_WIDE = 10_000.0
"""From this sigma on the discrete Gaussian's tails are replaced by those of the Normal distribution, which bound them
from above."""

_ROUNDING = 4e-16
"""Bound on the rounding error of a coverage."""


@dataclass(frozen=True)
class DiscreteLaplace:
    """Noise of a pure-epsilon release: scale = L1 sensitivity / epsilon."""

    scale: Fraction

    @property
    def variance(self) -> float:
        """The variance of the noise, 2a / (1 - a)^2 with a = e^(-1/scale)."""
        rate = float(1 / self.scale)
        return 2 * math.exp(-rate) / math.expm1(-rate) ** 2

    def mass(self, x: int) -> float:
        """Return P(noise = x)."""
        rate = float(1 / self.scale)
        return math.tanh(rate / 2) * math.exp(-rate * abs(x))

    def tail(self, q: int) -> float:
        """Return P(noise > q), for each integer q."""
        if q < 0:
            return 1 - self.tail(-q - 1)
        rate = float(1 / self.scale)
        return math.exp(-rate * (q + 1)) / (1 + math.exp(-rate))

    def half_width(self, confidence: float = 0.95) -> int:
        """Return the least q with P(|noise| <= q) of at least `confidence`."""
        rate, alpha = float(1 / self.scale), (1 - confidence) / 2
        q = max(0, math.ceil((-math.log(alpha) - math.log1p(math.exp(-rate))) / rate) - 1)
        return _least(self, q, confidence)

    def coverage(self, q: int) -> float:
        """Return P(|noise| <= q): the coverage probability of value +- q."""
        return 1 - 2 * self.tail(q)

    def continuous_half_width(self, confidence: float = 0.95) -> float:
        """Return the x with P(|L| > x) = 1 - confidence, rounded up, for L = E - F, E and F exponential of this scale.

        Noise is floor(E) - floor(F), so within 1 of L. For sums of multiples of such L the root of the sum of their
        squared half widths is at least the half width: no sum has as heavy tails as one of them.
        """
        return raised(-math.log1p(-confidence) * float(self.scale))


@dataclass(frozen=True)
class DiscreteGaussian:
    """Noise of a zCDP release: squared_sigma = squared L2 sensitivity / (2 rho)."""

    squared_sigma: Fraction

    @property
    def sigma(self) -> float:
        """The parameter sigma, a little above the standard deviation of the noise."""
        return math.sqrt(self.squared_sigma)

    @cached_property
    def _masses(self) -> Floats:
        """Unnormalised probabilities of the numbers 0, 1, 2, ... until they vanish."""
        x = np.arange(math.ceil(40 * self.sigma) + 2, dtype=np.float64)
        return np.exp(-x * x / (2 * float(self.squared_sigma)))

    @cached_property
    def _total(self) -> float:
        return float(self._masses[0] + 2 * self._masses[1:].sum())

    @property
    def variance(self) -> float:
        """The variance of the noise; sigma^2 if sigma is so large that they do not differ."""
        if self.sigma > _WIDE:
            return float(self.squared_sigma)
        x = np.arange(len(self._masses), dtype=np.float64)
        return float(2 * (x * x * self._masses).sum() / self._total)

    def mass(self, x: int) -> float:
        """Return P(noise = x)."""
        total = self._total if self.sigma <= _WIDE else self.sigma * math.sqrt(2 * math.pi)
        return math.exp(-x * x / (2 * float(self.squared_sigma))) / total

    def tail(self, q: int) -> float:
        """Return P(noise > q), for each integer q; an upper bound for q >= 0 if sigma is above 10,000."""
        if q < 0:
            return 1 - self.tail(-q - 1)
        if self.sigma > _WIDE:
            return float(lazy_libraries.special.ndtr(-q / self.sigma))
        return float(self._masses[q + 1 :].sum() / self._total)

    def half_width(self, confidence: float = 0.95) -> int:
        """Return the least q with P(|noise| <= q) of at least `confidence`."""
        quantile = -NormalDist().inv_cdf((1 - confidence) / 2)
        return _least(self, max(0, round(self.sigma * quantile)), confidence)

    def coverage(self, q: int) -> float:
        """Return P(|noise| <= q): the coverage probability of value +- q."""
        return 1 - 2 * self.tail(q)

    def continuous_half_width(self, confidence: float = 0.95) -> float:
        """Return the x with P(|Z| > x) = 1 - confidence, rounded up, for the Normal Z of this sigma.

        P(Z >= m) <= P(noise >= m) <= P(Z >= m - 1) for all whole m >= 1 (the latter: Canonne, Kamath, Steinke 2020,
        Proposition 25), so noise is within 1 of a Z. Squared half widths of independent multiples add up.
        """
        return raised(self.sigma * float(-lazy_libraries.special.ndtri((1 - confidence) / 2)), 1e-14)

    def delta(self, shift: int, epsilon: float) -> float:
        """Return the exact delta at `epsilon` when one count changes by `shift`: sum of max(P(x) - e^epsilon P(x -
        shift), 0).

        Canonne, Kamath, Steinke 2020, Theorem 7: P(x < c) - e^epsilon P(x < c - shift).
        """
        last = math.ceil(shift / 2 - epsilon * float(self.squared_sigma) / shift) - 1
        return max(0.0, self.tail(-last - 1) - math.exp(epsilon) * self.tail(shift - last - 1))


Law = DiscreteLaplace | DiscreteGaussian


def _least(law: Law, q: int, confidence: float) -> int:
    """Return the least q with P(|noise| <= q) of at least `confidence`, searched from near `q`; above 2^50, where
    floats do not separate neighbours, one within a part in 10^15."""
    step, enough = max(1, q >> 50), confidence + _ROUNDING
    while law.coverage(q) < enough:
        q += step
    while q and law.coverage(q - step) >= enough:
        q -= step
    return q
