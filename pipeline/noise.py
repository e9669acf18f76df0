"""The only caller of OpenDP: exact samplers for discrete noise. Passed as an argument, so that tests can replace it."""

from collections.abc import Callable
from fractions import Fraction
from math import ceil, exp, inf, log, log1p, nextafter
from typing import Any

Noise = Callable[[int, int, Fraction], int]
"""(count, sensitivity, epsilon) -> the count with noise that makes it epsilon-differentially private."""


def discrete_laplace(count: int, sensitivity: int, epsilon: Fraction) -> int:
    """The count with discrete Laplace noise of scale sensitivity/epsilon (Ghosh, Roughgarden, Sundararajan 2009).

    Raises ValueError unless sensitivity >= 1 and epsilon > 0.
    """
    if sensitivity < 1 or epsilon <= 0:
        raise ValueError("sensitivity must be at least 1 and epsilon positive")
    return int(_mechanism(sensitivity, epsilon)(count))


def _mechanism(sensitivity: int, epsilon: Fraction) -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    limit = nextafter(float(epsilon), 0.0)
    scale = float(sensitivity / epsilon)
    while True:
        mechanism = dp.m.make_laplace(dp.atom_domain(T=dp.i64), dp.absolute_distance(T=dp.i64), scale=scale)
        if mechanism.map(sensitivity) <= limit:
            return mechanism
        scale = nextafter(scale, inf)


def laplace_quantile(sensitivity: int, epsilon: Fraction, alpha: float) -> int:
    """The least q with P(noise > q) <= alpha, for one-sided limits of a noisy count.

    P(noise >= m) = a^m / (1 + a) with a = e^(-epsilon/sensitivity). The scale that is used may be larger by some units
    in the last place, hence the slack of 1e-9 in epsilon.
    """
    rate = float(epsilon / sensitivity) * (1 - 1e-9)
    return max(0, ceil((-log(alpha) - log1p(exp(-rate))) / rate) - 1)
