"""What a guarantee says about membership attacks."""

import math
from fractions import Fraction

from crowdgate.accounting.numbers import Number, down, epsilon_of, exact, probability, raised, up


def greatest_precision(epsilon: Number, delta: Number, tpr: Number, skew: Number) -> float:
    """The greatest precision of an attack of true positive rate `tpr` when non-members are `skew` times the members.

    tpr / (tpr + skew (tpr - delta) e^-epsilon), because tpr <= e^epsilon fpr + delta; 1 if tpr <= delta. Rounded up.
    """
    hits, ratio = probability("tpr", tpr, open_low=True), exact("skew", skew, 0, 10**15)
    others = ratio * max(Fraction(0), hits - probability("delta", delta)) / hits  # exact: a difference may be small
    return min(1.0, raised(1 / (1 + down(others) * math.exp(-up(epsilon_of(epsilon))))))


def greatest_true_positive_rate(beta: Number, fpr: Number) -> float:
    """beta + (1 - beta) fpr: who is not sampled cannot be told from a non-member, whatever is published. Rounded up."""
    b, false = probability("beta", beta), probability("fpr", fpr)
    return up(b + (1 - b) * false)
