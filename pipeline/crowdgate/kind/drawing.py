"""Releases that are drawn from public counts, for the chance that a gate passes.

Coins, suppression and noise have known laws, so candidates are drawn as they would be, measured by the gate's own
measure and judged. The draws are public and always the same: nothing secret is made of them. Of p passing draws in n
the chance is (p + 1/2) / (n + 1), by Jeffreys, and its ends are two standard errors away.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.arrays import Integers
from crowdgate.candidate import Candidate
from crowdgate.gate import Outcome, judge
from crowdgate.histogram import Histogram
from crowdgate.kind.forecast import Axes, PassProbability
from crowdgate.noise import CountNoise, NoiseSource

if TYPE_CHECKING:
    from crowdgate.kind.prior import Prior
    from crowdgate.measures import Measure
    from crowdgate.policy.policy import GateRule

MOST_SCALE = 1e15
"""Of noise that fits into 64 bits."""
Draws = np.random.Generator


def public_draws() -> Draws:
    """The source of all draws of one gate."""
    return np.random.default_rng(0)


def exact_table(prior: Prior, axes: Axes) -> Histogram | None:
    """The table that counts tell as a whole; None where they do not."""
    told = prior.counted(axes)
    if told is None:
        return None
    people = np.rint(told).astype(np.int64)
    codes = tuple(each.astype(np.int64) for each in np.nonzero(people))
    return Histogram(tuple(axes), people.shape, codes, people[people > 0])


def pass_probability(rule: GateRule, measure: Measure, candidates: Iterable[Candidate]) -> PassProbability:
    """The chance to pass by candidates that are drawn. Raises ValueError for a measure that reads none."""
    if measure.of_candidate is None:
        raise ValueError(f"{measure.name} must be one of data")
    found = [judge(rule, measure.of_candidate(each, rule)) is Outcome.PASS for each in candidates]
    chance, least = (sum(found) + 0.5) / (len(found) + 1), 0.5 / (len(found) + 1)
    apart = 2 * sqrt(chance * (1 - chance) / len(found))
    return PassProbability(chance, max(least, chance - apart), min(1 - least, chance + apart))


def count_noise(draws: Draws) -> CountNoise:
    """Discrete Laplace noise that anybody can draw again."""
    return lambda count, sensitivity, epsilon: count + int(_laplace(draws, 1, sensitivity, epsilon)[0])


def vector_noise(draws: Draws) -> NoiseSource:
    """The same for vectors; Gaussian noise is rounded Normal noise, which is discrete Gaussian noise but for what no
    gate can tell apart."""
    return NoiseSource(
        laplace=lambda counts, sensitivity, epsilon: counts + _laplace(draws, counts.shape, sensitivity, epsilon),
        gaussian=lambda counts, sensitivity, rho: counts + _normal(draws, counts.shape, sensitivity, rho),
    )


def _laplace(draws: Draws, shape: int | tuple[int, ...], sensitivity: int, epsilon: Fraction) -> Integers:
    """A difference of two geometric numbers."""
    scale = min(MOST_SCALE, sensitivity / float(epsilon))
    one, other = (draws.geometric(-np.expm1(-1 / scale), shape) for _ in range(2))
    return np.asarray(one - other, dtype=np.int64)


def _normal(draws: Draws, shape: tuple[int, ...], sensitivity: int, rho: Fraction) -> Integers:
    """Of variance sensitivity^2 / (2 rho)."""
    sigma = min(MOST_SCALE, sensitivity / sqrt(2 * float(rho)))
    return np.asarray(np.rint(draws.normal(0, sigma, shape)), dtype=np.int64)
