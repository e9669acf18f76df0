"""How much better than guessing an attack predicts an attribute.

P. Francis, D. Wagner, non-member framework: what an attack infers beyond what it infers about people not in the data.

Equation 4 of that paper, the share of targets that an attack predicts at all, is printed as TP / (TP + FP + np), which
is precision times that share; meant is (TP + FP) / (TP + FP + np).
"""

from fractions import Fraction

from crowdgate.accounting.numbers import Number, probability

COVERAGES = tuple(Fraction(1, part) for part in (1, 10, 100, 1000))
"""Shares of the targets that every result is given at: of everybody, and of those of whom an attack is surest."""


def precision_improvement(attack: Number, base: Number) -> float:
    """(attack - base) / (1 - base), equation 6: 1 is certainty, 0 no better than the base, negative worse.

    Precisions from 0 to 1; base < 1, where nothing is left to improve.
    """
    reached, without = probability("attack", attack), probability("base", base, open_high=True)
    return float((reached - without) / (1 - without))
