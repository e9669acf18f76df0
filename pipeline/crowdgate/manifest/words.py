"""The guarantee in words."""

from fractions import Fraction

from crowdgate.guarantee import Guarantee

INFORMED = (
    "Informed by confidential data: this policy, with its contract and budget, was first used after a private record "
    "of the same population had been opened. What it owes to that record is not covered by the guarantee."
)
"""Said of such policies, before and after their release."""


def guarantee_words(guarantee: Guarantee, beta: Fraction | None, rows: int = 1) -> list[str]:
    """The guarantee in words, and its form for users who take the number of people as known.

    `beta` is the rate of safe k-anonymity's sample. Without it, and where levels chosen on that sample leave no part
    that is the mechanism alone, all parts count twice.
    """
    alone = any(part.name == "mechanism" for part in guarantee.parts)
    return [guarantee.words(), guarantee.replace_one_form(beta if alone else None, rows=rows).words()]
