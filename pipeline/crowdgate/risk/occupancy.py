"""Further distributions of k people in bins: the number of bins that hold exactly j, and the effect of grouping
bins."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from crowdgate.risk.saddle import DEAD, ROUNDING, Complex, LogProbability, circle_nodes, log1p, stirling
from crowdgate.system import lazy_libraries

if TYPE_CHECKING:
    from crowdgate.arrays import Floats, Integers
    from crowdgate.risk.bins import Bins, GroupingLoss

MOST_APART = 0.5
"""Largest `apart` of bins that are paired."""
MOST_WORK = 1 << 26
"""Bound on the terms of a distribution: roots of unity times nodes times distinct probabilities; some ten seconds."""


def law(bins: Bins, k: int, j: int) -> Floats:
    """Return P(exactly s bins hold exactly j of k people) for s from 0 to k // j: the coefficients in z of k! [x^k] of
    the product of e^(p x) + (z - 1) (p x)^j / j!, by roots of unity and Cauchy's integral over |x| = k.

    Each has an error of at most 1e-13 + 1e-15 k. Raises ValueError if this needs too many terms: for large k with many
    distinct probabilities only the mean, the variance and the two extreme probabilities are available.
    """
    roots = k // j + 1
    if roots == 1:
        return np.ones(1)
    if roots * circle_nodes(k) * len(bins.probabilities) > MOST_WORK:
        raise ValueError(
            f"the law of {k} people over {len(bins.probabilities)} distinct probabilities has too many terms"
            f" (more than {MOST_WORK}): ask for mean, variance, none or all unique"
        )
    return np.clip(np.fft.irfft(_at_roots(bins, k, j, roots), roots), 0.0, 1.0)


def _at_roots(bins: Bins, k: int, j: int, roots: int) -> Complex:
    """Return E z^S, with S the number of bins that hold exactly j of k people, at the `roots` roots of unity z of the
    upper half circle; the others are their conjugates."""
    y = bins.probabilities / math.fsum(bins.counts * bins.probabilities) * k
    z = np.exp(-2j * math.pi * np.arange(roots // 2 + 1) / roots)
    with np.errstate(divide="ignore"):
        away = np.log(z - 1)
    nodes = circle_nodes(k)
    total = np.zeros(len(z), dtype=np.complex128)
    for m in range(nodes):
        theta = 2 * math.pi * m / nodes
        # e^x of the whole product, with x^k and the greatest value taken out
        straight = complex(
            -2 * k * math.sin(theta / 2) ** 2, k * math.sin(theta) - 2 * math.pi * (m * k % nodes) / nodes
        )
        u = y * np.exp(1j * theta)
        own = j * np.log(u) - u - lazy_libraries.special.gammaln(j + 1)
        if straight.real + _most(own) @ bins.counts > DEAD:
            total += np.exp(straight + _log_one_plus_exp(np.add.outer(away, own)) @ bins.counts)
    # k! e^k / k^k, over the number of nodes
    return total / nodes * math.exp(stirling(k))


def _most(x: Complex) -> Floats:
    """Return the logarithm of |1 - e^x| + |e^x|, an upper bound of |1 + (z - 1) e^x| with |z| = 1."""
    near = np.exp(np.where(x.real > 30, 0, x))
    return np.where(x.real > 30, x.real + math.log(2) + 1e-9, np.log(np.abs(1 - near) + np.abs(near)))


def _log_one_plus_exp(x: Complex) -> Complex:
    """Return ln(1 + e^x), also where e^x is too large for a float."""
    large = x.real > 30
    if not large.any():
        return log1p(np.exp(x))
    return np.where(large, x + np.exp(-np.where(large, x, 0)), log1p(np.exp(np.where(large, 0, x))))


def log_each_bin_one(bins: Bins, k: int) -> LogProbability:
    """Return ln (k! times the product of all p): as many people as bins, each bin with one."""
    p = bins.probabilities / math.fsum(bins.counts * bins.probabilities)
    logs = bins.counts * np.log(p * k)
    value = stirling(k) - k + math.fsum(logs)
    return LogProbability(min(value, 0.0), ROUNDING * (k + math.fsum(np.abs(logs))))


def none_error_bound(lost: GroupingLoss, k: int) -> float:
    """Return a bound on the change of ln P(no singleton) by grouping.

    Bins a <= mean <= b become (mean, a + b - mean), one pair after the other, at most once less than there are bins.
    The coefficients of (e^(ax) - ax)(e^(bx) - bx) are positive, and with the sum of a and b fixed each changes by at
    most `_none_pair_change`. So does the probability, which is a sum of them with positive weights. Each coefficient
    also rises with each p, so that scaling all p gives another bound.
    """
    return min(_paired(lost, _none_pair_change), _scaled(lost, k))


def unique_error_bound(lost: GroupingLoss, k: int) -> float:
    """Return a bound on the change of ln P(all unique) by grouping: of (1 + ax)(1 + bx) only the last coefficient
    changes, by 1 - apart^2."""
    return min(_paired(lost, lambda apart: -math.log1p(-(apart**2))), _scaled(lost, k))


def _paired(lost: GroupingLoss, change: Callable[[float], float]) -> float:
    """Return the sum of `change(apart)` over all pairs of merged bins: a bound on the change by grouping. `apart` is
    rounded up to one of few values, as a change rises with it."""
    some = (lost.apart > 0) & (lost.counts > 1)
    rounded = np.exp2(np.ceil(np.log2(lost.apart[some]) * 16) / 16)
    apart, of = np.unique(rounded, return_inverse=True)
    pairs = np.bincount(of, lost.counts[some] - 1)
    if apart.max(initial=0.0) > MOST_APART:
        return math.inf
    return math.fsum(many * change(float(each)) for each, many in zip(apart, pairs, strict=True))


def _scaled(lost: GroupingLoss, k: int) -> float:
    """Return a bound on the change of the logarithm by grouping of k people's bins, as all p lie within the factor (1 +
    apart) / (1 - apart) of their group's mean."""
    widest = float(lost.apart.max(initial=0.0))
    return math.inf if widest >= 1 else k * (math.log1p(widest) - math.log1p(-widest))


def _none_pair_change(apart: float) -> float:
    """Return the greatest change of a logarithm of a coefficient of (e^(ax) - ax)(e^(bx) - bx), a, b = (1 +- apart) s /
    2.

    m! / s^m times the coefficient of x^m is 1 - m ab (a^(m-2) + b^(m-2)) / s^m for m > 2, and (1 + apart^2) / 4 for m =
    2. Up to an apart of 1/2 each of them is monotone in it. Beyond the computed terms the change is below m ((1 +
    apart) / 2)^m, less than 1e-14 times that of m = 3.
    """
    m = np.arange(3, 203)
    change = np.abs(np.log(_pair_coefficient(m, apart) / _pair_coefficient(m, 0.0)))
    return max(float(change.max()), math.log1p(apart**2))


def _pair_coefficient(m: Integers, apart: float) -> Floats:
    log_power, halved = m - 2, m * math.log(2)
    both = (np.exp(log_power * math.log1p(end) - halved) for end in (apart, -apart))
    return np.asarray(1 - m * (1 - apart**2) * sum(both))
