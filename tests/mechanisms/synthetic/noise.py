"""Noise under zCDP from a seed, with the scales of OpenDP."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from crowdgate.accounting.discrete_laws import DiscreteGaussian
from crowdgate.accounting.zcdp import squared_sigma
from crowdgate.arrays import Floats
from crowdgate.noise import ZcdpSource, gaussian_vector, gumbel_max

OPENDP_ZCDP = ZcdpSource(gaussian_vector, gumbel_max)
"""The noise of a release, without a seed."""


@dataclass(frozen=True)
class Seeded:
    """Discrete Gaussian and Gumbel noise."""

    rng: np.random.Generator

    def source(self) -> ZcdpSource:
        return ZcdpSource(self.gaussian, self.choose)

    def gaussian(self, values: Any, sensitivity: int, rho: Fraction) -> Any:
        reach, sums = law(squared_sigma(sensitivity, rho))
        return values + np.searchsorted(sums, self.rng.random(values.shape)) - reach

    def choose(self, scores: Any, sensitivity: int, rho: Fraction) -> int:
        scale = float(squared_sigma(sensitivity, rho)) ** 0.5
        return int(np.argmax(scores + self.rng.gumbel(0, scale, len(scores))))


@cache
def law(variance: Fraction) -> tuple[int, Floats]:
    """Return the cumulative probabilities of discrete Gaussian noise from -reach on."""
    found = DiscreteGaussian(variance)
    reach = int(9 * found.sigma) + 2
    return reach, np.cumsum([found.mass(x) for x in range(-reach, reach + 1)])
