"""Sampling plus safe k-anonymisation: delta from k, and k, beta or epsilon from delta.

Each row is sampled with probability beta by secret random bits, generalised in a way that does not depend on the
sample, and published if its class has at least k sampled rows. `exact_delta` is the least delta of this mechanism, add
or remove one row; `theorem5_delta` is the published bound. The solvers use the chosen delta, rounded up, so their
results are valid.
"""

import math
from collections.abc import Callable
from typing import Literal

from crowdgate.accounting.numbers import Number, down, epsilon_of, exact, exp_up, probability, up, whole
from crowdgate.accounting.safe_k_exact import (
    delta_at,
    delta_of,
    exact_delta,
    gamma,
    log_binomial_tail,
    log_exact_delta,
)
from crowdgate.accounting.safe_k_same_sample import same_sample_delta
from crowdgate.accounting.safe_k_theorem5 import (
    chernoff_delta,
    log_theorem5,
    log_theorem5_up_to,
    theorem5_arguments,
    theorem5_delta,
    theorem5_greatest_beta,
    theorem5_least_epsilon,
)
from crowdgate.accounting.safe_k_variants import delta_sizes_published, person_coin_delta
from crowdgate.limits import GREATEST_K
from crowdgate.number_text import Rounding, decimal

__all__ = [
    "chernoff_delta",
    "delta_at",
    "delta_sizes_published",
    "exact_delta",
    "gamma",
    "greatest_beta",
    "least_epsilon",
    "least_k",
    "log_binomial_tail",
    "log_exact_delta",
    "person_coin_delta",
    "same_sample_delta",
    "theorem5_delta",
    "theorem5_greatest_beta",
    "theorem5_least_epsilon",
]

Bound = Literal["exact", "theorem5"]
LEAST_DELTA = "1e-300"
_VAST_EPSILON = 100.0  # beyond it delta is beta^k for every k up to 10^9


def least_k(epsilon: Number, delta: Number, beta: Number, bound: Bound = "exact") -> int:
    """Return the smallest k whose delta is at most `delta`.

    Raises ValueError if no k up to 10^9 is enough, as at beta = 1, or for Theorem 5 below -ln(1 - beta).
    """
    target, b, eps = _target(delta), up(probability("beta", beta)), down(epsilon_of(epsilon))
    if _kind(bound) == "theorem5":
        theorem5_arguments(1, beta, epsilon)
    delta_for = _delta_of(bound)
    high = 1
    while not delta_for(high, b, eps) <= target:
        if high == GREATEST_K:
            raise ValueError(
                f"beta, epsilon and delta must be reachable by a k of at most {GREATEST_K}: none is enough"
            )
        high = min(2 * high, GREATEST_K)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if delta_for(middle, b, eps) <= target else (middle, high)
    return high


def greatest_beta(epsilon: Number, delta: Number, k: Number, bound: Bound = "exact") -> float:
    """Return the greatest sampling rate up to which the delta is at most `delta`.

    Theorem 5's delta can fall below `delta` again at some greater rates: for k = 10, epsilon = .5, delta = 1e-6 the
    result is .0676, and .0714 would also suffice. The exact delta is monotone. Raises ValueError for Theorem 5 at
    epsilon = 0.
    """
    target, eps, least = _target(delta), down(epsilon_of(epsilon)), whole("k", k, 1, GREATEST_K)
    highest = 1.0 if _kind(bound) == "exact" else math.nextafter(-math.expm1(-eps), 0.0)
    if highest <= 0:
        raise ValueError("epsilon must be above 0 for Theorem 5")
    delta_up_to = _delta_of("exact") if bound == "exact" else _theorem5_up_to
    if delta_up_to(least, highest, eps) <= target:
        return highest
    high = low = min(highest, math.nextafter(target ** (1 / least), 2.0))
    while not delta_up_to(least, low, eps) <= target:
        high, low = low, low / 16
        if low < float(LEAST_DELTA):
            return 0.0
    return _last(lambda b: delta_up_to(least, b, eps) <= target, low, high)


def least_epsilon(delta: Number, k: Number, beta: Number, bound: Bound = "exact") -> float:
    """Return the smallest epsilon whose delta is at most `delta`; for Theorem 5 at least -ln(1 - beta).

    Raises ValueError if beta^k is above `delta`: then no epsilon is enough.
    """
    target, least, b = _target(delta), whole("k", k, 1, GREATEST_K), up(probability("beta", beta))
    low = 0.0
    if _kind(bound) == "theorem5":
        low = theorem5_least_epsilon(probability("beta", beta, open_low=True, open_high=True))
    delta_for = _delta_of(bound)
    if delta_for(least, b, low) <= target:
        return low
    high = 1.0 + low
    while not delta_for(least, b, high) <= target:
        if high > _VAST_EPSILON:
            reached, asked = decimal(b**least), decimal(target, rounding=Rounding.DOWN)
            raise ValueError(f"delta must be at least beta^k = {reached} for this beta and k, not {asked}")
        high *= 2
    return -_last(lambda eps: delta_for(least, b, -eps) <= target, -high, -low)


def _target(delta: Number) -> float:
    return down(exact("delta", delta, LEAST_DELTA, 1))


def _kind(bound: str) -> str:
    if bound not in ("exact", "theorem5"):
        raise ValueError(f"bound must be 'exact' or 'theorem5', not {bound!r}")
    return bound


def _delta_of(bound: str) -> Callable[[int, float, float], float]:
    return delta_of if bound == "exact" else _theorem5


def _theorem5(k: int, b: float, eps: float) -> float:
    return exp_up(log_theorem5(k, b, eps))


def _theorem5_up_to(k: int, b: float, eps: float) -> float:
    return exp_up(log_theorem5_up_to(k, b, eps))


def _last(holds: Callable[[float], bool], good: float, bad: float) -> float:
    """Return the last float from `good`, where `holds`, towards the greater `bad`, where it does not."""
    while good < (middle := good + (bad - good) / 2) < bad:
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good
