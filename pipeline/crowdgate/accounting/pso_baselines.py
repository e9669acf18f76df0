"""Success of attackers without access to the release: the baselines that singling out is compared with.

A. Cohen, K. Nissim, Towards formalizing the GDPR's notion of singling out (arXiv version), section 3.2. Each is a
supremum over predicates, rounded up. Their Claim 3.1 takes it over the weights of existing predicates; here all weights
count. A share of a 64-bit tag that the mechanism never reads has any multiple of 2^-64 as its weight, between two of
which B(n, w) changes by at most n 2^-64; if weights are coarser these are still bounds.
"""

import math
from fractions import Fraction

import numpy as np

from crowdgate.accounting.numbers import Number, exp_up, probability, up, whole
from crowdgate.accounting.pso import counts_bound

_LARGEST_POPULATION = 10**12
_SLACK = 1e-14
"""Relative error of a sum of the logarithms of at most a million factors."""


def best_baseline(n: Number, w_max: Number) -> float:
    """Return the greatest B(n, w) = n w (1 - w)^(n - 1) of a weight w up to `w_max`, rounded up: B rises up to w =
    1/n."""
    rows, weight = whole("n", n, 1), probability("w_max", w_max)
    return counts_bound(rows, min(weight, Fraction(1, rows)), 0)


def baseline_up_to(n: Number, w_max: Number) -> float:
    """Return the greatest `best_baseline` of at most `n` rows, rounded up: for a number of rows with only a bound.

    B(n', w) / B(n' - 1, w) = n' (1 - w) / (n' - 1) is at least 1 up to n' = 1/w. Beyond 1/w_max the best is (1 -
    1/n')^(n' - 1), which falls with n' and starts no higher: at w = 1/n' the ratio is 1, and B(n' - 1, w) rises up to
    w_max <= 1/(n' - 1). So the greatest is that of min(n, floor(1 / w_max)) rows.
    """
    rows, weight = whole("n", n, 1), probability("w_max", w_max)
    return best_baseline(min(rows, math.floor(1 / weight)) if weight else rows, weight)


def finite_baseline(n: Number, population: Number, w_max: Number) -> float:
    """Return the greatest success of a predicate of weight up to `w_max` when the `n` rows are drawn without
    replacement from `population` rows with individual tags, rounded up.

    Drawn first, the tags leave a set of m rows of the population that match, w N of them on average; then exactly one
    of them is among the n with probability H(m) = m C(N - m, n - 1) / C(N, n). H rises up to floor(N / n) and is
    concave up to there (up to m n <= 2N + 2 - n), so that E H(m) is at most the line between its neighbours at w N, and
    never more than its maximum. Single rows for the whole part of w N and a share of one more row reach this bound: n w
    for w up to 1/N, and 1 for n = N at w = 1/N.
    """
    everyone = whole("population", population, 1, _LARGEST_POPULATION)
    rows, weight = whole("n", n, 1, everyone), probability("w_max", w_max)
    matching = min(weight * everyone, Fraction(everyone // rows))
    below = math.floor(matching)
    more = matching - below
    value = (1 - more) * _exactly_one(rows, everyone, below)
    return min(1.0, up(value + more * _exactly_one(rows, everyone, below + 1) if more else value))


def _exactly_one(n: int, population: int, m: int) -> Fraction:
    """Return H(m), the probability that exactly one of m matching rows of the population is among n drawn ones, rounded
    up, for m up to its maximum: (n m / N) times the fewer of m - 1 or n - 1 factors of at least one half.

    C(N - m, n - 1) / C(N - 1, n - 1) is the product over j < m of 1 - (n - 1) / (N - j), in which m - 1 and n - 1 may
    be exchanged.
    """
    few, many = sorted((m - 1, n - 1))
    expected = Fraction(n * m, population)
    if few <= 0:
        return expected
    log = float(np.sum(np.log1p(-many / (population - np.arange(1.0, few + 1)))))
    return expected * Fraction(exp_up(log * (1 - _SLACK)))
