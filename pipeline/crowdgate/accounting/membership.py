"""Bounds on membership attacks that follow from a guarantee."""

import math
from collections.abc import Iterable
from fractions import Fraction

from crowdgate.accounting.binomial import log_mass
from crowdgate.accounting.numbers import Number, down, epsilon_of, exact, exp_up, probability, raised, up, whole
from crowdgate.accounting.safe_k_exact import slack


def greatest_precision(epsilon: Number, delta: Number, tpr: Number, skew: Number) -> float:
    """Return the greatest precision of an attack of true positive rate `tpr` when non-members are `skew` times the
    members.

    tpr / (tpr + skew (tpr - delta) e^-epsilon), because tpr <= e^epsilon fpr + delta; 1 if tpr <= delta. Rounded up.
    """
    hits, ratio = probability("tpr", tpr, open_low=True), exact("skew", skew, 0, 10**15)
    others = ratio * max(Fraction(0), hits - probability("delta", delta)) / hits  # exact: a difference may be small
    return min(1.0, raised(1 / (1 + down(others) * math.exp(-up(epsilon_of(epsilon))))))


def least_precision(points: Iterable[tuple[Number, Number]], tpr: Number, skew: Number) -> float:
    """Return the least `greatest_precision` over the points (epsilon, delta) that a release keeps."""
    return min(greatest_precision(epsilon, min(1, delta), tpr, skew) for epsilon, delta in points)


def true_positive_lines(
    beta: Number, n: Number, epsilon: Number = 0, delta: Number = 0
) -> tuple[tuple[float, float], ...]:
    """Return (intercept, slope) of lines that bound the true positive rate by the false positive rate, both for tables
    of exactly `n` units. If n is secret, beta + (1 - beta) fpr bounds it. Rounded up.

    (epsilon, delta) is the guarantee, for replacing one unit, of outputs other than those computed on the sample. With
    probability beta the sample reveals the member. If neither the member nor the non-member is sampled, the rest of the
    sample has equal distributions provided that one other unit of the non-member's table, of n, is not sampled. So the
    rate is at most beta + (1 - beta) delta + e^epsilon fpr.

    Without other outputs, it is also at most beta + (1 - beta)(fpr + s). The samples of a member's n - 1 others and of
    a non-member's n differ in size; s = beta max P(Bin(n - 1, beta) = t) is the distance of both distributions. An
    attacker who claims by the size alone comes as near as that: beta + (1 - beta) fpr itself is no bound.
    """
    b, others = probability("beta", beta), whole("n", n, 1) - 1
    eps, d = epsilon_of(epsilon), probability("delta", delta)
    first = (up(b + (1 - b) * d), exp_up(up(eps)) if eps else 1.0)
    if eps or d:
        return (first,)
    told = b * min(Fraction(1), Fraction(_greatest_mass(others, b)))
    return first, (up(b + (1 - b) * told), up(1 - b))


def _greatest_mass(n: int, b: Fraction) -> float:
    """Return max over t of P(Bin(n, b) = t): at the mode, (n + 1) b rounded down. Rounded up."""
    mode = min(n, int((n + 1) * b))
    log = log_mass(mode, n - mode, float(b), float(1 - b))
    return exp_up(log + slack(n, log)) if log else 1.0
