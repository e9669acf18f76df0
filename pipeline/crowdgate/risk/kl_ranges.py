"""Joint range of KL distances and collision quantities.

For N bins with probabilities p, KL = sum p ln(N p) and the collision quantity is C = (N sum p^2 - 1) / 2. Among
distributions with equal sum p^2 the entropy is greatest if one bin is large and all others are equal, and least if the
non-empty bins are equal except for one smaller one (Harremoes, Topsoe 2001, "Inequalities between entropy and index of
coincidence", theorem II.5). So KL lies between two curves, both of which rise with C from 0 at C = 0 to ln N at (N - 1)
/ 2. The upper one is at most ln(1 + 2 C) (Jensen), with equality where N / (1 + 2 C) is whole.

For n rows both are least if the bins differ by at most one row: each row that moves from a bin to one with at least two
fewer lowers both. For n < N this is KL = ln(N / n).
"""

from collections.abc import Callable
from fractions import Fraction
from math import floor, log, log1p, sqrt


def greatest_collision(bins: int) -> float:
    """Return the greatest collision quantity on `bins` bins, (bins - 1) / 2: one bin holds all people."""
    return (bins - 1) / 2


def largest_above(collision: float, bins: int) -> float:
    """Return b such that one bin of probability (1 + b) / bins and equal others have this collision quantity, (bins sum
    p^2 - 1) / 2. If b is above bins - 1, there is no such distribution."""
    return sqrt((bins - 1) * 2 * collision)


def alike_but_one(collision: float, bins: int) -> tuple[int, float]:
    """Return the number of equal bins and the probability of a smaller one, for the distribution with this collision
    quantity, (bins sum p^2 - 1) / 2, in which all other bins are empty."""
    together = min((1 + 2 * collision) / bins, 1.0)
    alike = min(bins, floor(1 / together))
    spread = sqrt(max(alike * ((alike + 1) * together - 1), 0.0))
    return alike, max(0.0, (1 - spread) / (alike + 1))


def least_kl(collision: float, bins: int) -> float:
    """Return the least KL distance to uniform, in nats, of distributions on `bins` bins with this collision quantity,
    from 0 to (bins - 1) / 2."""
    if bins == 1:
        return 0.0
    above = largest_above(collision, bins)
    if above >= bins - 1:
        return log(bins)
    large = (1 + above) / bins
    return max(0.0, large * log1p(above) + (1 - large) * log1p(-above / (bins - 1)))


def most_kl(collision: float, bins: int) -> float:
    """Return the greatest KL distance to uniform, in nats, of distributions on `bins` bins with this collision
    quantity."""
    alike, rest = alike_but_one(collision, bins)
    held = (1 - rest) * log((1 - rest) / alike) + (rest * log(rest) if rest else 0.0)
    return max(0.0, log(bins) + held)


def least_collision(kl: float, bins: int) -> float:
    """Return the least collision quantity of distributions on `bins` bins with this KL distance to uniform, from 0 to
    ln(bins) nats."""
    return _crossing(lambda collision: most_kl(collision, bins) < kl, bins)[0]


def most_collision(kl: float, bins: int) -> float:
    """Return the greatest collision quantity of distributions on `bins` bins with this KL distance to uniform, in
    nats."""
    return _crossing(lambda collision: least_kl(collision, bins) <= kl, bins)[1]


def _crossing(below: Callable[[float], bool], bins: int) -> tuple[float, float]:
    """Return the two neighbouring floats between which `below` changes to false."""
    low, high = 0.0, greatest_collision(bins)
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if below(middle) else (low, middle)
    return low, high


def least_of_rows(rows: int, bins: int) -> tuple[float, float]:
    """Return the least KL and the least collision quantity of a table with `rows` rows (at least 1)."""
    each, over = divmod(rows, bins)
    held = ((over, each + 1), (bins - over, each))
    logs = sum(cells * count * log(count) for cells, count in held if count) / rows
    squares = Fraction(bins * sum(cells * count**2 for cells, count in held), rows**2)
    return max(0.0, log(bins) - log(rows) + logs), float((squares - 1) / 2)
