"""Significance levels and power of audits: one level for the first attempt at a policy, half of it for each further
attempt."""

from fractions import Fraction

ALPHA = Fraction(5, 100)
"""Level of the first attempt."""
POWER = Fraction(9, 10)
"""Probability with which a harmless mechanism passes an audit of sufficient size."""


def level(attempt: int) -> Fraction:
    """Return the significance level of attempt number `attempt` (from 1) at a policy: .05, halved for each earlier
    attempt. All attempts together err with probability at most .1."""
    return ALPHA / (1 << (attempt - 1))
