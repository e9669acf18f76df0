"""Predicate singling out: bounds on the attacker's success, and the trials needed to prove them.

A. Cohen, K. Nissim, Towards formalizing the GDPR's notion of singling out, PNAS 2020 (and its arXiv version). A
predicate of weight w isolates when exactly one of n rows satisfies it. Their relation is replace-one; the bounds here
hold for add or remove one row as well: x_i is independent of outputs computed from the others, so that P(p(x_i) = 1) <=
e^epsilon E w(p) + delta, and the n rows add up.
"""

import math
from fractions import Fraction

from crowdgate.accounting.binomial import log_mass
from crowdgate.accounting.numbers import Number, down, epsilon_of, exp_up, log_rest, probability, raised, up, whole
from crowdgate.accounting.trials import trials_to_certify, trials_to_pass, trials_to_refute
from crowdgate.number_text import decimal

__all__ = [
    "baseline",
    "bound",
    "bound_in_sample",
    "counts_bound",
    "most_counts",
    "theorem_6_2",
    "trials_to_certify",
    "trials_to_pass",
    "trials_to_refute",
]

_SLACK = 1e-15
"""Relative error of each term: a logarithm and a product, rounded."""
_ROUNDED = 1e-13
"""Absolute error of a logarithm: three terms."""
_GREATEST_EXPONENT = 700.0


def baseline(n: Number, w: Number) -> float:
    """Return B(n, w) = n w (1 - w)^(n - 1): isolation by a predicate of weight `w` chosen without access to the
    release."""
    rows, weight = whole("n", n, 1), probability("w", w)
    if weight in (0, 1):
        return float(rows == 1 and weight == 1)
    return rows * float(weight) * math.exp((rows - 1) * log_rest(weight))


def bound(n: Number, w: Number, epsilon: Number, delta: Number) -> float:
    """Return n (e^epsilon w + delta), at most 1, rounded up: success against an (epsilon, delta)-DP output about `n`
    rows.

    The bound grows with n, so that a public bound on the rows suffices; epsilon and delta are those of all releases
    together.
    """
    return _success(n, w, epsilon, delta, 1)


def bound_in_sample(n: Number, w: Number, epsilon: Number, delta: Number, beta: Number) -> float:
    """Return n ((e^epsilon - 1 + beta) w + delta), at most 1, rounded up: isolation among the sampled rows of the `n`.

    For a mechanism that samples at rate `beta` and is (epsilon, delta)-DP for all n rows: with probability 1 - beta it
    does not read x_i. Also, with the totals, for one of cost (e1, d1) beside others of (e0, d0) that read all rows:
    each sampled row costs at most e^e0 (e^e1 - 1 + beta) w + beta d0 + d1, which is no more.

    Also at each point of the joint curve with independent others. Let a be the likelihood ratio of outputs with x_i
    sampled, r that of the others, of mean 1 without x_i, and c = e^epsilon - 1 + beta. The mean over r of (beta a r -
    c)+ is at most that of ((1 - beta + beta a) r - e^epsilon)+: for beta a >= c they differ by at most (1 - beta)(1 -
    r), of mean 0; for smaller a the former is smaller at each r.
    """
    return _success(n, w, epsilon, delta, beta)


def theorem_6_2(n: Number, w_max: Number, epsilon: Number, delta: Number) -> tuple[float, float]:
    """Return (epsilon + (n - 1) ln(1 / (1 - w_max)), n delta), rounded up: security against singling out (Theorem 6.2).

    Success is at most e^epsilon' B(n, w) + delta' for predicates of weight up to `w_max` < 1. n delta is not clipped.
    """
    rows, weight = whole("n", n, 1), up(probability("w_max", w_max, open_high=True))
    if weight >= 1:
        raise ValueError("w_max must be a number in [0, 1), not one that rounds to 1")
    extra = -(rows - 1) * math.log1p(-weight)
    return raised(up(epsilon_of(epsilon)) + extra), up(rows * probability("delta", delta))


def counts_bound(n: Number, w: Number, counts: Number, *, disjoint: bool = False) -> float:
    """Return (n + 1)^counts B(n, w), at most 1, rounded up: success against `counts` exact counts of `n` rows.

    The attacker guesses one of all possible answers: (n + 1)^counts, or C(n + counts, counts) if no row is in two
    counts.
    """
    rows, many = whole("n", n, 1), whole("counts", counts, 0)
    log = _log_counts(rows, probability("w", w), 0) + _log_answers(rows, many, disjoint)
    return 1.0 if log >= 0 else exp_up(log)


def most_counts(n: Number, w: Number, target: Number) -> int:
    """Return the largest number of exact counts for which (n + 1)^counts B(n, w) is at most `target`.

    Raises ValueError if target is below B(n, w), which no number reaches, or if B(n, w) = 0, where any number does.
    """
    rows, weight = whole("n", n, 1), probability("w", w)
    goal = math.log(down(probability("target", target, open_low=True)))
    alone = _log_counts(rows, weight, 0)
    if alone == -math.inf:
        raise ValueError("w must be a number with B(n, w) > 0; otherwise every number of counts stays below the target")
    if alone > goal:
        raise ValueError(f"target must be a number in [B(n, w), 1] = [{decimal(baseline(n, w))}, 1]")
    counts = math.floor((goal - alone) / math.log(rows + 1)) + 1
    while counts and _log_counts(rows, weight, counts) > goal:
        counts -= 1
    return counts


def _success(n: Number, w: Number, epsilon: Number, delta: Number, beta: Number) -> float:
    rows, weight, spent = whole("n", n, 1), probability("w", w), probability("delta", delta)
    eps, b = up(epsilon_of(epsilon)), up(probability("beta", beta))
    if eps > _GREATEST_EXPONENT and weight:
        return 1.0
    growth = raised(math.expm1(min(eps, _GREATEST_EXPONENT)) + b)
    return up(min(Fraction(1), rows * (Fraction(growth) * weight + spent)))


def _log_counts(n: int, weight: Fraction, counts: int) -> float:
    """Return ln((n + 1)^counts B(n, w)), rounded up, with B(n, w) = n w (1 - w)^(n - 1) and w = `weight`."""
    if weight in (0, 1):
        return _log_answers(n, counts, False) if n == 1 and weight == 1 else -math.inf
    terms = _log_answers(n, counts, False), math.log(n), math.log(weight), (n - 1) * log_rest(weight)
    return math.fsum(terms) + _SLACK * math.fsum(map(abs, terms))


def _log_answers(n: int, counts: int, disjoint: bool) -> float:
    """Return ln of the number of answers to `counts` counts of n rows, rounded up."""
    if not disjoint:
        return counts * math.log(n + 1) * (1 + _SLACK)
    if counts == 0:
        return 0.0
    share = counts / (n + counts)  # C(N, t) = P(Bin(N, t / N) = t) / ((t / N)^t (1 - t / N)^(N - t))
    mass = log_mass(counts, n, share, n / (n + counts))
    return (mass + counts * math.log1p(n / counts) + n * math.log1p(counts / n)) * (1 + _SLACK) + _ROUNDED
