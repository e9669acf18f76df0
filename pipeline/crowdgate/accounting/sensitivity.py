"""Largest change of a figure by one row."""

import math

from crowdgate.accounting.binomial import log_mass, log_tail
from crowdgate.accounting.numbers import Number, probability, raised, up, whole
from crowdgate.accounting.safe_k_exact import slack
from crowdgate.limits import GREATEST_K


def expected_kept_rows(k: Number, beta: Number) -> float:
    """Return the sensitivity, add or remove one row, of the expected number of rows retained after sampling and
    suppression below `k`.

    The score is the sum over classes of E[J 1(J >= k)], J ~ Bin(class size, beta). A row that joins a class of n adds
    beta (P(Bin(n, beta) >= k) + k P(Bin(n, beta) = k - 1)). From n to n + 1 this grows exactly while n + 2 < k / beta,
    so that its maximum is at n = max(k - 1, ceil(k / beta) - 2). In rows, from beta to k; rounded up.
    """
    least, b = whole("k", k, 1, GREATEST_K), up(probability("beta", beta))
    if b == 0 or b == 1 or least == 1:
        return b * least
    n = max(least - 1, math.ceil(least / max(b, 1e-290)) - 2)
    at_least, just_below = log_tail(least, n, b, 1 - b), log_mass(least - 1, n - least + 1, b, 1 - b)
    gain = math.exp(at_least) + least * math.exp(just_below)
    return raised(b * gain, math.expm1(slack(least, just_below)))
