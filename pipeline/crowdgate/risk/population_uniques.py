"""How many people are unique in a population of which the table is a random sample: three models, and which to believe.

The models know a table by how many classes of each size it has. A model that does not fit says why instead of a number.
ARX, which has the same three, differs where the docstrings say so.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import exp, inf, isfinite, lgamma, log, log1p

import numpy as np
import numpy.typing as npt

from crowdgate.accounting.numbers import Number, probability
from crowdgate.histogram import Counts

Floats = npt.NDArray[np.float64]
SMALL_FRACTION = 0.1
"""Up to here the rule takes Pitman's model."""


@dataclass(frozen=True)
class Estimate:
    """What a model says: how many people of the population are unique in it, or None with the reason.

    `parameters` are those it fitted.
    """

    model: str
    uniques: float | None
    reason: str = ""
    parameters: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class PopulationUniques:
    """The three estimates, the population's expected size, and the one that the rule of F. K. Dankar, K. El Emam, A.
    Neisa, T. Roffey (Estimating the re-identification risk of clinical data sets, 2012) takes."""

    people: float
    estimates: tuple[Estimate, ...]
    chosen: Estimate


@dataclass(frozen=True, eq=False)
class Classes:
    """A sample by its classes: `counts` of them have `sizes` people (ascending, positive)."""

    sizes: Floats
    counts: Floats

    @classmethod
    def of(cls, counts: Counts) -> "Classes":
        """The classes of a histogram's counts."""
        sizes, many = np.unique(counts, return_counts=True)
        return cls(sizes.astype(np.float64), many.astype(np.float64))

    @property
    def people(self) -> float:
        """People in the sample."""
        return float(self.sizes @ self.counts)

    @property
    def number(self) -> float:
        """Classes in the sample."""
        return float(self.counts.sum())

    def of_size(self, size: int) -> float:
        """How many classes have so many people."""
        return float(self.counts[self.sizes == size].sum())


def population_uniques(counts: Counts, fraction: Number) -> PopulationUniques:
    """Estimates for a population of which this sample is the share `fraction` (above 0, at most 1).

    The rule: for a fraction of at most .1 Pitman's model, and Zayatz's where that fails; above, the smaller one of SNB
    and Zayatz.
    """
    classes, share = Classes.of(counts), float(probability("fraction", fraction, open_low=True))
    made = tuple(model(classes, share) for model in (pitman, zayatz, snb))
    return PopulationUniques(classes.people / share, made, _ruled(made, share))


def _ruled(made: tuple[Estimate, ...], fraction: float) -> Estimate:
    by_pitman, by_zayatz, by_snb = made
    if fraction <= SMALL_FRACTION:
        return by_pitman if by_pitman.uniques is not None else by_zayatz
    known = [each for each in (by_snb, by_zayatz) if each.uniques is not None]
    return min(known, key=lambda each: each.uniques or 0.0, default=by_zayatz)


def _plain(model: str, classes: Classes, fraction: float) -> Estimate | None:
    """What needs no model: a table of nobody, one without uniques, and a whole population."""
    if not classes.people:
        return Estimate(model, None, "there is nobody in the sample")
    unique = classes.of_size(1)
    if not unique:
        return Estimate(model, 0.0, "nobody is unique in the sample")
    return Estimate(model, unique, "the sample is the population") if fraction == 1 else None


def zayatz(classes: Classes, fraction: float) -> Estimate:
    """L. Zayatz, Estimation of the number of unique population elements using a sample (1991).

    The population is taken to have classes of the sizes of the sample's, as often. So a sample unique is a population
    unique with probability c_1 h(1) / (the sum of c_j h(j)), where h(j) is the probability that one of j people is
    sampled; that share of the sample uniques, divided by the fraction, is the estimate.
    """
    known = _plain("Zayatz", classes, fraction)
    if known is not None:
        return known
    with np.errstate(under="ignore"):
        alone = classes.counts * _one_sampled(classes, round(classes.people / fraction))
    share = float(alone[0] / alone.sum())
    return Estimate("Zayatz", classes.of_size(1) * share / fraction, parameters=(("share", share),))


def _one_sampled(classes: Classes, people: int) -> Floats:
    """For each size j the probability that of j among so many people exactly one is in the sample of n: hypergeometric,
    j n/N times the product over i < j - 1 of 1 - (n - 1)/(N - 1 - i)."""
    most, sampled = int(classes.sizes[-1]), classes.people
    with np.errstate(divide="ignore"):
        left = np.maximum(people - 1 - np.arange(most - 1), sampled - 1)  # nobody is left out where few others are
        others = np.cumsum(np.log1p(-(sampled - 1) / left))
    logs = np.concatenate([[0.0], others])[classes.sizes.astype(np.int64) - 1]
    return np.asarray(classes.sizes * (sampled / people) * np.exp(logs))


def pitman(classes: Classes, fraction: float) -> Estimate:
    """N. Hoshino, Applying Pitman's sampling formula to microdata disclosure risk assessment (2001).

    Theta and alpha are of greatest likelihood; the estimate is the expected number of singletons among N people, N
    Gamma(theta + 1) Gamma(theta + alpha + N - 1) / (Gamma(theta + alpha) Gamma(theta + N)). ARX prints its limit for
    large N, N^alpha Gamma(theta + 1) / Gamma(theta + alpha), greater by a share of about theta (1 - alpha) / N.
    """
    from scipy.special import betaln

    known = _plain("Pitman", classes, fraction)
    if known is not None:
        return known
    if classes.number < 2 or classes.of_size(1) == classes.people:
        return Estimate("Pitman", None, "all classes are alike: there is nothing to fit")
    found = _fitted(classes)
    if found is None:
        return Estimate("Pitman", None, "the likelihood has no maximum inside 0 < alpha < 1, theta > -alpha")
    theta, alpha = found
    people = classes.people / fraction
    # Gamma(x) / Gamma(x + d) = B(x, d) / Gamma(d), which keeps its digits for large x
    large = float(betaln(theta + alpha + people - 1, 1 - alpha)) - lgamma(1 - alpha)
    uniques = people * exp(large + lgamma(theta + 1) - lgamma(theta + alpha))
    return Estimate("Pitman", uniques, parameters=(("theta", theta), ("alpha", alpha)))


def _rising(start: float, steps: float) -> float:
    """log Gamma(start + steps) - log Gamma(start)."""
    return lgamma(start + steps) - lgamma(start)


def _fitted(classes: Classes) -> tuple[float, float] | None:
    """Theta and alpha where both derivatives of the log-likelihood are zero: for each alpha the best theta, and of
    these the alpha of which the derivative changes its sign."""

    def slope(alpha: float) -> float:
        theta = _theta(classes, alpha)
        return -inf if theta is None else _alpha_slope(classes, theta, alpha)

    places = np.concatenate([[1e-6, 1e-4, 1e-3], np.linspace(0.01, 0.99, 50), [0.999, 0.9999]])
    found = [(theta, alpha) for alpha in _roots(slope, places) if (theta := _theta(classes, alpha)) is not None]
    return max(found, key=lambda each: _likelihood(classes, *each), default=None)


def _likelihood(classes: Classes, theta: float, alpha: float) -> float:
    """Its logarithm, but for what no parameter changes."""
    from scipy.special import gammaln

    u, n = classes.number, classes.people
    by_class = (u - 1) * log(alpha) + _rising(theta / alpha + 1, u - 1)
    inside = classes.counts @ (gammaln(classes.sizes - alpha) - gammaln(1 - alpha))
    return float(by_class - _rising(theta + 1, n - 1) + inside)


def _theta(classes: Classes, alpha: float) -> float | None:
    """Where the derivative by theta is zero: the sum over i < u of 1 / (theta + i alpha) is that over i < n of 1 /
    (theta + i)."""
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


def _alpha_slope(classes: Classes, theta: float, alpha: float) -> float:
    """The derivative by alpha: the sum over i < u of i / (theta + i alpha), less that over all people but the first of
    each class, of 1 / (l - alpha)."""
    from scipy.special import digamma

    u = classes.number
    by_class = (digamma(theta / alpha + u) - digamma(theta / alpha + 1)) / alpha
    inside = classes.counts @ (digamma(classes.sizes - alpha) - digamma(1 - alpha))
    return float((u - 1 - theta * by_class) / alpha - inside)


def snb(classes: Classes, fraction: float) -> Estimate:
    """G. Chen, S. Keller-McNulty, Estimation of identification disclosure risk in microdata (1998): class sizes less
    one are negative binomial with parameters a and b in the population; uniques are K b^a of K classes.

    K is the modified estimator of Shlosser (P. J. Haas, L. Stokes, 1998); a and b give the sample its expected numbers
    of classes of one and of two. ARX (3.9) has two brackets elsewhere: it subtracts 1 behind the product in the
    estimator's sum, and multiplies by (1 - z)^(a + 2) in the second equation instead of dividing.
    """
    known = _plain("SNB", classes, fraction)
    if known is not None:
        return known
    one, two = classes.of_size(1), classes.of_size(2)
    if not two:
        return Estimate("SNB", None, "the sample has no class of two")
    k = _shlosser(classes, fraction)
    roots = list(_negative_binomial(one / (k * fraction), 2 * two / (k * fraction**2), fraction))
    if not roots:
        return Estimate("SNB", None, "no parameters give the sample's numbers of classes of one and of two")
    if len(roots) > 1:
        return Estimate("SNB", None, "several parameters give the sample's numbers of classes of one and of two")
    ((a, b),) = roots
    return Estimate("SNB", k * b**a, parameters=(("classes", k), ("a", a), ("b", b)))


def _shlosser(classes: Classes, q: float) -> float:
    """Classes in the population, by the modified estimator of Shlosser."""
    sizes, counts = classes.sizes, classes.counts
    with np.errstate(under="ignore"):
        missed = counts @ (1 - q) ** sizes
        first = counts @ (sizes * q**2 * (1 - q**2) ** (sizes - 1))
        second = counts @ ((1 - q**2) ** sizes - (1 - q) ** sizes)
        once = counts @ (sizes * q * (1 - q) ** (sizes - 1))
    return float(classes.number + classes.of_size(1) * first / second * (missed / once) ** 2)


def _negative_binomial(once: float, twice: float, f: float) -> Iterator[tuple[float, float]]:
    """All (a, b) with B^a (1 + a w) = once and a B^a v (2 + (1 + a) w) = twice, where v = (1 - b) / (1 - z),
    w = (1 - f) v, B = 1 - f v and z = (1 - f) (1 - b).

    At each B the quotient of the two is quadratic in a with one positive root; the first one is left.
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

    for place in _roots(lambda log_odds: best(log_odds)[2], np.linspace(-25.0, 20.0, 451)):
        a, beta, _ = best(place)
        yield a, f * beta / (1 - (1 - f) * beta)


def _roots(function: Callable[[float], float], places: Floats) -> Iterator[float]:
    """Where a function is zero between two places at which its sign differs."""
    from scipy.optimize import brentq

    values = [function(float(place)) for place in places]
    for (low, at_low), (high, at_high) in pairwise(zip(places.tolist(), values, strict=True)):
        if isfinite(at_low) and isfinite(at_high) and (at_low > 0) != (at_high > 0):
            yield float(brentq(function, low, high, xtol=1e-12))
