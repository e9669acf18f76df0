"""Pitman's model: class sizes follow Pitman's sampling formula, with the parameters of greatest likelihood."""

from math import exp, inf, lgamma, log

import numpy as np

from crowdgate.risk.class_sizes import ClassSizes
from crowdgate.risk.population_uniques.classes import PopulationEstimate, roots, trivial_estimate


def pitman(classes: ClassSizes, fraction: float) -> PopulationEstimate:
    """Return the estimate of N. Hoshino, Applying Pitman's sampling formula to microdata disclosure risk assessment
    (2001).

    Theta and alpha are of greatest likelihood; the estimate is the expected number of singletons among N people, N
    Gamma(theta + 1) Gamma(theta + alpha + N - 1) / (Gamma(theta + alpha) Gamma(theta + N)). ARX prints its limit for
    large N, N^alpha Gamma(theta + 1) / Gamma(theta + alpha), greater by a share of about theta (1 - alpha) / N.
    """
    from scipy.special import betaln

    known = trivial_estimate("Pitman", classes, fraction)
    if known is not None:
        return known
    if classes.number < 2 or classes.of_size(1) == classes.people:
        return PopulationEstimate("Pitman", None, "all classes are alike: there is nothing to fit")
    found = _fitted(classes)
    if found is None:
        return PopulationEstimate("Pitman", None, "the likelihood has no maximum inside 0 < alpha < 1, theta > -alpha")
    theta, alpha = found
    people = classes.people / fraction
    # Gamma(x) / Gamma(x + d) = B(x, d) / Gamma(d), which keeps its digits for large x
    large = float(betaln(theta + alpha + people - 1, 1 - alpha)) - lgamma(1 - alpha)
    uniques = people * exp(large + lgamma(theta + 1) - lgamma(theta + alpha))
    return PopulationEstimate("Pitman", uniques, parameters=(("theta", theta), ("alpha", alpha)))


def _rising(start: float, steps: float) -> float:
    """Return ln Gamma(start + steps) - ln Gamma(start)."""
    return lgamma(start + steps) - lgamma(start)


def _fitted(classes: ClassSizes) -> tuple[float, float] | None:
    """Return theta and alpha where both derivatives of the log-likelihood are zero: for each alpha the best theta, and
    among these the alpha at which the derivative changes its sign."""

    def slope(alpha: float) -> float:
        theta = _theta(classes, alpha)
        return -inf if theta is None else _alpha_slope(classes, theta, alpha)

    places = np.concatenate([[1e-6, 1e-4, 1e-3], np.linspace(0.01, 0.99, 50), [0.999, 0.9999]])
    found = [(theta, alpha) for alpha in roots(slope, places) if (theta := _theta(classes, alpha)) is not None]
    return max(found, key=lambda each: _likelihood(classes, *each), default=None)


def _likelihood(classes: ClassSizes, theta: float, alpha: float) -> float:
    """Return the log-likelihood of theta and alpha for the sample's classes, without terms that do not depend on
    them."""
    from scipy.special import gammaln

    u, n = classes.number, classes.people
    by_class = (u - 1) * log(alpha) + _rising(theta / alpha + 1, u - 1)
    inside = classes.counts @ (gammaln(classes.sizes - alpha) - gammaln(1 - alpha))
    return float(by_class - _rising(theta + 1, n - 1) + inside)


def _theta(classes: ClassSizes, alpha: float) -> float | None:
    """Return the theta at which the log-likelihood's derivative by theta is zero: for n people in u classes the sum
    over i < u of 1 / (theta + i alpha) equals that over i < n of 1 / (theta + i), i from 1. None if there is none."""
    from scipy.optimize import brentq
    from scipy.special import digamma

    u, n = classes.number, classes.people

    def slope(log_above: float) -> float:
        theta = exp(log_above) - alpha
        by_class = (digamma(theta / alpha + u) - digamma(theta / alpha + 1)) / alpha
        return float(by_class - (digamma(theta + n) - digamma(theta + 1)))

    low, high = log(1e-9), log(1e12)
    if not slope(low) > 0 > slope(high):
        return None
    return exp(float(brentq(slope, low, high, xtol=1e-13))) - alpha


def _alpha_slope(classes: ClassSizes, theta: float, alpha: float) -> float:
    """Return the log-likelihood's derivative by alpha: for u classes the sum over i < u of i / (theta + i alpha), minus
    the sum over all people but the first of each class of 1 / (l - alpha), l the number of those before in the
    class."""
    from scipy.special import digamma

    u = classes.number
    by_class = (digamma(theta / alpha + u) - digamma(theta / alpha + 1)) / alpha
    inside = classes.counts @ (digamma(classes.sizes - alpha) - digamma(1 - alpha))
    return float((u - 1 - theta * by_class) / alpha - inside)
