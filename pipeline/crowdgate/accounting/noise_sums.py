"""Interval width, in standard errors, that contains any weighted sum of independent noises with a stated probability.

The probability is 95 % unless another one is stated.

1.96 suffices for Normal noise. One discrete Laplace noise needs 2.12 and more, and whole numbers are discrete. Let S =
sum a_j N_j be a sum with variance 1 of noises N_j, whose variances are at least 1/r^2. For each kind of noise there are
independent symmetric D_j such that N_j + D_j has a continuous distribution, or nearly one. With E = sum a_j D_j, for
each d > 0

    P(|S| > u) <= P(|S + E| > u - d) / P(E >= -d)

as E, being symmetric and independent of S, moves S back by more than d with probability P(E < -d) only.

Laplace. A discrete Laplace noise is the difference of two independent geometric ones, the whole parts of exponential
ones; the fractional parts are independent of the whole ones, so D_j is their difference and N_j + D_j is Laplace of
equal scale. A fractional part has, tilted by any factor, a variance of at most 1/12, so E is subgaussian with variance
at most r^2 / 6: P(E < -d) <= e^(-3 d^2 / r^2). S + E is symmetric with a log-concave density, as sums of such variables
are (Prekopa 1973), so `log_concave_quantile` bounds its tail.

Gaussian. Let D_j be Normal of variance t^2. The density of N_j + D_j is at most 1 + 2 sum_m e^(-2 pi^2 v m^2) times
that of a Normal distribution of variance sigma_j^2 + t^2, with v = sigma_j^2 t^2 / (sigma_j^2 + t^2) (Poisson
summation). So P(|S + E| > x) is at most the product of these factors over all noises times that of a Normal
distribution, and E is Normal of variance at most t^2 r^2.

Chebyshev's inequality, 4.48 standard errors for 95 %, always holds.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from crowdgate.accounting.discrete_laws import DiscreteGaussian, DiscreteLaplace, Law
from crowdgate.arrays import Floats
from crowdgate.system import lazy_libraries

MISS = 0.05
"""Probability that an interval misses, unless another one is stated."""
_STEPS = np.concatenate([[1e-3], np.linspace(0.0, 1.0, 401)[1:-1], 1 - np.geomspace(2.5e-3, 1e-9, 200)])
"""Steps that are closer at both ends: the maximum may be at a rate of nearly 0, or a distant cut."""
_SLACK = 1e-4
"""Bound on what such steps miss of a maximum."""


def width(laws: Sequence[Law], numbers: int, miss: float = MISS) -> Fraction:
    """Return the least multiple of the standard error, rounded up to thousandths, that is proved to contain each
    weighted sum of at most `numbers` noises of these distributions with probability 1 - `miss`: independent, of one
    kind. `miss` is above 0 and at most 0.05.

    For 0.05, from 1.96 (Gaussian) and 2.17 (Laplace) for wide noise to 4.48. Raises ValueError without distributions or
    for several kinds.
    """
    least = min((law.variance for law in laws), default=0.0)
    if not laws or len({type(law) for law in laws}) > 1:
        raise ValueError("laws must be of one kind, and at least one")
    found = 1 / math.sqrt(miss)
    if least > 0:
        laplace = [law for law in laws if isinstance(law, DiscreteLaplace)]
        gaussian = [law for law in laws if isinstance(law, DiscreteGaussian)]
        bound = _laplace(laplace, least, miss) if laplace else _gaussian(gaussian, least, numbers, miss)
        found = min(found, bound)
    return Fraction(math.ceil(found * 1000), 1000)


def _laplace(laws: Sequence[DiscreteLaplace], least: float, miss: float) -> float:
    stretch = math.sqrt(max(2 * float(law.scale) ** 2 / law.variance for law in laws))
    back = np.linspace(0.2, 3.0, 141) / math.sqrt(least)
    kept = -np.expm1(-3 * back**2 * least)
    return float((back + stretch * log_concave_quantile(miss * kept)).min())


def log_concave_quantile(miss: Floats) -> Floats:
    """Return the greatest x with P(|X| > x) = miss, over all symmetric X of variance 1 with a log-concave density.

    Let f be the density of |X| at x > 0, and p the probability beyond t. Replace f by the exponential density with
    equal mass below t and equal value at t, cut off above t such that p lies beyond t. On either side that moves mass
    towards 0 (a concave logarithm crosses a straight one from below), so its variance is smaller. So the worst
    distribution is an exponential one that is cut off, with rate k (in units of t) from 0 to ln(1/p): the maximum over
    k.
    """
    rates = _STEPS[:, None] * np.log(1 / miss)
    beyond = (np.exp(-rates) - miss) / (1 - miss)
    end = -np.log(beyond)
    squares = (2 - beyond * (end * end + 2 * end + 2)) / (rates * rates * (1 - beyond))
    laplace = np.log(1 / miss) / math.sqrt(2)
    return np.asarray(np.maximum((1 / np.sqrt(squares)).max(axis=0), laplace) + _SLACK)


def _gaussian(laws: Sequence[DiscreteGaussian], least: float, numbers: int, miss: float) -> float:
    smallest = float(min(law.squared_sigma for law in laws))
    return min(
        (_smoothed(laws, least, numbers, v, miss) for v in np.linspace(0.5, 2.0, 31) if v < smallest),
        default=math.inf,
    )


def _smoothed(laws: Sequence[DiscreteGaussian], least: float, numbers: int, v: float, miss: float) -> float:
    """Return a bound on the width, in standard errors, with Normal D_j of the variance t^2 for which v = sigma^2 t^2 /
    (sigma^2 + t^2) holds at the smallest sigma."""
    smallest = float(min(law.squared_sigma for law in laws))
    added = v * smallest / (smallest - v)
    ratio = 2 * math.fsum(math.exp(-2 * math.pi**2 * v * m * m) for m in range(1, 10))
    stretch = math.sqrt(max((float(law.squared_sigma) + added) / law.variance for law in laws))
    back = np.linspace(0.2, 4.0, 191) * math.sqrt(added / least)
    kept = miss * lazy_libraries.special.ndtr(back * math.sqrt(least / added)) * math.exp(-numbers * math.log1p(ratio))
    return float((back + stretch * -lazy_libraries.special.ndtri(kept / 2)).min())
