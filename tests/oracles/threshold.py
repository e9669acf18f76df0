"""Unknown keys: counts of keys that no public domain names, released only strictly above a threshold.

A key that only one person holds would betray that person by appearing at all. With discrete Laplace noise of scale m
/ epsilon (m rows of a person at most) on the count of every key that occurs, and release where the noisy count is
strictly above the threshold T, keys that others hold too cost epsilon, and delta is the greatest probability that any
key of a single person's rows appears.

What is shown. Write a = e^(-epsilon / m): the noise is z with probability (1 - a) / (1 + a) a^|z|, and a count of c
<= T appears with p(c) = P(z > T - c) = a^(T - c + 1) / (1 + a). D' is D and a person more, who has c(x) rows with key
x, m at most together. `Own` keys are those that D lacks, u rows; the others are shared, v rows, u + v <= m. Let E be
that no own key appears in the release of D': P(not E) = 1 - product over own keys of (1 - p(c)). Shared keys have
noise of their own, so what they show does not depend on E; call its law R for D, R' for D'. For a set S of releases
in which no own key appears, D gives P(S) = R(S), and D' P'(S) = P(E) R'(S).

1. Counts of shared keys differ by v in all, so R'(S) <= a^-v R(S) and R(S) <= a^-v R'(S): what is thresholded is noisy
   already.
2. From D to D': any set of releases has at most P'(S) + P(not E), S being its part without own keys, and P'(S) <= R'(S)
   <= e^epsilon R(S). So delta = P(not E) is enough.
3. From D' to D: R(S) - e^epsilon P'(S) = R(S) - a^-m P(E) R'(S) <= R(S) (1 - a^(v - m) P(E)) <= 1 - P(E), since a^(v
   - m) >= 1. P(not E) is enough again.
4. P(not E) grows with every row of an own key, so the worst person has m rows in own keys. m keys of one row give
   1 - (1 - p(1))^m, one key of m rows p(m), which is more where e^(epsilon / m) is large: the maximum over all ways to
   spread m rows over keys is taken, by the sums of -ln(1 - p(c)).
5. No smaller delta is enough: where D is empty, "some key appears" has probability 0 without and P(not E) with the
   person.

p(c) is rounded upwards, with epsilon / m rounded to the side that makes each of its two factors larger; then delta by a
relative 1e-12 m. Enumerated, tables, outcomes and both directions, in tests/accounting/test_threshold.py.
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
