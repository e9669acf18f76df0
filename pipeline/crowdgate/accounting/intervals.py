"""Exact confidence limits for a probability."""

import math
from collections.abc import Callable
from functools import lru_cache

from crowdgate.accounting.binomial import log_tail
from crowdgate.accounting.numbers import Number, down, probability, whole
from crowdgate.accounting.safe_k_exact import slack
from crowdgate.system import lazy_libraries

_NEAR = 1e-9
_NEAR_ENOUGH = 1e-13


def clopper_pearson(successes: Number, trials: Number, alpha: Number) -> tuple[float, float]:
    """Return (lower, upper) limits, each wrong with probability at most `alpha` (one-sided), 0 < alpha < 1.

    C. Clopper, E. Pearson, Biometrika 26, 1934. Rounded outwards: the tail at each limit is at most alpha, and hardly
    less. No trials give (0, 1).
    """
    n = whole("trials", trials, 0)
    s = whole("successes", successes, 0, n)
    return _limits(s, n, down(probability("alpha", alpha, open_low=True, open_high=True)))


@lru_cache(maxsize=1 << 12)  # audits ask for the same limits many times
def _limits(s: int, n: int, a: float) -> tuple[float, float]:
    """Return the limits of `s` successes in `n` trials, each wrong with probability at most `a`."""

    def at_most(log: float) -> bool:
        return log + slack(min(s, n - s), log) <= math.log(a)

    def above(p: float) -> bool:
        """Return whether P(Bin(trials, p) >= successes) <= alpha."""
        return at_most(log_tail(s, n, p, 1 - p))

    def below(p: float) -> bool:
        """Return whether P(Bin(trials, p) <= successes) <= alpha."""
        return at_most(log_tail(n - s, n, 1 - p, p))

    lower = _last(above, float(lazy_libraries.special.betaincinv(s, n - s + 1, a)), 0.0) if s > 0 else 0.0
    upper = _last(below, float(lazy_libraries.special.betainccinv(s + 1, n - s, a)), 1.0) if s < n else 1.0
    return lower, upper


def _last(holds: Callable[[float], bool], guess: float, good: float) -> float:
    """Return nearly the last number for which `holds`, between `good`, where it holds, and 1 - good, where it does not.
    The guess saves work; for small alpha it can be far off."""
    bad, towards = 1 - good, 1 - _NEAR if good == 0 else 1 + _NEAR
    for tried in (guess * towards, guess / towards):
        good, bad = (tried, bad) if 0 < tried < 1 and holds(tried) else (good, tried if 0 < tried < 1 else bad)
    while abs(bad - good) > _NEAR_ENOUGH * min(bad, good) and good != (middle := (good + bad) / 2) != bad:
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good
