"""Significance levels of audits: one level for the first attempt at a policy, half as much for each further one."""

from fractions import Fraction

ALPHA = Fraction(5, 100)
"""Level of the first attempt."""


def level(attempt: int) -> Fraction:
    """The level of an audit: attempts of one policy err together with probability .1 at most, however many."""
    return ALPHA / (1 << (attempt - 1))
