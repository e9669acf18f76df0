"""The only caller of OpenDP: exact samplers for discrete noise. Passed as an argument, so that tests can replace it.

No vectorised sampler takes its place, though OpenDP needs 6 to 16 microseconds a cell, most of the time of a release
of a million cells. A vector is one call already, and its conversions take .09 microseconds a cell. OpenDP's samplers
are proved for rational scales. A faster one would need a proof of its own that each draw has exactly the stated law,
also in the tails, where vectors of 64-bit numbers round; an audit of the law can refute such a sampler, not prove it.

Its parts are imported one by one, as its prelude imports scikit-learn, SciPy and pandas, if they are installed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, inf, log, log1p, nextafter, sqrt
from typing import Any

import numpy as np

from crowdgate.accounting.numbers import down, up
from crowdgate.arrays import Integers

CountNoise = Callable[[int, int, Fraction], int]
"""(count, sensitivity, epsilon) -> the count with epsilon-differentially private noise."""

Selector = Callable[[Sequence[int], int, Fraction], int]
"""(scores, sensitivity, epsilon) -> the place of a score, chosen with epsilon-differential privacy. The scores must all
rise or all fall when a row is added, each by at most the sensitivity."""

VectorNoise = Callable[[Integers, int, Fraction], Integers]
"""(counts, sensitivity, budget) -> the counts with independent noise on each that keeps the budget."""


Chooser = Callable[[Integers, int, Fraction], int]
"""(scores, sensitivity, rho) -> the place of a score, chosen with rho-zCDP, where one row changes each score by at most
the sensitivity, up or down."""


@dataclass(frozen=True)
class NoiseSource:
    """The samplers of noise for tables: `laplace` takes an L1 sensitivity and epsilon, `gaussian` an L2 sensitivity and
    rho."""

    laplace: VectorNoise
    gaussian: VectorNoise


@dataclass(frozen=True)
class ZcdpSource:
    """The samplers of releases under zCDP: `gaussian` adds noise for an L2 sensitivity and rho, `choose` selects one
    score privately."""

    gaussian: VectorNoise
    choose: Chooser


def discrete_laplace(count: int, sensitivity: int, epsilon: Fraction) -> int:
    """Return the count with discrete Laplace noise of scale sensitivity/epsilon (Ghosh, Roughgarden, Sundararajan
    2009).

    Raises ValueError unless sensitivity >= 1 and epsilon > 0.
    """
    if sensitivity < 1 or epsilon <= 0:
        raise ValueError("sensitivity must be at least 1 and epsilon positive")
    return int(_mechanism(sensitivity, epsilon)(count))


def _mechanism(sensitivity: int, epsilon: Fraction) -> Any:
    from opendp.measurements import make_laplace
    from opendp.metrics import absolute_distance
    from opendp.typing import i64

    limit = nextafter(float(epsilon), 0.0)
    scale = float(sensitivity / epsilon)
    while True:
        mechanism = make_laplace(_integer(), absolute_distance(T=i64), scale=scale)
        if mechanism.map(sensitivity) <= limit:
            return mechanism
        scale = nextafter(scale, inf)


def _integer() -> Any:
    """Return OpenDP's domain of 64-bit integers. OpenDP lists measurements as contributions, which are enabled here."""
    from opendp.domains import atom_domain
    from opendp.mod import enable_features
    from opendp.typing import i64

    enable_features("contrib")
    return atom_domain(T=i64)


def noisy_max(scores: Sequence[int], sensitivity: int, epsilon: Fraction) -> int:
    """Return the place of the greatest score after exponential noise of scale sensitivity/epsilon on each, drawn
    exactly.

    Equal in distribution to permute-and-flip (McKenna, Sheldon 2020). Scores that move in one direction together need
    half the noise of others. Raises ValueError unless there are scores, sensitivity >= 1 and epsilon > 0.
    """
    if not scores or sensitivity < 1 or epsilon <= 0:
        raise ValueError("scores must not be empty, sensitivity at least 1 and epsilon positive")
    chosen = int(_selection(sensitivity, epsilon)(list(scores)))
    assert 0 <= chosen < len(scores)
    return chosen


def _selection(sensitivity: int, epsilon: Fraction) -> Any:
    from opendp.domains import vector_domain
    from opendp.measurements import make_noisy_max
    from opendp.measures import max_divergence
    from opendp.metrics import linf_distance
    from opendp.typing import i64

    space = vector_domain(_integer()), linf_distance(T=i64, monotonic=True)
    limit, scale = down(epsilon), up(sensitivity / epsilon)
    while True:
        selection = make_noisy_max(*space, max_divergence(), scale=scale)
        if selection.map(sensitivity) <= limit:
            return selection
        scale = nextafter(scale, inf)


def gumbel_max(scores: Integers, sensitivity: int, rho: Fraction) -> int:
    """Return the place of the greatest score after Gumbel noise of scale b = sensitivity/sqrt(2 rho) on each: place i
    with probability proportional to e^(score/b), the exponential mechanism.

    If each score changes by at most the sensitivity, two log-odds change by at most twice that over b, which is
    (sensitivity/b)^2/2-zCDP (Cesar, Rogers 2021, "Bounding, concentrating, and truncating", Lemma 3.4). Raises
    ValueError unless there are scores of 64 bits, sensitivity >= 1 and rho > 0.
    """
    if not len(scores):
        raise ValueError("scores must not be empty")
    _check(scores, sensitivity, rho, "rho")
    chosen = int(_choice(sensitivity, rho)(scores))
    assert 0 <= chosen < len(scores)
    return chosen


@lru_cache(maxsize=1024)
def _choice(sensitivity: int, rho: Fraction) -> Any:
    from opendp.measurements import make_noisy_max
    from opendp.measures import zero_concentrated_divergence
    from opendp.metrics import linf_distance
    from opendp.typing import i64

    def make(domain: Any, metric: Any, scale: float) -> Any:
        return make_noisy_max(domain, metric, zero_concentrated_divergence(), scale=scale)

    scale = _root_up(Fraction(sensitivity**2) / (2 * rho))
    return _least_scale(make, linf_distance(T=i64), scale, sensitivity, rho)


def laplace_quantile(sensitivity: int, epsilon: Fraction, alpha: float) -> int:
    """Return the least whole number q from 0 on with P(X > q) <= alpha, where X is discrete Laplace noise of scale
    sensitivity/epsilon: for one-sided confidence limits of a noisy count.

    P(X >= m) = a^m / (1 + a) with a = e^(-epsilon/sensitivity), m >= 0. The scale in use may be larger by some units in
    the last place, hence the slack of 1e-9 in epsilon.
    """
    rate = float(epsilon / sensitivity) * (1 - 1e-9)
    return max(0, ceil((-log(alpha) - log1p(exp(-rate))) / rate) - 1)


def laplace_vector(values: Integers, sensitivity: int, epsilon: Fraction) -> Integers:
    """Return integers with discrete Laplace noise of scale sensitivity/epsilon each: epsilon-DP for that L1
    sensitivity.

    Raises ValueError unless sensitivity >= 1 and epsilon > 0, or if the values are no integers of 64 bits.
    """
    _check(values, sensitivity, epsilon, "epsilon")
    return _noisy(_laplace_on_vectors(sensitivity, epsilon), values)


def gaussian_vector(values: Integers, sensitivity: int, rho: Fraction) -> Integers:
    """Return integers with discrete Gaussian noise of sigma = sensitivity/sqrt(2 rho) each: rho-zCDP for that L2
    sensitivity.

    Canonne, Kamath, Steinke 2020, Theorem 14. Raises ValueError as `laplace_vector`.
    """
    _check(values, sensitivity, rho, "rho")
    return _noisy(_gaussian_on_vectors(sensitivity, rho), values)


_MOST_STEPS = 1000
"""Units in the last place by which a scale may grow until OpenDP's map, which rounds up, agrees with the plan."""

_MECHANISMS = 1024
"""Number of budgets whose OpenDP mechanism is cached: it holds no state but its scale."""

OPENDP = NoiseSource(laplace_vector, gaussian_vector)


def _check(values: Integers, sensitivity: int, budget: Fraction, name: str) -> None:
    if sensitivity < 1 or budget <= 0:
        raise ValueError(f"sensitivity must be at least 1 and {name} positive")
    if values.dtype != np.int64:
        raise ValueError(f"values must be 64-bit integers, not {values.dtype}: sums of floats are not exact")


def _noisy(mechanism: Any, values: Integers) -> Integers:
    drawn = mechanism(np.array(values, dtype=np.int64).reshape(-1)) if values.size else []
    return np.array(drawn, dtype=np.int64).reshape(values.shape)


@lru_cache(maxsize=_MECHANISMS)
def _laplace_on_vectors(sensitivity: int, epsilon: Fraction) -> Any:
    from opendp.measurements import make_laplace
    from opendp.metrics import l1_distance
    from opendp.typing import i64

    return _least_scale(make_laplace, l1_distance(T=i64), up(sensitivity / epsilon), sensitivity, epsilon)


@lru_cache(maxsize=_MECHANISMS)
def _gaussian_on_vectors(sensitivity: int, rho: Fraction) -> Any:
    from opendp.measurements import make_gaussian
    from opendp.metrics import l2_distance
    from opendp.typing import i64

    scale = _root_up(Fraction(sensitivity**2) / (2 * rho))
    return _least_scale(make_gaussian, l2_distance(T=i64), scale, sensitivity, rho)


def _root_up(squared: Fraction) -> float:
    """Return the square root of `squared`, rounded up to a float."""
    root = sqrt(squared)
    while Fraction(root) ** 2 < squared:
        root = nextafter(root, inf)
    return root


def _least_scale(make: Callable[..., Any], metric: Any, scale: float, sensitivity: int, budget: Fraction) -> Any:
    """Return OpenDP's mechanism `make` with the least noise scale, from `scale` on, whose privacy cost at this
    sensitivity is at most `budget` by OpenDP's own map."""
    from opendp.domains import vector_domain

    limit = down(budget)
    for _ in range(_MOST_STEPS):
        mechanism = make(vector_domain(_integer()), metric, scale=scale)
        if mechanism.map(sensitivity) <= limit:
            return mechanism
        scale = nextafter(scale, inf)
    raise AssertionError("the planned scale does not keep the budget by OpenDP's map: the plan is wrong")
