"""Singling out by predicates that many people meet: a finite bound for their high-weight regime.

A. Cohen, K. Nissim (arXiv version), Claim 5.6, says that an (epsilon, delta)-differentially private output leaves only
negligible success to predicates of weight w well above log(n) / n; it is asymptotic. Here is a bound with all
constants, for add or remove one row, from the rows one after the other.

1. Let p be chosen from the output, E any event about p and the rows but x_i that implies w(p) >= w, and g its
   probability where the output is computed without x_i. Then x_i is independent of p, so that
   P(E, x_i not in p) <= e^epsilon (1 - w) g + delta and w g <= e^epsilon P(E, x_i in p) + delta.
2. Together, with t = w / ((1 - w) e^(2 epsilon)) and v = t / (1 + t):
   P(E, x_i in p) >= v P(E) - d for d = delta (t + e^-epsilon) / (1 + t).
3. Let a_i and b_i be the probabilities that w(p) >= w and that none, or at most one, of the first i rows is in p. By 2,
   a_i <= (1 - v) a_(i-1) + d and b_i <= (1 - v) b_(i-1) + v a_(i-1) + d: without d the recursion of a binomial law.
4. So b_n <= P(Bin(n, v) <= 1) + 2 d / v, and d / v = delta (1 + e^epsilon (1 - w) / w).
"""

import math
from fractions import Fraction

from crowdgate.accounting.numbers import Number, down, epsilon_of, exp_up, probability, raised, up, whole
from crowdgate.accounting.pso import counts_bound

_SLACK = 4e-15
"""Relative, of each term: a quotient, an exponential and a logarithm, rounded."""
_GREATEST_EXPONENT = 350.0


def high_bound(n: Number, w_min: Number, epsilon: Number, delta: Number) -> float:
    """P(Bin(n, v) <= 1) + 2 delta (1 + e^epsilon (1 - w) / w), v = w / (w + (1 - w) e^(2 epsilon)), at most 1, rounded
    up: success of predicates of weight at least `w_min` > 0 against an (epsilon, delta)-DP output about `n` rows.

    It says something from about w = e^(2 epsilon) / n on, and falls as fast as e^-(n v): a lower bound on the rows
    serves, an upper one does not.
    """
    rows, weight = whole("n", n, 1), probability("w_min", w_min, open_low=True)
    eps, spent = up(epsilon_of(epsilon)), probability("delta", delta)
    if rows == 1 or eps > _GREATEST_EXPONENT:
        return 1.0
    lost = 2 * spent * (1 + Fraction(raised(math.exp(eps))) * (1 - weight) / weight)
    return up(min(Fraction(1), lost + Fraction(_at_most_one(rows, weight, eps))))


def high_baseline(n: Number, w_min: Number) -> float:
    """The greatest B(n, w) of a weight of at least `w_min`, rounded up: B falls from w = 1/n on."""
    rows, weight = whole("n", n, 1), probability("w_min", w_min)
    return counts_bound(rows, max(weight, Fraction(1, rows)), 0)


def _at_most_one(n: int, weight: Fraction, eps: float) -> float:
    """P(Bin(n, v) <= 1) = (1 + t)^-(n - 1) (1 + (n - 1) v), rounded up."""
    if weight == 1:
        return 0.0
    odds = down(weight / (1 - weight) / Fraction(raised(math.exp(2 * eps))))
    terms = -(n - 1) * math.log1p(odds), math.log1p((n - 1) * odds / (1 + odds))
    return exp_up(min(0.0, math.fsum(terms) + _SLACK * math.fsum(map(abs, terms))))
