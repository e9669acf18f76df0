"""Improvement of an attack over guessing, when it predicts an attribute.

P. Francis, D. Wagner, non-member framework: the success of an attack minus its success on people not in the data.
Equation 4 of that paper, the share of targets that an attack predicts at all, is printed as TP / (TP + FP + np), which
is precision times that share; meant is (TP + FP) / (TP + FP + np).
"""

from fractions import Fraction

from crowdgate.accounting.numbers import Number, probability

COVERAGES = tuple(Fraction(1, part) for part in (1, 10, 100, 1000))
"""Shares of the targets for which each result is reported: all targets, and those with the most certain predictions."""


def precision_improvement(attack: Number, base: Number) -> float:
    """Return (attack - base) / (1 - base), equation 6: 1 is certainty, 0 no better than the base, negative worse.

    Precisions from 0 to 1; base < 1, as otherwise no improvement is possible.
    """
    reached, without = probability("attack", attack), probability("base", base, open_high=True)
    return float((reached - without) / (1 - without))
