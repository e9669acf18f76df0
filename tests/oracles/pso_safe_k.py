"""Singling out against sampling and suppression below k at fixed levels: better than n delta.

delta counts once for each of the n rows in `pso.bound`. Here it counts for classes, of which at most n / k have k rows.

1. With J of the n_c rows of class c sampled, call the class bad if J >= k and J > gamma n_c: there, and only there, the
   output is more than e^epsilon times as likely as without one row of c (Li, Qardaji, Su 2012, Theorem 5). A class of
   fewer than k rows is never bad. P(c is bad) <= d, the delta of Theorem 5, so that P(some class is bad) <= (n / k) d.
2. While the class of x_i is not bad, P(x_i in p) <= e^epsilon w: x_i is independent of what is computed without it.
   Summed over rows: success <= n e^epsilon w + (n / k) d.
3. Among the sampled rows: if x_i is not sampled, which has probability 1 - beta, the output is computed without it.
   What is left of 2 for a sampled x_i is (e^epsilon - 1 + beta) w: success <= n (e^epsilon - 1 + beta) w + (n / k) d.

Only the direction from the table with the row to the one without it is used: epsilon may be below -ln(1 - beta).
"""

from fractions import Fraction

from crowdgate.accounting.numbers import Number, down, epsilon_of, exp_up, probability, up, whole
from crowdgate.accounting.pso import bound, bound_in_sample
from crowdgate.accounting.safe_k_exact import exact_delta
from crowdgate.accounting.safe_k_theorem5 import log_theorem5
from crowdgate.limits import GREATEST_K


def safe_k_bound(n: Number, w: Number, epsilon: Number, k: Number, beta: Number) -> float:
    """The less of n e^epsilon w + (n / k) d and n (e^epsilon w + delta), at most 1, rounded up; 0 < beta < 1.

    d is Theorem 5's delta, delta the exact one (`exact_delta`). n may be an upper bound on the rows.
    """
    return _lesser_bound(
        n, bound(n, w, epsilon, 0), bound(n, w, epsilon, exact_delta(k, beta, epsilon)), epsilon, k, beta
    )


def safe_k_bound_in_sample(n: Number, w: Number, epsilon: Number, k: Number, beta: Number) -> float:
    """Return the bound for isolation among the sampled rows of the n: with e^epsilon - 1 + beta for e^epsilon."""
    delta = exact_delta(k, beta, epsilon)
    whole_, alone = (bound_in_sample(n, w, epsilon, spent, beta) for spent in (delta, 0))
    return _lesser_bound(n, alone, whole_, epsilon, k, beta)


def _lesser_bound(n: Number, alone: float, with_delta: float, epsilon: Number, k: Number, beta: Number) -> float:
    least, eps = whole("k", k, 1, GREATEST_K), down(epsilon_of(epsilon))
    b = up(probability("beta", beta, open_low=True, open_high=True))
    classes = whole("n", n, 1) // least
    d = exp_up(log_theorem5(least, b, eps)) if b < 1 else 1.0
    return min(with_delta, up(min(Fraction(1), Fraction(alone) + classes * Fraction(d))))
