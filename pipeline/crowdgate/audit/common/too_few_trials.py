"""What an audit says where nothing was found, and a harmless mechanism would hardly have passed."""

from fractions import Fraction

POWER = Fraction(9, 10)
"""The probability with which a harmless mechanism passes where enough was played."""


def too_few(key: str, played: int, needed: int) -> str:
    """The reason, with the number to write at `key` of the policy."""
    hardly = f"a harmless mechanism passes with a probability below {float(POWER):g}"
    return f"nothing was found in {played:,} {key}, but {hardly} in so few; write {key}: {needed}"
