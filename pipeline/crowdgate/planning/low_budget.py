"""The warning that little is left of a lifetime budget, in the same words wherever it is given."""

from fractions import Fraction

FEW_RELEASES = 2
"""The greatest number of further releases for which a budget counts as low."""
SMALL_PART = Fraction(1, 10)
"""A budget counts as low if a smaller part of it is left."""
LOW = "Budget low"


def low_by_releases(releases: int) -> str | None:
    """Return the warning for a budget that pays for so many further releases of a policy; None if these are enough."""
    if releases > FEW_RELEASES:
        return None
    return f"{LOW}: it pays for {releases or 'no'} further such release{'s' if releases > 1 else ''}."


def low_by_part(part: Fraction) -> str | None:
    """Return the warning for a budget of which this part is left, 0 to 1; None if it is large enough."""
    return f"{LOW}: less than a tenth of it is left." if part < SMALL_PART else None
