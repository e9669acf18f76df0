"""Renyi divergences of a release at orders fixed beforehand, and their conversion to (epsilon, delta).

For two laws P and Q of a release, with a unit and without it, or the opposite, a release costs (B, c) at order a > 1 if
there is a measure P' <= P that lacks at most the mass c of P, with

    integral of P'^a Q^(1 - a) <= e^((a - 1) B).

With c = 0, B is a bound on the Renyi divergence of order a (Mironov 2017). With c > 0 this is the approximate form of
Bun and Steinke (2016) without their conditioning: P' need not be scaled to a probability. Post-processing of P', P and
Q by one kernel keeps both numbers. Costs of steps of one release, of which each may depend on outputs before it, add
up.

Conversion. (x - e^epsilon)+ <= x^a e^(-(a - 1) epsilon) (1 - 1/a)^a / (a - 1) for x >= 0, with equality at x =
e^epsilon a / (a - 1). So P(S) - e^epsilon Q(S) is at most c + e^((a - 1)(B - epsilon)) (1 - 1/a)^a / (a - 1) for each
set S (Canonne, Kamath, Steinke 2020, Proposition 12, for c = 0).

Numbers are exact: divergences are multiples of 10^-12 and cut masses multiples of 10^-24, rounded up, so that they stay
short in a ledger however many are added.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from crowdgate.accounting.numbers import exp_up

AMOUNT_GRID = 10**12
CUT_GRID = 10**24
"""Divergences are multiples of 1 / AMOUNT_GRID, cut masses of 1 / CUT_GRID."""
_ROUNDING = 1e-14
"""Relative slack above the rounding error of a sum of few logarithms and products, in parts of its absolute terms."""


@dataclass(frozen=True)
class Divergences:
    """The privacy cost of releases at fixed orders: `amounts`, a Renyi divergence for each order, and `cut`, the mass
    beside which they hold."""

    amounts: tuple[Fraction, ...]
    cut: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if any(amount < 0 for amount in (*self.amounts, self.cut)):
            raise ValueError("amounts and cut must be at least 0")

    @classmethod
    def zero(cls, orders: int) -> "Divergences":
        """Return the cost of nothing at this number of orders."""
        return cls((Fraction(0),) * orders)

    @classmethod
    def rounded(cls, amounts: Iterable[float | Fraction], cut: float | Fraction = 0) -> "Divergences":
        """Return upper bounds, rounded up to their grids."""
        return cls(tuple(_on_grid(amount, AMOUNT_GRID) for amount in amounts), _on_grid(cut, CUT_GRID))

    def __add__(self, other: "Divergences") -> "Divergences":
        """Return the cost of both. Raises ValueError for unlike numbers of orders."""
        return self._each(other, 1)

    def __sub__(self, other: "Divergences") -> "Divergences":
        """Return the cost without that of a release that read nothing. Raises ValueError if less was spent."""
        return self._each(other, -1)

    def times(self, releases: int) -> "Divergences":
        """Return the cost of so many such releases."""
        return Divergences(tuple(releases * amount for amount in self.amounts), releases * self.cut)

    def _each(self, other: "Divergences", sign: int) -> "Divergences":
        if len(self.amounts) != len(other.amounts):
            raise ValueError(f"amounts must be at {len(self.amounts)} orders, not at {len(other.amounts)}")
        pairs = zip(self.amounts, other.amounts, strict=True)
        return Divergences(tuple(one + sign * two for one, two in pairs), self.cut + sign * other.cut)


def largest(costs: Sequence[Divergences]) -> Divergences:
    """Return a cost that bounds each of `costs`, at least one: the largest numbers at each order."""
    amounts = zip(*(cost.amounts for cost in costs), strict=True)
    return Divergences(tuple(map(max, amounts)), max(cost.cut for cost in costs))


def log_conversion(order: int) -> float:
    """Return ln((1 - 1/a)^a / (a - 1)) at a = `order` >= 2, within a relative 1e-15."""
    return order * math.log1p(-1 / order) - math.log(order - 1)


def delta_at(order: int, amount: Fraction, epsilon: Fraction) -> float:
    """Return delta at `epsilon` of the Renyi divergence `amount` of this order, without cut mass. Rounded up."""
    exponent, shape = (order - 1) * (amount - epsilon), log_conversion(order)
    return exp_up(float(exponent) + shape + _ROUNDING * (abs(float(exponent)) + abs(shape) + 1))


def greatest_amount(order: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the greatest Renyi divergence of this order, on the grid, whose `delta_at` is at most `delta` > 0; 0 if
    none above 0 is."""
    exponent = (math.log(delta) - log_conversion(order)) / (order - 1)
    steps = math.floor((epsilon + Fraction(exponent)) * AMOUNT_GRID)
    while steps > 0 and delta_at(order, Fraction(steps, AMOUNT_GRID), epsilon) > delta:
        steps -= 1 + steps // 10**14
    return Fraction(max(0, steps), AMOUNT_GRID)


def _on_grid(value: float | Fraction, grid: int) -> Fraction:
    return Fraction(math.ceil(Fraction(value) * grid), grid)
