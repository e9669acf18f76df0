"""What a guarantee says about membership attacks."""

import math

from crowdgate.accounting.numbers import Number, epsilon_of, exact, probability, raised, up


def greatest_precision(epsilon: Number, delta: Number, tpr: Number, skew: Number) -> float:
    """The greatest precision of an attack of true positive rate `tpr` when non-members are `skew` times the members.

    tpr / (tpr + skew (tpr - delta) e^-epsilon), because tpr <= e^epsilon fpr + delta; 1 if tpr <= delta. Rounded up.
    """
    hits = float(probability("tpr", tpr, open_low=True))
    ratio = float(exact("skew", skew, 0, 10**15))
    surplus = max(0.0, hits - up(probability("delta", delta)))
    return min(1.0, raised(hits / (hits + ratio * surplus * math.exp(-up(epsilon_of(epsilon))))))


def greatest_true_positive_rate(beta: Number, fpr: Number) -> float:
    """beta + (1 - beta) fpr: who is not sampled cannot be told from a non-member, whatever is published. Rounded up."""
    b, false = probability("beta", beta), probability("fpr", fpr)
    return up(b + (1 - b) * false)
