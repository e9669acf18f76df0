"""How often a claim of membership is right."""

from crowdgate.accounting.numbers import Number, exact, probability


def precision(tpr: Number, fpr: Number, skew: Number) -> float:
    """tpr / (tpr + skew fpr), from 0 to 1: Francis and Wagner, equation 11.

    `skew` is the number of non-members for each member among the targets, above 0. Raises ValueError if both rates are
    0: an attack that claims nothing has no precision.
    """
    hits, false = probability("tpr", tpr), probability("fpr", fpr)
    ratio = exact("skew", skew, 0, 10**15, open_low=True)
    if hits + false == 0:
        raise ValueError("tpr and fpr must not both be 0")
    return float(hits / (hits + ratio * false))
