"""Zero-concentrated differential privacy: rho of discrete Gaussian noise, composition, conversion to (epsilon, delta).

M is rho-zCDP if the Renyi divergence of order a between its outputs on neighbouring tables is at most rho a for each a
> 1 (Bun, Steinke 2016). rho adds up under adaptive composition. The conversion is that of Canonne, Kamath, Steinke 2020
("The discrete Gaussian for differential privacy", Proposition 12): for each a > 1, delta = e^((a - 1)(a rho - epsilon))
/ (a - 1) (1 - 1/a)^a. Below a = 1 + t, and t is the best one; as each t is valid, an inexact t costs accuracy only,
never the guarantee.
"""

import math
from collections.abc import Callable
from fractions import Fraction

from crowdgate.accounting.numbers import Number, down, epsilon_of, exact, probability, raised, up, whole

GREATEST_RHO = 10**6
_SLACK = 1e-14
"""Relative slack of a sum, in parts of its sum of absolute terms: many times the possible rounding error."""
_STEPS = 200


def squared_sigma(sensitivity: Number, rho: Number) -> Fraction:
    """Return the least sigma^2 at which discrete Gaussian noise is rho-zCDP: sensitivity^2 / (2 rho), exactly."""
    change = whole("sensitivity", sensitivity, 1)
    return change**2 / (2 * _rho(rho, open_low=True))


def zcdp_epsilon(rho: Number, delta: Number, *, again: bool = False) -> float:
    """Return the least epsilon for which this conversion gives (epsilon, delta)-DP, rounded up. delta in (0, 1).

    `again` halves the slack for rounding. The result is still an upper bound, and at most the result of another machine
    with the full slack, whose logarithms may differ in the last bit.
    """
    r = up(_rho(rho))
    log = -math.log(down(probability("delta", delta, open_low=True, open_high=True)))
    if r == 0:
        return 0.0
    t = _root(lambda t: r * t * t + math.log1p(t) - log)
    terms = ((1 + t) * r, log / t, *(term / t for term in _shape(t)))
    return max(0.0, _sum_up(terms, _SLACK / 2 if again else _SLACK))


def greatest_rho(epsilon: Number, delta: Number) -> Fraction:
    """Return the greatest rho (a float, as a Fraction) whose (epsilon, delta)-DP `zcdp_epsilon` confirms.

    delta in (0, 1). Raises ValueError also if no positive rho is confirmed.
    """
    limit = epsilon_of(epsilon)
    spent = probability("delta", delta, open_low=True, open_high=True)

    def within(rho: float) -> bool:
        return Fraction(zcdp_epsilon(rho, spent)) <= limit

    low, high = 0.0, 1.0
    while high < GREATEST_RHO / 2 and within(high):
        low, high = high, 2 * high
    for _ in range(_STEPS):
        middle = (low + high) / 2 if low else high / 16
        if not low < middle < high or middle < 1e-300:
            break
        low, high = (middle, high) if within(middle) else (low, middle)
    if not low:
        raise ValueError("epsilon must be larger: no rho above 0 is within it at this delta")
    return Fraction(low)


def _rho(rho: Number, *, open_low: bool = False) -> Fraction:
    return exact("rho", rho, 0, GREATEST_RHO, open_low=open_low)


def _shape(t: float) -> tuple[float, float]:
    """Return t ln t and -(1 + t) ln(1 + t): the logarithm of (1 - 1/a)^a / (a - 1), at a = 1 + t, is their sum."""
    return t * math.log(t), -(1 + t) * math.log1p(t)


def _sum_up(terms: tuple[float, ...], room: float = _SLACK) -> float:
    """Return the sum, with slack for the rounding of each term."""
    total = math.fsum(terms) + room * math.fsum(map(abs, terms))
    return raised(total) if total > 0 else total


def _root(rising: Callable[[float], float]) -> float:
    """Return the zero of a rising function of t > 0, by bisection of ln t."""
    low, high = -200.0, 200.0
    for _ in range(100):
        middle = (low + high) / 2
        if not low < middle < high:  # neighbouring floats: further steps change neither
            break
        low, high = (middle, high) if rising(math.exp(middle)) < 0 else (low, middle)
    return math.exp((low + high) / 2)
