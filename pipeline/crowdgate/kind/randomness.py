"""The sealed sources of randomness of one release. A kind draws from these alone, so tests can replace each draw."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING, Protocol

from crowdgate.noise import (
    OPENDP,
    Chooser,
    CountNoise,
    NoiseSource,
    Selector,
    discrete_laplace,
    gumbel_max,
    noisy_max,
)
from crowdgate.sampling import SecretKey, bernoulli_subsampler, seed

if TYPE_CHECKING:
    from crowdgate.histogram import Subsampler


class Randomness(Protocol):
    """Sampling randomness, noise of a count, private selections of epsilon or of rho, noise of vectors, and a public
    seed."""

    @property
    def noise(self) -> CountNoise:
        """Function that returns one count with epsilon-differentially private noise."""

    @property
    def select(self) -> Selector:
        """Function that chooses one of several scores with epsilon-differential privacy; all scores must rise, or all
        fall, when a row is added."""

    @property
    def choose(self) -> Chooser:
        """Function that chooses one of several scores with rho-zCDP; scores may rise and fall when a row is added."""

    @property
    def vectors(self) -> NoiseSource:
        """Functions that return vectors of counts with noise."""

    def subsampler(self, beta: Fraction) -> Subsampler:
        """Return a Bernoulli sampler of this rate with fresh randomness, to be used once."""

    def seed(self) -> bytes:
        """Return 32 fresh bytes that may be published: for draws that only post-process noisy numbers."""


@dataclass(frozen=True, eq=False)
class KeyedRandomness:
    """Randomness from the key of one release, and from OpenDP's samplers."""

    key: SecretKey
    noise: CountNoise = discrete_laplace
    select: Selector = noisy_max
    choose: Chooser = gumbel_max
    vectors: NoiseSource = OPENDP
    _numbers: count[int] = field(default_factory=count)

    def subsampler(self, beta: Fraction) -> Subsampler:
        """Return a sampler with randomness that no earlier call has returned."""
        return bernoulli_subsampler(self.key, beta, next(self._numbers))

    def seed(self) -> bytes:
        """Return a seed that no earlier call has returned."""
        return seed(self.key, next(self._numbers))
