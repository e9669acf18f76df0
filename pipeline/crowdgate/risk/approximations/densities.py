"""Sections 5.2.4 and 5.3.3: bins of a density phi on [0, 1], where the probability of bin i is the integral from
(i-1)/N to i/N."""

import math
from collections.abc import Callable

from crowdgate.accounting.numbers import Number, exact
from crowdgate.risk.approximations import inputs

Density = Callable[[float], float]


def ES_limit_linear_density(gamma: Number, a: Number) -> float:
    """Limit of E S / N, the expected singletons for each bin, with a people for each bin and the density phi(x) = gamma
    (x - 1/2) + 1, -2 <= gamma <= 2 (Example 5.8: Proposition 5.7 in closed form).

    e^-a ((a + 1) sinh(z) / z - cosh(z)), z = a gamma / 2. (The thesis's first integral goes to 1, not to infinity.)
    """
    ratio = inputs.ratio(a)
    z = abs(ratio * _slope(gamma) / 2)
    top, bottom = math.exp(z - ratio), math.exp(-z - ratio)
    mean = -math.expm1(-2 * z) / (2 * z) * top if z > 0 else top
    return (ratio + 1) * mean - (top + bottom) / 2


def argmax_a_gamma2() -> float:
    """Example 5.8: the a for which (1 - e^-2a - 2a e^-2a) / (2a), its limit for gamma = 2, is greatest: 0.8966.

    A zero of the derivative: (b^2 + b + 1) e^-b = 1 at b = 2a.
    """
    from scipy.optimize import brentq

    return float(brentq(lambda b: (b * b + b + 1) * math.exp(-b) - 1, 1, 3, xtol=1e-14)) / 2


def kappa_linear_density(gamma: Number) -> float:
    """Kullback-Leibler distance of the density phi(x) = gamma (x - 1/2) + 1 to the uniform one (Example 5.8): int phi
    ln phi = ((1+g)^2 ln(1+g) - (1-g)^2 ln(1-g) - 2g) / (4g), g = gamma / 2. (Printed: - 1 for the - gamma at the end.)
    For small g its series is used."""
    g = abs(_slope(gamma)) / 2
    if g < 0.1:
        return math.fsum(g ** (2 * m) / ((2 * m - 1) * 2 * m * (2 * m + 1)) for m in range(1, 9))
    low = (1 - g) ** 2 * math.log(1 - g) if g < 1 else 0.0
    return ((1 + g) ** 2 * math.log(1 + g) - low - 2 * g) / (4 * g)


def VarS_limit_density_corrected(density: Density, a: Number) -> float:
    """Proposition 5.11: Var S / N tends to int (p - p^2) - a (int phi (1 - phi a) e^(-phi a))^2, p = phi a e^(-phi a).

    Printed: int a phi (1 - a^2 phi) e^(-phi a), which can be negative. The conjecture of a Normal limit is for (S - E
    S) / sqrt(Var S), where the thesis divides Var S by N.
    """
    ratio = inputs.ratio(a)

    def own(x: float) -> float:
        p = _singleton_density(_at(density, x), ratio)
        return p - p * p

    def shared(x: float) -> float:
        phi = _at(density, x)
        return phi * (1 - phi * ratio) * math.exp(-phi * ratio)

    return _integral(own, density) - ratio * _integral(shared, density) ** 2


def VarS_limit_linear_density_corrected(gamma: Number, a: Number) -> float:
    """Limit of Var S / N, S the number of singletons, with a people for each bin and the density phi(x) = gamma (x -
    1/2) + 1, -2 <= gamma <= 2: Proposition 5.11 as corrected."""
    slope = _slope(gamma)
    return VarS_limit_density_corrected(lambda x: slope * (x - 0.5) + 1, a)


def _slope(gamma: Number) -> float:
    return float(exact("gamma", gamma, -2, 2))


def _singleton_density(phi: float, a: float) -> float:
    return phi * a * math.exp(-phi * a)


def _at(density: Density, x: float) -> float:
    value = density(x)
    if not value >= 0:
        raise ValueError(f"density must not be negative, as it is at {x:g}")
    return value


def _integral(value: Density, density: Density) -> float:
    from scipy.integrate import quad

    mass, _ = quad(density, 0, 1, epsabs=1e-10, limit=200)
    if abs(mass - 1) > 1e-6:
        raise ValueError(f"density must integrate to 1 over [0, 1] within 1e-6, not to {mass:.6g}")
    found, _ = quad(value, 0, 1, epsabs=1e-12, epsrel=1e-12, limit=200)
    return float(found)
