"""k! [x^k] of a product of power series: the probability that k people satisfy a rule in each bin.

Such a product is the generating function of k people in bins if each bin's series has k! p^k x^k / k! for each number
of people that the rule allows. The coefficient is Cauchy's integral over the circle through the saddle point, where the
mean of the tilted numbers of people is k (Daniels 1954; for occupancies Hwang and Janson 2008). With few people it is
the convolution of the tilted distributions, in which all terms are positive. Up to 1e15 people and 5,000 distinct
probabilities either takes about a second, as nodes with a negligible integrand are skipped.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from crowdgate.arrays import Bools, Integers
from crowdgate.system import lazy_libraries

if TYPE_CHECKING:
    from crowdgate.arrays import Floats
    from crowdgate.risk.bins import Bins

Complex = NDArray[np.complex128]

CONVOLVED = 128
"""Largest number of people for which the tilted distributions are convolved."""
SPREADS = 40
"""Number of square roots of k for which the trapezoidal rule has nodes. The omitted part is the tilted probability of
numbers this far from k, at most e^-200."""
DEAD = -60.0
"""The logarithm of a share of the integrand's greatest value; smaller values add nothing to 16 digits."""
GREATEST = 1e250
"""Greatest probability times the radius; floats end at 1e308."""
CHUNK = 1 << 18
BLOCK = 1 << 14
"""Number of factors computed at once: few enough for a processor's cache."""
PAIRED = 100
"""Numbers of people of a bin that bound the fall of its factor; a likelier bin has a bound of its own."""
ROUNDING = 2.0**-50
"""Relative error of one term, a few roundings of float64."""


@dataclass(frozen=True)
class LogProbability:
    """The natural logarithm of a probability, and a bound on its absolute error."""

    value: float
    error: float


class Rule(ABC):
    """The allowed numbers of people of a bin, and its series f(y), the sum of y^j / j! over allowed numbers j. `y` is a
    bin's probability times the radius, above 0, `u` = y e^(i theta)."""

    @abstractmethod
    def mean(self, y: Floats) -> Floats:
        """Return y f'(y) / f(y), with f the rule's series: the mean number of people of a bin under the tilted
        distribution."""

    @abstractmethod
    def log(self, y: Floats) -> Floats:
        """Return ln f(y), with f the rule's series, minus y where y is `linear`."""

    @abstractmethod
    def log_at(self, u: Complex, y: Floats) -> Complex:
        """Return ln f(u) at complex numbers u = y e^(i theta), with f the rule's series, minus u where y is
        `linear`."""

    @abstractmethod
    def linear(self, y: Floats) -> Bools:
        """Return for each y whether f(y) is so near to e^y that the part y of ln f(y) is kept separate: it is as large
        as k, and needs no rounding."""

    @abstractmethod
    def scale(self, y: Floats) -> Floats:
        """Return the logarithm of a further divisor of `terms`, which keeps them below 1 where y is above 1."""

    @abstractmethod
    def terms(self, y: float, k: int) -> Floats:
        """Return the terms of f(y) of 0 to k people, divided by e^y where y is `linear` and by `scale`; the first is 1
        where y is at most 1."""

    @abstractmethod
    def falls(self, y: Floats) -> Callable[[float, float], Floats]:
        """Return a bound on ln |f(u) / f(y)| by 1 - cos theta and 1 - cos 2 theta, which falls with either.

        By the tilted distribution q of a bin's people, |f(u) / f(y)|^2 = 1 - 2 sum over i < j of q_i q_j (1 - cos (j -
        i)theta): some of these terms give a bound.
        """

    def nodes(self, y: Floats, counts: Floats, k: int) -> int:
        """Return the number of nodes on the circle that the trapezoidal rule needs."""
        del y, counts
        return circle_nodes(k)


class NotOne(Rule):
    """The rule that no bin has exactly one person: f(y) = e^y - y."""

    def mean(self, y: Floats) -> Floats:
        return -y * np.expm1(-y) / (1 - y * np.exp(-y))

    def log(self, y: Floats) -> Floats:
        return np.asarray(self.log_at(y.astype(np.complex128), y).real)

    def log_at(self, u: Complex, y: Floats) -> Complex:
        with np.errstate(over="ignore", invalid="ignore"):
            near = log1p(_beyond_linear(u))
            far = np.where(u.real >= 0, log1p(-u * np.exp(-u)), np.log(np.exp(u) - u) - u)
        return np.where(self.linear(y), far, near)

    def linear(self, y: Floats) -> Bools:
        return y > 1

    def scale(self, y: Floats) -> Floats:
        return np.zeros_like(y)

    def terms(self, y: float, k: int) -> Floats:
        n = np.arange(k + 1)
        found = np.exp(n * math.log(y) - lazy_libraries.special.gammaln(n + 1) - (y if y > 1 else 0.0))
        found[1:2] = 0.0
        return np.asarray(found)

    def falls(self, y: Floats) -> Callable[[float, float], Floats]:
        n = np.array([0, *range(2, PAIRED)])[:, None]
        tilted = np.exp(n * np.log(y) - lazy_libraries.special.gammaln(n + 1) - y) / (1 - y * np.exp(-y))
        one, two = (
            (tilted[1:-1] * tilted[2:]).sum(axis=0),
            tilted[0] * tilted[1] + (tilted[1:-2] * tilted[3:]).sum(axis=0),
        )

        def bound(once: float, twice: float) -> Floats:
            pairs = np.log(np.maximum(1 - 2 * (one * once + two * twice), np.finfo(float).tiny)) / 2
            # |e^u - u| is at most e^(y cos theta) + y
            direct = np.log(np.exp(-y * once) + y * np.exp(-y)) - np.log1p(-y * np.exp(-y))
            return np.asarray(np.minimum(pairs, direct))

        return bound


class AtMostOne(Rule):
    """The rule that no bin has more than one person: f(y) = 1 + y."""

    def mean(self, y: Floats) -> Floats:
        return 1 / (1 + 1 / y)

    def log(self, y: Floats) -> Floats:
        return np.log1p(y)

    def log_at(self, u: Complex, y: Floats) -> Complex:
        del y  # nothing is linear
        return log1p(u)

    def linear(self, y: Floats) -> Bools:
        return np.zeros(y.shape, dtype=np.bool_)

    def scale(self, y: Floats) -> Floats:
        return np.where(y > 1, np.log1p(y), 0.0)

    def terms(self, y: float, k: int) -> Floats:
        divided = 1 + y if y > 1 else 1.0
        return np.array([1 / divided, y / divided, *[0.0] * (k - 1)])[: k + 1]

    def falls(self, y: Floats) -> Callable[[float, float], Floats]:
        one = y / (1 + y) / (1 + y)
        return lambda once, _: np.log(np.maximum(1 - 2 * one * once, np.finfo(float).tiny)) / 2

    def nodes(self, y: Floats, counts: Floats, k: int) -> int:
        """Return the number of nodes on the circle that the trapezoidal rule needs. A sum of independent bins of none
        or one stays within its own spread (Bernstein's inequality), which is small if nearly all bins are taken."""
        return circle_nodes(min(k, math.ceil(math.fsum(counts * (y / (1 + y) / (1 + y)))) + 100))


def log_probability(bins: Bins, k: int, rule: Rule) -> LogProbability:
    """Return the logarithm of the probability that `k` people, at least 1, satisfy the rule in each bin. This must be
    possible and leave the number of people in the bins free, so that the tilted mean can be k."""
    p = bins.probabilities / math.fsum(bins.counts * bins.probabilities)
    log_radius = _log_radius(p, bins.counts, k, rule)
    with np.errstate(over="ignore", under="ignore"):
        y, counts = np.exp(np.log(p) + log_radius), bins.counts
    if y.max() > GREATEST or not y.all():
        raise ValueError("probabilities that differ by more than a factor of 1e250 have no such figure")
    linear = rule.linear(y)
    kept_apart = math.fsum((counts * y)[linear])
    known, known_within = _radius_terms(k, log_radius, kept_apart, math.fsum((counts * y)[~linear]))
    if k <= CONVOLVED:
        log, within = _convolved(y, counts, k, rule)
    else:
        log, within = _integral(y, counts, k, rule)
    return LogProbability(known + log, known_within + within)


def _radius_terms(k: int, log_radius: float, linear: float, rest: float) -> tuple[float, float]:
    """Return ln k! - k ln radius + `linear`, whose sum with `rest` is the radius if that is near k, and a bound on its
    error."""
    log_over = log_radius - math.log(k)
    over = math.expm1(log_over) if log_over < 1 else math.inf
    if abs(over) < 0.5:
        parts = [stirling(k), k * (over - math.log1p(over)), -rest]
        return math.fsum(parts), ROUNDING * (k * abs(over) + rest + abs(parts[0]))
    parts = [stirling(k), -k * log_over, linear - k]
    return math.fsum(parts), ROUNDING * (math.fsum(map(abs, parts)) + k)


def _log_radius(p: Floats, counts: Floats, k: int, rule: Rule) -> float:
    logs = np.log(p)

    def off(log_radius: float) -> float:
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            return math.fsum(counts * rule.mean(np.exp(logs + log_radius))) - k

    low = high = math.log(k)
    while off(low) > 0:
        low -= 1
    while off(high) < 0:
        high += 1
    return float(lazy_libraries.optimize.brentq(off, low, high, xtol=1e-13)) if low < high else low


def stirling(k: int) -> float:
    """Return ln k! - k ln k + k, for k at least 1."""
    if k < 64:
        return float(lazy_libraries.special.gammaln(k + 1)) - k * math.log(k) + k
    return 0.5 * math.log(2 * math.pi * k) + 1 / (12 * k) - 1 / (360 * k**3) + 1 / (1260 * k**5)


def circle_nodes(k: int) -> int:
    """Return the number of nodes of the trapezoidal rule on the whole circle for k people, an even number."""
    return 2 * (32 + SPREADS // 2 * math.ceil(math.sqrt(k)))


def _integral(y: Floats, counts: Floats, k: int, rule: Rule) -> tuple[float, float]:
    """Return the logarithm of the coefficient of x^k, without radius and linear parts, and a bound on its error."""
    nodes = rule.nodes(y, counts, k)
    total = size = 0.0
    for m in _relevant_nodes(nodes, rule.falls(y), counts):
        m, logs = _integrand(m, nodes, y, counts, k, rule)
        weights = np.where((m == 0) | (2 * m == nodes), 1.0, 2.0)
        values = weights * np.exp(logs.real)
        total += math.fsum(values * np.cos(logs.imag))
        size += math.fsum(values)
    each = counts * rule.log(y)
    phase = math.sqrt(k) + math.fsum(np.abs(each)) / math.sqrt(k)
    if total <= 0:
        return -math.inf, math.inf
    within = ROUNDING * ((1 + phase) * size / total + math.fsum(np.abs(each)))
    return math.fsum(each) + math.log(total / nodes), within


def _relevant_nodes(nodes: int, falls: Callable[[float, float], Floats], counts: Floats) -> Iterator[Integers]:
    """Yield the nodes of the upper half circle, without those where the integrand is negligible. The rest lies near 1
    and, if most bins hold even numbers, near -1."""

    def live(once: float, twice: float) -> bool:
        with np.errstate(under="ignore", divide="ignore"):
            return float(counts @ falls(once, twice)) > DEAD

    def lies(m: int, times: int) -> float:
        return 2 * math.sin(math.pi * m * times / nodes) ** 2

    half, quarter = nodes // 2, nodes // 4
    near = bisect_left(range(quarter + 1), True, key=lambda m: not live(lies(m, 1), lies(m, 2)))
    far = bisect_left(range(half - quarter), True, key=lambda m: not live(1.0, lies(m, 2)))
    for low, high in ((0, near), (half + 1 - far, half + 1)):
        for first in range(low, high, CHUNK):
            yield np.arange(first, min(first + CHUNK, high))


def _integrand(m: Integers, nodes: int, y: Floats, counts: Floats, k: int, rule: Rule) -> tuple[Integers, Complex]:
    """Return the integrand's logarithm at the nodes where it is not negligible. No bin's factor exceeds 1 in size, so
    factors come in blocks, those with most people first, and a small node stays small."""
    linear = rule.linear(y)
    x = math.fsum((counts * y)[linear])
    theta = 2 * math.pi * m / nodes
    turned = 2 * math.pi * (m * (k % nodes) % nodes) / nodes
    sine = np.sin(theta)
    phase = np.where(theta < 0.5, k * (sine - theta) + (x - k) * sine, x * sine - turned)
    logs = np.asarray(1j * phase, dtype=np.complex128)
    order, first = np.argsort(-counts * y, kind="stable"), 0
    while first < len(order):
        alive = logs.real > DEAD
        m, theta, logs = m[alive], theta[alive], logs[alive]
        block = order[first : first + max(1, BLOCK // max(1, len(m)))]
        logs = logs + _factors(theta, y[block, None], counts[block, None], rule).sum(axis=0)
        first += len(block)
    return m, logs


def _factors(theta: Floats, y: Floats, counts: Floats, rule: Rule) -> Complex:
    """Return the logarithms of some bins' factors (f(u) / f(y))^count at the angles `theta`, one row for each distinct
    probability; where y is `linear`, without the phase y sin theta."""
    here = np.broadcast_to(y, (len(y), len(theta)))
    straight = np.where(rule.linear(y), 2 * y * np.sin(theta / 2) ** 2, 0.0)
    return _times(counts, rule.log_at(here * np.exp(1j * theta), here) - rule.log(y) - straight)


def _convolved(y: Floats, counts: Floats, k: int, rule: Rule) -> tuple[float, float]:
    """Return the result of `_integral` by products of polynomials, each raised to its number of bins by squaring: all
    terms are positive, and the first of those with large powers is 1."""
    powers = (_power(rule.terms(float(each), k), int(many)) for each, many in zip(y, counts, strict=True))
    chance = float(reduce(lambda a, b: np.convolve(a, b)[: k + 1], powers)[k])
    scale = counts * rule.scale(y)
    within = ROUNDING * (64 * (k + float(counts[y > 1].sum())) + math.fsum(scale))
    return math.fsum(scale) + (math.log(chance) if chance > 0 else -math.inf), within if chance > 0 else math.inf


def _power(terms: Floats, many: int) -> Floats:
    """Return the polynomial with coefficients `terms` to the power `many`, at least 1, cut off at its own degree."""
    found, square = None, terms
    while many:
        if many & 1:
            found = square if found is None else np.convolve(found, square)[: len(terms)]
        many >>= 1
        if many:
            square = np.convolve(square, square)[: len(terms)]
    assert found is not None, "there is at least one bin"
    return found


def _beyond_linear(u: Complex) -> Complex:
    """Return e^u - 1 - u, without loss where u is small."""
    series = np.ones_like(u)
    for n in range(12, 2, -1):
        series = 1 + u / n * series
    return np.where(np.abs(u) < 0.1, u * u / 2 * series, np.expm1(u) - u)


def log1p(z: Complex) -> Complex:
    """Return ln(1 + z), without the loss of numpy's function where z is small."""
    large = np.abs(z) > 1e8
    if not large.any():
        return _near_log1p(z)
    far = np.where(large, z, 1)
    return np.where(large, np.log(far) + 1 / far, _near_log1p(np.where(large, 0, z)))


def _near_log1p(z: Complex) -> Complex:
    out = np.empty_like(z)
    with np.errstate(divide="ignore"):
        out.real = 0.5 * np.log1p(2 * z.real + z.real**2 + z.imag**2)
    out.imag = np.arctan2(z.imag, 1 + z.real)
    return out


def _times(many: Floats, z: Complex) -> Complex:
    """Return real times complex, part by part: 0 times an infinite part is 0 in the other part."""
    out = np.empty_like(z)
    out.real, out.imag = many * z.real, many * z.imag
    return out
