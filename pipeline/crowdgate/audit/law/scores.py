"""Normal scores of drawn numbers: each is uniform under its stated distribution, then standard Normal.

A drawn number x becomes the uniform number P(X < x) + V P(X = x), with V uniform from the audit's own randomness. If
the stated distribution is right, the scores of all independent numbers are independent standard Normal numbers exactly,
whatever the distributions are. So the distribution of each sum of scores or of their squares is known exactly.
"""

from dataclasses import dataclass, replace

import numpy as np

from crowdgate.accounting.discrete_laws import DiscreteGaussian, DiscreteLaplace, Law
from crowdgate.arrays import Bools, Floats, Integers
from crowdgate.audit.common.population import Rng
from crowdgate.kind.stated_laws import ChoiceDraw, ClassDraws, NoiseDraws
from crowdgate.system import lazy_libraries

NOISE = "noise"
"""First word of the families of noise."""
WIDE = 200.0
"""From this sigma on sums of discrete Gaussian probabilities are integrals with their first correction: the error is
below 1e-11."""
SCALED = 5.0
"""From this sigma on, scores of discrete Gaussian noise are its multiples of sigma: of noise r times as wide they have
the spread r, up to (1 - r^2) / (24 r sigma^2). The spread of scores of Laplace and of narrower noise says less: of
Laplace noise of half the scale it is .60."""
RARE = 1e-3
"""Classes that are released, or suppressed, with a smaller probability have no score: nearly all of it would be the
audit's own randomness."""
NEVER = 1e-9
FARTHEST = 38.0
"""Greatest absolute score: beyond it probabilities vanish in floating point."""


@dataclass(frozen=True, eq=False)
class Intervals:
    """For each drawn number x: P(X < x), P(X = x) and P(X > x) under its stated distribution, and the standard
    deviation of X as `scale`."""

    below: Floats
    equal: Floats
    above: Floats
    scale: Floats


def scores(of: Intervals, rng: Rng) -> Floats:
    """Return the Normal score of each number: independent standard Normal numbers under the stated distributions."""
    uniform = rng.random(len(of.equal))
    low, high = of.below + uniform * of.equal, of.above + (1 - uniform) * of.equal
    normal = lazy_libraries.special.ndtri(np.minimum(low, high))
    return np.asarray(np.clip(np.where(low < high, normal, -normal), -FARTHEST, FARTHEST), dtype=np.float64)


def with_shape(drawn: NoiseDraws) -> NoiseDraws:
    """Return noise whose family names its shape, unless its scores are multiples of its standard deviation."""
    if isinstance(drawn.law, DiscreteLaplace):
        return replace(drawn, family=f"{drawn.family} (Laplace)")
    return drawn if drawn.law.sigma >= SCALED else replace(drawn, family=f"{drawn.family} (narrow)")


def is_scaled(family: str) -> bool:
    """Return whether the spread of a family's scores is a multiple of the stated standard deviation of its noise."""
    return family.startswith(NOISE) and not family.endswith(("(Laplace)", "(narrow)"))


def noise_intervals(drawn: NoiseDraws) -> Intervals:
    """Return the intervals of noise; both tails are computed from the side on which they are small."""
    x = drawn.errors
    above, below = _upper_tail(drawn.law, x), _upper_tail(drawn.law, -x)
    equal = np.maximum(0.0, 1 - above - below)
    small = np.abs(x) > drawn.law.variance**0.5
    equal[small] = _upper_tail(drawn.law, np.abs(x[small]) - 1) - np.minimum(above, below)[small]
    return Intervals(below, equal, above, np.full(len(x), drawn.law.variance**0.5))


def _upper_tail(law: Law, x: Integers) -> Floats:
    """Return P(X > x) for each x."""
    far = np.where(x < 0, -x - 1, x).astype(np.float64)
    tail = _laplace_tail(law, far) if isinstance(law, DiscreteLaplace) else _gaussian_tail(law, far)
    return np.where(x < 0, 1 - tail, tail)


def _laplace_tail(law: DiscreteLaplace, x: Floats) -> Floats:
    rate = float(1 / law.scale)
    return np.asarray(np.exp(-rate * (x + 1)) / (1 + np.exp(-rate)))


def _gaussian_tail(law: DiscreteGaussian, x: Floats) -> Floats:
    """Return P(X > x) for x >= 0, by summation, or for a wide law by the Euler-Maclaurin formula at midpoints."""
    if law.sigma < WIDE:
        masses = np.exp(-np.square(np.arange(int(40 * law.sigma) + 2.0)) / (2 * float(law.squared_sigma)))
        tails = np.append(np.cumsum(masses[::-1])[::-1], 0.0) / (2 * masses.sum() - 1)
        return np.asarray(tails[np.minimum(x + 1, len(masses)).astype(np.int64)])
    z = (x + 0.5) / law.sigma
    density = np.exp(-np.square(z) / 2) / np.sqrt(2 * np.pi)
    return np.asarray(lazy_libraries.special.ndtr(-z) - z * density / (24 * float(law.squared_sigma)))


def class_intervals(drawn: ClassDraws) -> Intervals:
    """Return the intervals of class sizes: binomial, with all sizes below the least one as one outcome. Classes whose
    suppression is nearly certain are left out."""
    n, beta, least = drawn.full, float(drawn.beta), drawn.least
    suppressed = _below(n, beta, np.full(len(n), least))
    known = suppressed < 1 - RARE
    n, x, suppressed = n[known], drawn.released[known], suppressed[known]
    shown = x >= max(1, least)
    below = np.where(shown, _below(n, beta, x), 0.0)
    above = np.where(shown, _at_least(n, beta, x + 1), 1 - suppressed)
    equal = np.where(shown, _mass(n, beta, x), np.maximum(suppressed, _mass(n, beta, np.zeros_like(x))))
    if least == 0:
        above = _at_least(n, beta, x + 1)
    return Intervals(below, equal, above, np.sqrt(n * beta * (1 - beta)))


def certain(drawn: ClassDraws) -> Bools:
    """Return which classes are never suppressed, but with a probability below `NEVER`."""
    return _below(drawn.full, float(drawn.beta), np.full(len(drawn.full), drawn.least)) < NEVER


def improbable(drawn: ClassDraws) -> tuple[Bools, Floats]:
    """Return which of the classes without a score are released, and the probability of each of them to be."""
    released = _at_least(drawn.full, float(drawn.beta), np.full(len(drawn.full), drawn.least))
    rare = released <= RARE
    return drawn.released[rare] > 0, released[rare]


def impossible(drawn: ClassDraws) -> bool:
    """Return whether a class is released that is too small, or has more rows than the table."""
    shown = drawn.released > 0
    return bool((shown & (drawn.released < drawn.least)).any() or (drawn.released > drawn.full).any())


def _below(n: Integers, beta: float, x: Integers) -> Floats:
    """Return P(Bin(n, beta) < x)."""
    return _cumulative(n - x + 1, n, 1 - beta)


def _at_least(n: Integers, beta: float, x: Integers) -> Floats:
    """Return P(Bin(n, beta) >= x)."""
    return _cumulative(x, n, beta)


def _cumulative(x: Integers, n: Integers, p: float) -> Floats:
    inside = (x > 0) & (x <= n)
    found = np.where(x <= 0, 1.0, 0.0)
    found[inside] = lazy_libraries.special.betainc(x[inside], (n - x + 1)[inside], p)
    return found


def _mass(n: Integers, beta: float, x: Integers) -> Floats:
    if beta >= 1:
        return np.where(x == n, 1.0, 0.0)
    special = lazy_libraries.special
    logs = special.gammaln(n + 1.0) - special.gammaln(x + 1.0) - special.gammaln(n - x + 1.0)
    return np.asarray(np.exp(logs + special.xlogy(x, beta) + special.xlog1py(n - x, -beta)))


def choice_interval(drawn: ChoiceDraw) -> Intervals:
    """Return the interval of a choice, with the options ordered from the best score to the worst."""
    at, chances = drawn.chosen, drawn.probabilities
    parts = (chances[:at].sum(), chances[at], chances[at + 1 :].sum())
    places = np.arange(len(chances))
    spread = np.sqrt(max(0.0, float(chances @ np.square(places - chances @ places))))
    return Intervals(*(np.array([each]) for each in (*parts, spread)))
