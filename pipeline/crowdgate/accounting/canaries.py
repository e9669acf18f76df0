"""Lower confidence limits of epsilon from guesses about canaries (Steinke, Nasr, Jagielski 2023, Theorem 5.2).

Each of M canaries is a privacy unit that is in the table with probability one half, independently. An attacker reads
one release, or several of fresh tables, and guesses for m canaries of its choice whether they are in. If the mechanism
is (epsilon, delta)-differentially private for adding or removing a unit, then

    P(right >= r) <= P(B >= r) + 2 M delta max_i P(r - i <= B < r) / i,  B ~ Bin(m, 1 / (1 + e^-epsilon)).
"""

import math

from crowdgate.accounting.numbers import Number, probability, whole

MOST_EPSILON = 40.0
"""Greatest limit that is searched."""
_SLACK = 1e-9
"""Relative allowance for rounding in sums of binomial probabilities."""


def canary_p(right: Number, guesses: Number, canaries: Number, epsilon: float, delta: Number) -> float:
    """Return the p-value of (epsilon, delta)-differential privacy, rounded up: the greatest probability of at least
    `right` right guesses among `guesses`, of `canaries` canaries in all. Raises ValueError for numbers out of range."""
    m = whole("guesses", guesses, 0)
    r, total = whole("right", right, 0, m), whole("canaries", canaries, m)
    lost = float(probability("delta", delta))
    if r == 0:
        return 1.0
    masses = _masses(m, 1 / (1 + math.exp(-epsilon)))
    beyond, below, most = math.fsum(masses[r:]), 0.0, 0.0
    for i in range(1, r + 1) if lost else ():
        below += masses[r - i]
        most = max(most, below / i)
    return min(1.0, (beyond + 2 * total * lost * most) * (1 + _SLACK))


def epsilon_limit(right: Number, guesses: Number, canaries: Number, delta: Number, alpha: Number) -> float:
    """Return the lower confidence limit of epsilon at this delta, rounded down: every smaller epsilon has a p-value of
    at most `alpha`. 0 if nothing is refuted."""
    level, low, high = float(probability("alpha", alpha)), 0.0, MOST_EPSILON
    if canary_p(right, guesses, canaries, low, delta) > level:
        return 0.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        refuted = canary_p(right, guesses, canaries, middle, delta) <= level
        low, high = (middle, high) if refuted else (low, middle)
    return low


def _masses(m: int, q: float) -> list[float]:
    """Return P(Bin(m, q) = v) for v = 0, ..., m."""
    if q >= 1:
        return [0.0] * m + [1.0]
    log_in, log_out = math.log(q), math.log1p(-q)
    whole_log = math.lgamma(m + 1)
    return [
        math.exp(whole_log - math.lgamma(v + 1) - math.lgamma(m - v + 1) + v * log_in + (m - v) * log_out)
        for v in range(m + 1)
    ]
