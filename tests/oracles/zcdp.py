"""Formulas of zero-concentrated differential privacy that no command calls, to compare those of the library with."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np

from crowdgate.accounting.discrete_laws import DiscreteGaussian
from tests.accounting import truth


def gaussian_rho(sensitivity: int, squared_sigma: Fraction) -> Fraction:
    """Return rho of discrete Gaussian noise on an integer vector with that L2 change: change^2 / (2 sigma^2)."""
    return Fraction(sensitivity) ** 2 / (2 * squared_sigma)


def zcdp_delta(rho: float | Fraction, epsilon: float | Fraction) -> float:
    """Return the delta at which rho-zCDP implies (epsilon, delta)-DP (Canonne, Kamath, Steinke 2020, Prop. 12)."""
    with mp.workdps(40):
        return float(truth.zcdp_delta(truth.real(rho), truth.real(epsilon)))


def renyi(law: DiscreteGaussian, order: float, shift: int) -> float:
    """Return the Renyi divergence of order > 1 between the noise and the noise moved by `shift`.

    order shift^2 / (2 sigma^2) + ln(S(order shift) / S(0)) / (order - 1), S(c) = sum over integers x of
    e^(-(x - c)^2 / (2 sigma^2)): at most the first term (Poisson summation), and exactly that where order shift is
    whole.
    """
    squared = float(law.squared_sigma)
    reach = math.ceil(40 * law.sigma) + 2
    x = np.arange(-reach, reach + 1, dtype=np.float64)
    moved = math.fsum(np.exp(-((x - math.fmod(order * shift, 1.0)) ** 2) / (2 * squared)))
    still = math.fsum(np.exp(-x * x / (2 * squared)))
    return order * shift * shift / (2 * squared) + math.log(moved / still) / (order - 1)
