"""The exact delta of Bernoulli sampling followed by safe k-anonymisation.

A class of n rows, one of them the person's, is published as J ~ Bin(n, beta) if J >= k and suppressed otherwise;
without the person as Bin(n - 1, beta). Other classes are independent and equally distributed on both sides, so this one
class determines the whole hockey-stick divergence. With gamma = 1 - (1 - beta) e^-epsilon and c = 1 - (1 - beta)
e^epsilon,

    forward(n) = sum over j >= max(k, floor(gamma n) + 1) of f(j; n) (j - gamma n) / (n (1 - gamma))
    reverse(n) = sum over j <= max(k - 1, ceil(c n) - 1) of f(j; n) (c n - j) / (n (1 - beta)), or 0 if that is negative

and delta is the supremum of both over n. Its place is known, so no search is necessary:

* while gamma n < k - 1 the threshold is k, and forward(n + 1) - forward(n) is a positive multiple of 1 - gamma n / (k -
  1): it rises;
* once gamma n >= k - 1, forward(n) = E (J/n - gamma)+ / (1 - gamma). J/n is a reversed martingale and the positive part
  is convex: it falls.

So the greatest forward delta is at n = max(k, ceil((k - 1) / gamma)). By analogous steps the greatest reverse delta is
at n = ceil((k - 1) / c) if c > 0; otherwise, that is for epsilon >= -ln(1 - beta), the reverse delta is 0. If it is
positive, it can be the greater: .3484 against .3472 at k = 21, beta = .95, epsilon = .03.

Li, Qardaji and Su (2012, Theorem 5) bound this delta by the whole probability of the outputs whose ratio exceeds
e^epsilon, and for epsilon >= -ln(1 - beta) only.
"""

import math

from crowdgate.accounting.binomial import log_mass, log_tail, log_weighted_tail
from crowdgate.accounting.numbers import Number, down, epsilon_of, exp_up, probability, up, whole
from crowdgate.limits import GREATEST_K

_LEAST_BETA = 1e-290
_ROUNDED = 4e-16  # bound on the relative rounding error of a sum of two floats
_NEGLIGIBLE_SHARE = 1e-6  # in parts of beta: reverse < exp(-10^6 (k - 1)), and forward >= beta^k


def gamma(epsilon: Number, beta: Number) -> float:
    """Return 1 - (1 - beta) e^-epsilon: the share of a class above which a count reveals more than epsilon. In [beta,
    1]."""
    return gamma_of(float(epsilon_of(epsilon)), float(probability("beta", beta)))


def gamma_of(eps: float, b: float) -> float:
    """Return `gamma` of floats that are already checked."""
    return -math.expm1(math.log1p(-b) - eps) if b < 1 else 1.0


def exact_delta(k: Number, beta: Number, epsilon: Number) -> float:
    """Return the least delta for which sampling at rate `beta` and suppressing classes below `k` is (epsilon,
    delta)-DP.

    Add or remove one row; k from 1 to 10^9, beta in [0, 1], any epsilon >= 0. Never below the truth, and above it by
    `slack`: a relative 1e-11 for k in the thousands. A positive delta below 5e-324 is returned as 5e-324.
    """
    return delta_of(*_checked(k, beta, epsilon))


def log_exact_delta(k: Number, beta: Number, epsilon: Number) -> float:
    """Return the natural logarithm of `exact_delta`, for deltas that are too small for floats. Minus infinity for beta
    = 0."""
    return log_delta(*_checked(k, beta, epsilon))


def delta_at(n: Number, k: Number, beta: Number, epsilon: Number) -> tuple[float, float]:
    """Return the (forward, reverse) divergence for one class of `n` rows against n - 1; either may be the larger.

    Rounded up by `slack`, like `exact_delta`.
    """
    rows, least = whole("n", n, 1), whole("k", k, 1)
    b, eps = up(probability("beta", beta)), down(epsilon_of(epsilon))
    if b == 0 or rows < least:
        return 0.0, 0.0
    if b == 1:
        return 1.0, 1.0
    eps -= _ROUNDED * (eps - math.log1p(-b))  # if gamma n is whole, rounding would lose a term
    logs = _log_forward_at(rows, least, b, eps), _log_reverse_at(rows, least, b, eps)
    size = max(least, math.ceil(rows * gamma_of(eps, b)))
    forward, reverse = (exp_up(log + slack(size, log)) if log > -math.inf else 0.0 for log in logs)
    return min(forward, b), min(reverse, b)


def log_binomial_tail(t: Number, n: Number, p: Number) -> float:
    """Return ln P(Bin(n, p) >= t), with a relative error of about 1e-12, also if the probability itself underflows; n
    up to 10^15."""
    threshold, trials = whole("t", t, -(10**15)), whole("n", n, 0)
    number = probability("p", p)
    return log_tail(threshold, trials, float(number), float(1 - number))


def delta_of(k: int, b: float, eps: float) -> float:
    """Return `exact_delta` of arguments that are already checked and rounded."""
    return min(exp_up(log_delta(k, b, eps)), b)


def log_delta(k: int, b: float, eps: float) -> float:
    """Return `log_exact_delta` of arguments that are already checked and rounded."""
    if b <= 0 or b >= 1:
        return 0.0 if b >= 1 else -math.inf
    ceiling = math.nextafter(math.log(b), 0.0)
    if k == 1:
        return ceiling
    b = max(b, _LEAST_BETA)
    largest = max(_log_greatest_forward(k, b, eps), _log_greatest_reverse(k, b, eps))
    return min(largest + slack(k, largest), ceiling)


def slack(k: int, log_value: float) -> float:
    """Return the slack added to a computed ln delta so that it is never too small: about ten times the largest observed
    error."""
    return 1e-12 + 2e-15 * (k - log_value)


def _checked(k: Number, beta: Number, epsilon: Number) -> tuple[int, float, float]:
    return whole("k", k, 1, GREATEST_K), up(probability("beta", beta)), down(epsilon_of(epsilon))


def _log_greatest_forward(k: int, b: float, eps: float) -> float:
    n = max(k, math.ceil((k - 1) / gamma_of(eps, b)))
    return _log_forward_sum(n, k, b, eps)


def _log_greatest_reverse(k: int, b: float, eps: float) -> float:
    c = _reverse_share(b, eps)
    if c <= _NEGLIGIBLE_SHARE * b:
        return -math.inf
    return _log_reverse_sum(max(k, math.ceil((k - 1) / c)), k - 1, b, c)


def _log_forward_at(n: int, k: int, b: float, eps: float) -> float:
    share = gamma_of(eps, b)
    rest = math.floor(n * share) if share <= 0.5 else n - math.ceil(n * math.exp(math.log1p(-b) - eps))
    return _log_forward_sum(n, max(k, min(rest + 1, n)), b, eps)


def _log_forward_sum(n: int, t: int, b: float, eps: float) -> float:
    """Return ln of the sum over j >= t of f(j) (j - gamma n) / (n (1 - gamma)), with f the probabilities of Bin(n,
    beta) and gamma = 1 - (1 - beta) e^-epsilon. t is at most one above gamma n unless n is the only term."""
    log_shrink = math.log1p(-b) - eps
    share, shrink = -math.expm1(log_shrink), math.exp(log_shrink)
    if t == n:
        return n * math.log(b)
    weight = t - n * share if share <= 0.5 else n * shrink - (n - t)
    return log_weighted_tail(t, n - t, b, 1 - b, max(weight, 0.0), 1.0) - math.log(n) - log_shrink


def _log_reverse_at(n: int, k: int, b: float, eps: float) -> float:
    c = _reverse_share(b, eps)
    if c <= 0:
        return -math.inf
    if c * n >= k - 1:
        return _log_reverse_sum(n, max(k, math.ceil(c * n)) - 1, b, c)
    gain = math.log(b) + log_mass(k - 1, n - k, b, 1 - b)
    loss = log_tail(n - k + 1, n, 1 - b, b) + math.log(math.expm1(eps)) if eps > 0 else -math.inf
    apart = loss - gain - slack(k, gain)
    return gain + math.log(-math.expm1(apart)) if apart < 0 else -math.inf


def _log_reverse_sum(n: int, s: int, b: float, c: float) -> float:
    """Return ln of the sum over j <= s of f(j) (c n - j) / (n (1 - beta)), with f the probabilities of Bin(n, beta) and
    s at most c n: an upper tail of the rows that are not sampled."""
    return log_weighted_tail(n - s, s, 1 - b, b, max(c * n - s, 0.0), 1.0) - math.log(n) - math.log1p(-b)


def _reverse_share(b: float, eps: float) -> float:
    """Return c = 1 - (1 - beta) e^epsilon: the share of a class below which a count reveals more than epsilon."""
    return -math.expm1(min(math.log1p(-b) + eps, 1.0))
