"""Significance levels and power of audits: one level for the first attempt at a policy, half as much for each further
one."""

from fractions import Fraction

ALPHA = Fraction(5, 100)
"""Level of the first attempt."""
POWER = Fraction(9, 10)
"""Probability with which a harmless mechanism passes where enough was played."""


def level(attempt: int) -> Fraction:
    """Return the level of an audit: attempts at one policy err together with probability .1 at most, however many."""
    return ALPHA / (1 << (attempt - 1))
