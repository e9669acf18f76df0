"""Laws of the steps of a release, each as a dominating pair for one privacy unit.

The pair of noise with a log-concave law is that of the largest change: each divergence rises with the change, because
it is P(X < c) - a P(X < c - change) at its best c.

* Discrete Laplace noise of scale s/epsilon, change s: losses epsilon (2 y / s - 1) at y = 1 .. s - 1, and -epsilon and
  epsilon beyond. Any epsilon-DP step is dominated by the pair of losses -epsilon and epsilon.
* An (epsilon, delta)-DP step is dominated by that pair, with delta of either distribution where the other has none
  (Kairouz, Oh, Viswanath 2015).
* The exponential mechanism, if the log-odds of two outcomes change by at most eta, has H_a of at most (1 - e^((x -
  eta)/2))^2 / (1 - e^-eta), x = ln a in [-eta, eta]: the supremum over all pairs of losses t and t - eta (Dong, Durfee,
  Rogers 2020).
* Steps computed from one Bernoulli sample, with product pair (P, Q): ((1 - beta) Q + beta P, Q), by joint convexity
  over the samples of the other rows (Zhu, Dong, Wang 2022).
* Discrete Gaussian noise with sigma^2, change s. Its own atoms are exact. For many such vectors: let y be drawn from x
  ~ N(s, sigma^2 - r^2) with probability proportional to e^(-(y - x)^2 / (2 r^2)) on the integers. The sum of these
  weights is within 1 +- h of r sqrt(2 pi), h = 2 sum over k >= 1 of e^(-2 pi^2 r^2 k^2) (Poisson summation), and so is
  that of the discrete Gaussian's for sigma >= r. So the law of y is the discrete Gaussian around s up to factors (1 +
  h)/(1 - h), for each integer s: noise on integers is a post-processing of N(s, sigma^2 - r^2), up to these factors.
  The pair of a product of such vectors is N(mu, 1) and N(0, 1), mu^2 = sum of s^2 / (sigma^2 - r^2), with looseness t =
  sum of ln((1 + h)/(1 - h)).
"""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from crowdgate.accounting.dominating_pairs import MOST_ATOMS, DominatingPair, composed, intervals

Change = tuple[int, Fraction]
"""The largest change of a noisy number, and sigma^2 of its discrete Gaussian noise."""

_RANGES = 512
_TAIL = 13.5
"""Standard deviations beyond which a discrete Gaussian, a mass below 1e-39, is an infinite loss."""
_NARROW = 32.0
"""Sigma below which many discrete Gaussians are split to a grid; from there on they are compared with the normal
law."""
_RADII = tuple(r / 100 for r in range(70, 125, 5))
_SCORE = 6.0
"""Standard score for which the radius of the randomised rounding is chosen: it decides accuracy only."""


def pure(epsilon: float) -> DominatingPair:
    """Return the pair of any epsilon-DP step."""
    return opaque(epsilon, 0.0)


def opaque(epsilon: float, delta: float) -> DominatingPair:
    """Return the pair of any (epsilon, delta)-DP step whose law is not known."""
    great = (1 - delta) / (1 + math.exp(-epsilon))
    masses = np.array([great * math.exp(-epsilon), great])
    return DominatingPair(np.array([-epsilon, epsilon]), masses, delta, delta)


def laplace(epsilon: float, change: int = 1) -> DominatingPair:
    """Return the pair of discrete Laplace noise of scale change/epsilon on a number that moves by at most `change`."""
    if change > MOST_ATOMS:
        return pure(epsilon)
    rate, y = epsilon / change, np.arange(change + 1)
    masses = math.tanh(rate / 2) * np.exp(-rate * (change - y))
    masses[0], masses[-1] = (math.exp(-part) / (1 + math.exp(-rate)) for part in (epsilon, 0))
    return DominatingPair(epsilon * (2 * y / change - 1), masses)


def bounded_range(eta: float) -> DominatingPair:
    """Return a pair, on a grid, of the exponential mechanism whose log-odds change by at most `eta`."""
    grid = np.linspace(-eta, eta, _RANGES)
    above = np.expm1((grid - eta) / 2) / math.expm1(-eta)  # of P, and times the density of Q at P's:
    return intervals(grid, -np.diff(above), -np.diff(np.exp(-(grid + eta) / 2) * above), 0.0, 0.0)


def gaussians(changes: Sequence[Change], cells: int = 1) -> DominatingPair:
    """Return the pair of vectors with discrete Gaussian noise, each of which one unit moves by at most its change.

    A unit moves one cell of each, and its few atoms are exact; or up to `cells` of each, with the change as a bound on
    the root of the sum of squares, and the normal law bounds all.
    """
    if cells > 1:
        return composed([*_rounded_normal([(change, float(squared)) for change, squared in changes], cells)])
    if math.prod(2 * math.ceil(_TAIL * _sigma(squared)) + change for change, squared in changes) < MOST_ATOMS:
        return composed([discrete_gaussian(*each) for each in changes])
    narrow = [each for each in changes if _sigma(each[1]) < _NARROW]
    wide = [(change, float(squared)) for change, squared in changes if _sigma(squared) >= _NARROW]
    return composed([*(discrete_gaussian(*each) for each in narrow), *_rounded_normal(wide)])


def discrete_gaussian(change: int, squared_sigma: Fraction) -> DominatingPair:
    """Return the pair of a number with discrete Gaussian noise of parameter `squared_sigma` that moves by `change`: its
    atoms, but for tails."""
    squared = float(squared_sigma)
    most = math.ceil(_TAIL * math.sqrt(squared))
    y = np.arange(-most, most + change + 1, dtype=float)
    total = float(np.exp(-(np.arange(-3 * most, 3 * most + 1, dtype=float) ** 2) / (2 * squared)).sum())
    masses = np.exp(-((y - change) ** 2) / (2 * squared)) / total
    tails = 2 * math.exp(-(most**2) / (2 * squared))
    return DominatingPair((2 * y - change) * change / (2 * squared), masses, tails, tails)


def sampled(pair: DominatingPair, beta: float) -> DominatingPair:
    """Return the pair of steps with this pair that are computed from one Bernoulli sample of rate `beta`, for a row
    that is removed."""
    atoms = pair.in_atoms
    losses = np.log1p(beta * np.expm1(atoms.losses))
    masses = atoms.masses * (beta + (1 - beta) * np.exp(-atoms.losses))
    never = math.log1p(-beta) if beta < 1 else -700.0
    losses, masses = np.append(never, losses), np.append((1 - beta) * atoms.only_q, masses)
    only_q = 0.0 if beta < 1 else atoms.only_q
    return DominatingPair(losses, masses, beta * atoms.only_p, only_q, 0.0, atoms.looseness)


def _rounded_normal(wide: Sequence[tuple[int, float]], cells: int = 1) -> Iterable[DominatingPair]:
    """Yield the pair of discrete Gaussians as roundings of normal laws, at the radius that costs least."""
    if not wide:
        return
    mean = math.sqrt(sum(change**2 / squared for change, squared in wide))

    def cost(radius: float) -> float:
        more = sum(change**2 / squared**2 for change, squared in wide) * radius**2 / mean**2
        return _SCORE**2 / 2 * more + 2 * cells * len(wide) * _ripple(radius) * _SCORE / mean

    if min(squared for _, squared in wide) <= 2 * max(_RADII) ** 2:
        raise ValueError("squared_sigma must be above 3 to be compared with the normal law")
    radius = min(_RADII, key=cost)
    variance = math.fsum(change**2 / (squared - radius**2) for change, squared in wide) * (1 + 1e-15 * len(wide))
    ripple = _ripple(radius)
    yield DominatingPair(
        variance=variance, looseness=cells * len(wide) * (math.log1p(ripple) - math.log1p(-ripple)) * 1.001
    )


def _ripple(radius: float) -> float:
    """Return 2 sum over k >= 1 of e^(-2 pi^2 radius^2 k^2), by a geometric bound."""
    first = math.exp(-2 * math.pi**2 * radius**2)
    return 2 * first / (1 - first)


def _sigma(squared: Fraction) -> float:
    return math.sqrt(float(squared))
