"""Exact confidence limits for a probability."""

import math

from scipy.special import betainccinv, betaincinv

from crowdgate.accounting.numbers import Number, probability, raised, whole


def clopper_pearson(successes: Number, trials: Number, alpha: Number) -> tuple[float, float]:
    """(lower, upper) limits, each wrong with probability at most `alpha` (one-sided), 0 < alpha < 1.

    C. Clopper, E. Pearson, Biometrika 26, 1934. Rounded outwards by a relative 1e-12. No trials give (0, 1).
    """
    n = whole("trials", trials, 0)
    s = whole("successes", successes, 0, n)
    a = float(probability("alpha", alpha, open_low=True, open_high=True))
    lower = float(betaincinv(s, n - s + 1, a)) if s > 0 else 0.0
    return lower * (1 - 1e-12), min(1.0, raised(_upper(s, n, a), 1e-12))


def _upper(s: int, n: int, alpha: float) -> float:
    if s == n:
        return 1.0
    return -math.expm1(math.log(alpha) / n) if s == 0 else float(betainccinv(s + 1, n - s, alpha))
