"""Which KL distances and collision quantities go together.

Of N bins with probabilities p, KL = sum p ln(N p) and the collision quantity is C = (N sum p^2 - 1) / 2. Of all laws
with one sum p^2 the entropy is greatest where one bin is large and all others are alike, and least where the bins that
are not empty are alike but for one that is smaller (Harremoes, Topsoe 2001, "Inequalities between entropy and index of
coincidence", theorem II.5): so KL lies between two curves, both of which rise with C from 0 at C = 0 to ln N at
(N - 1) / 2. The upper one is at most ln(1 + 2 C) (Jensen), and equal where N / (1 + 2 C) is whole.

Of n rows both are least where the bins differ by a row at most: each row that moves from a bin to one that has two
fewer or less lowers both. With n < N this is KL = ln(N / n).
"""

from collections.abc import Callable
from fractions import Fraction
from math import floor, log, log1p, sqrt


def greatest_collision(bins: int) -> float:
    """C where one of the bins holds everybody."""
    return (bins - 1) / 2


def largest_above(collision: float, bins: int) -> float:
    """b, where one of the bins has the probability (1 + b) / bins and all others are alike; above bins - 1 there is no
    such law."""
    return sqrt((bins - 1) * 2 * collision)


def alike_but_one(collision: float, bins: int) -> tuple[int, float]:
    """How many of the bins are alike, and the probability of one that is smaller, where all others are empty."""
    together = min((1 + 2 * collision) / bins, 1.0)
    alike = min(bins, floor(1 / together))
    spread = sqrt(max(alike * ((alike + 1) * together - 1), 0.0))
    return alike, max(0.0, (1 - spread) / (alike + 1))


def least_kl(collision: float, bins: int) -> float:
    """The least KL in nats of laws on so many bins with this collision quantity, from 0 to (bins - 1) / 2."""
    if bins == 1:
        return 0.0
    above = largest_above(collision, bins)
    if above >= bins - 1:
        return log(bins)
    large = (1 + above) / bins
    return max(0.0, large * log1p(above) + (1 - large) * log1p(-above / (bins - 1)))


def most_kl(collision: float, bins: int) -> float:
    """The greatest KL in nats of laws on so many bins with this collision quantity."""
    alike, rest = alike_but_one(collision, bins)
    held = (1 - rest) * log((1 - rest) / alike) + (rest * log(rest) if rest else 0.0)
    return max(0.0, log(bins) + held)


def least_collision(kl: float, bins: int) -> float:
    """The least collision quantity of laws on so many bins with this KL, from 0 to ln(bins)."""
    return _crossing(lambda collision: most_kl(collision, bins) < kl, bins)[0]


def most_collision(kl: float, bins: int) -> float:
    """The greatest collision quantity of laws on so many bins with this KL."""
    return _crossing(lambda collision: least_kl(collision, bins) <= kl, bins)[1]


def _crossing(below: Callable[[float], bool], bins: int) -> tuple[float, float]:
    """The two neighbouring floats between which `below` ends."""
    low, high = 0.0, greatest_collision(bins)
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if below(middle) else (low, middle)
    return low, high


def least_of_rows(rows: int, bins: int) -> tuple[float, float]:
    """The least KL and the least collision quantity that a table of so many rows (at least 1) can have."""
    each, over = divmod(rows, bins)
    held = ((over, each + 1), (bins - over, each))
    logs = sum(cells * count * log(count) for cells, count in held if count) / rows
    squares = Fraction(bins * sum(cells * count**2 for cells, count in held), rows**2)
    return max(0.0, log(bins) - log(rows) + logs), float((squares - 1) / 2)
