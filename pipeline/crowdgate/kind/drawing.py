"""Simulated releases from public counts, for the probability that a gate passes.

Sampling, suppression and noise have known distributions. So candidates are drawn from them, measured by the gate's own
measure and judged. The draws are public and always the same, as nothing secret depends on them. For p passing draws of
n the probability is (p + 1/2) / (n + 1), by Jeffreys, with limits two standard errors away.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from crowdgate.arrays import Integers
from crowdgate.candidate import Candidate
from crowdgate.gate import Outcome, judge
from crowdgate.histogram import Histogram
from crowdgate.kind.forecast import Axes
from crowdgate.kind.pass_probability import PassProbability
from crowdgate.noise import CountNoise, NoiseSource

if TYPE_CHECKING:
    from crowdgate.kind.prior import Prior
    from crowdgate.measures import Measure
    from crowdgate.policy.policy import GateRule

MOST_SCALE = 1e15
"""Largest scale of noise that fits into 64 bits."""
Draws = np.random.Generator


def public_draws(name: str = "") -> Draws:
    """Return the random generator of all draws with this name. Its seed is public and always the same: draws without a
    name are those of releases, the same for all gates; each charged gate has draws of its own."""
    return np.random.default_rng(crc32(name.encode()))


def exact_table(prior: Prior, axes: Axes) -> Histogram | None:
    """Return the histogram of people at `axes` (level by attribute), summed from one known table that has no noise and
    the same or finer levels. None if there is no such table, or for too many cells."""
    told = prior.counted(axes)
    if told is None:
        return None
    people = np.rint(told).astype(np.int64)
    codes = tuple(each.astype(np.int64) for each in np.nonzero(people))
    return Histogram(tuple(axes), people.shape, codes, people[people > 0])


def pass_probability(rule: GateRule, measure: Measure, candidates: Iterable[Candidate]) -> PassProbability:
    """Return the probability that the gate passes, from its outcomes on simulated candidates, with limits two standard
    errors away. Raises ValueError for a measure that does not read candidates."""
    if measure.of_candidate is None:
        raise ValueError(f"{measure.name} must be one of data")
    found = [judge(rule, measure.of_candidate(each, rule)) is Outcome.PASS for each in candidates]
    chance, least = (sum(found) + 0.5) / (len(found) + 1), 0.5 / (len(found) + 1)
    apart = 2 * sqrt(chance * (1 - chance) / len(found))
    return PassProbability(chance, max(least, chance - apart), min(1 - least, chance + apart), tuple(found))


def count_noise(draws: Draws) -> CountNoise:
    """Return a function that adds reproducible discrete Laplace noise to one count."""
    return lambda count, sensitivity, epsilon: count + int(_laplace(draws, 1, sensitivity, epsilon)[0])


def vector_noise(draws: Draws) -> NoiseSource:
    """Return functions that add reproducible noise to vectors of counts. Gaussian noise is a rounded Normal number, too
    near the discrete Gaussian for gates to differ."""
    return NoiseSource(
        laplace=lambda counts, sensitivity, epsilon: counts + _laplace(draws, counts.shape, sensitivity, epsilon),
        gaussian=lambda counts, sensitivity, rho: counts + _normal(draws, counts.shape, sensitivity, rho),
    )


def _laplace(draws: Draws, shape: int | tuple[int, ...], sensitivity: int, epsilon: Fraction) -> Integers:
    """Return discrete Laplace noise of scale sensitivity / epsilon: differences of two geometric numbers."""
    scale = min(MOST_SCALE, sensitivity / float(epsilon))
    one, other = (draws.geometric(-np.expm1(-1 / scale), shape) for _ in range(2))
    return np.asarray(one - other, dtype=np.int64)


def _normal(draws: Draws, shape: tuple[int, ...], sensitivity: int, rho: Fraction) -> Integers:
    """Return rounded Normal noise of variance sensitivity^2 / (2 rho)."""
    sigma = min(MOST_SCALE, sensitivity / sqrt(2 * float(rho)))
    return np.asarray(np.rint(draws.normal(0, sigma, shape)), dtype=np.int64)
