"""Unknown keys: counts of keys that no public domain names, released only strictly above a threshold.

A key that only one person holds would betray that person by appearing at all. With discrete Laplace noise of scale
m / epsilon (m rows of a person at most) on the count of every key that occurs, and release where the noisy count is
strictly above the threshold, keys that others hold too cost epsilon, and delta is the greatest probability that any key
of a single person's rows appears. m keys of one row each give 1 - (1 - p(1))^m, p(c) = P(c + noise > threshold); c rows
in one key give p(c), which is more than c keys of one row where e^(epsilon / m) is large: the maximum over all ways to
spread m rows over keys is taken.
"""

import math
from fractions import Fraction

from crowdgate.accounting.numbers import Number, down, exact, exp_up, probability, raised, up, whole


def threshold_delta(threshold: Number, epsilon: Number, rows: Number) -> float:
    """The exact delta of the selection, rounded up; `rows` is m. threshold >= m, or a single person passes half the
    time."""
    m, eps = whole("rows", rows, 1, 10_000), exact("epsilon", epsilon, 0, 10**6, open_low=True)
    limit = whole("threshold", threshold, m)
    losses = [0.0] + [-math.log1p(-appears(c, limit, eps, m)) for c in range(1, m + 1)]
    best = [0.0]
    for size in range(1, m + 1):
        best.append(max(losses[c] + best[size - c] for c in range(1, size + 1)))
    return min(1.0, raised(-math.expm1(-best[m]), 1e-12 * m))


def appears(count: int, threshold: int, epsilon: Fraction, rows: int) -> float:
    """P(count + noise > threshold), rounded up, for count <= threshold: a^(threshold - count + 1) / (1 + a)."""
    rate = down(epsilon / rows)
    log = -rate * (threshold - count + 1) - math.log1p(math.exp(-up(epsilon / rows)))
    return exp_up(log + 1e-14 * (1 + abs(log)))


def least_threshold(epsilon: Number, delta: Number, rows: Number) -> int:
    """The least threshold whose delta is at most `delta` in (0, 1)."""
    m, limit = whole("rows", rows, 1, 10_000), probability("delta", delta, open_low=True, open_high=True)
    low, high = m - 1, m
    while threshold_delta(high, epsilon, m) > limit:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if threshold_delta(middle, epsilon, m) > limit else (low, middle)
    return high
