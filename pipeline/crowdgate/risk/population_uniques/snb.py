"""The model of Chen and Keller-McNulty: class sizes are negative binomial, shifted by one."""

from collections.abc import Iterator
from math import exp, log, log1p

import numpy as np

from crowdgate.risk.class_sizes import ClassSizes
from crowdgate.risk.population_uniques.classes import PopulationEstimate, roots, trivial_estimate


def snb(classes: ClassSizes, fraction: float) -> PopulationEstimate:
    """Return the estimate of G. Chen, S. Keller-McNulty, Estimation of identification disclosure risk in microdata
    (1998): class sizes minus one are negative binomial with parameters a and b in the population; uniques are K b^a of
    K classes.

    K is the modified estimator of Shlosser (P. J. Haas, L. Stokes, 1998); a and b give the sample its expected numbers
    of classes of one and of two. ARX (3.9) places two brackets differently: it subtracts 1 after the product in the
    estimator's sum, and multiplies by (1 - z)^(a + 2) in the second equation instead of dividing.
    """
    known = trivial_estimate("SNB", classes, fraction)
    if known is not None:
        return known
    one, two = classes.of_size(1), classes.of_size(2)
    if not two:
        return PopulationEstimate("SNB", None, "the sample has no class of two")
    k = _shlosser(classes, fraction)
    found = list(_negative_binomial(one / (k * fraction), 2 * two / (k * fraction**2), fraction))
    if not found:
        return PopulationEstimate("SNB", None, "no parameters give the sample's numbers of classes of one and of two")
    if len(found) > 1:
        return PopulationEstimate(
            "SNB", None, "several parameters give the sample's numbers of classes of one and of two"
        )
    ((a, b),) = found
    return PopulationEstimate("SNB", k * b**a, parameters=(("classes", k), ("a", a), ("b", b)))


def _shlosser(classes: ClassSizes, q: float) -> float:
    """Return the number of classes in the population, by the modified estimator of Shlosser."""
    sizes, counts = classes.sizes, classes.counts
    with np.errstate(under="ignore"):
        missed = counts @ (1 - q) ** sizes
        first = counts @ (sizes * q**2 * (1 - q**2) ** (sizes - 1))
        second = counts @ ((1 - q**2) ** sizes - (1 - q) ** sizes)
        once = counts @ (sizes * q * (1 - q) ** (sizes - 1))
    return float(classes.number + classes.of_size(1) * first / second * (missed / once) ** 2)


def _negative_binomial(once: float, twice: float, f: float) -> Iterator[tuple[float, float]]:
    """Yield all (a, b) with B^a (1 + a w) = once and a B^a v (2 + (1 + a) w) = twice, where v = (1 - b) / (1 - z), w =
    (1 - f) v, B = 1 - f v and z = (1 - f) (1 - b).

    At each B the quotient of both is quadratic in a with one positive root, which leaves the first equation.
    """
    quotient = twice / once

    def best(log_odds: float) -> tuple[float, float, float]:
        beta = 1 / (1 + exp(-log_odds))
        v = 1 / (1 + exp(log_odds)) / f
        w = (1 - f) * v
        half = (v * (2 + w) - quotient * w) / 2
        root = (half * half + v * w * quotient) ** 0.5
        a = quotient / (root + half) if half > 0 else (root - half) / (v * w)
        return a, beta, a * log(beta) + log1p(a * w) - log(once)

    for place in roots(lambda log_odds: best(log_odds)[2], np.linspace(-25.0, 20.0, 451)):
        a, beta, _ = best(place)
        yield a, f * beta / (1 - (1 - f) * beta)
