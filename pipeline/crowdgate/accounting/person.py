"""Guarantee of one row such that all rows of a person together keep a given guarantee."""

import math
from fractions import Fraction

from crowdgate.accounting.numbers import Number, down, epsilon_of, exact, probability, up, whole

_SLACK = Fraction(1, 10**12)
"""Relative slack; four correctly rounded float64 operations have an error below 1e-15."""


def per_row(epsilon: Number, delta: Number, rows: Number) -> tuple[Fraction, Fraction]:
    """Return (epsilon / m, delta (e^(epsilon/m) - 1) / (e^epsilon - 1)), delta rounded down: a guarantee for one row
    whose group privacy for m independently sampled rows is within (epsilon, delta).

    The inverse of `guarantee.group` (Dwork, Roth 2014, Theorem 2.2 in its (epsilon, delta) form). At epsilon 0 the
    limit, delta / m. Raises ValueError for epsilon < 0 or m < 1.
    """
    total, m = exact("epsilon", epsilon, 0, 10**6), whole("rows", rows, 1)
    spent = probability("delta", delta)
    if m == 1:
        return total, spent
    if total == 0:
        return total, spent / m
    share = math.expm1(down(total / m)) / math.expm1(up(epsilon_of(total))) if total < 700 else 0.0
    return total / m, spent * Fraction(share) * (1 - _SLACK)
