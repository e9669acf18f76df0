"""A privacy filter for releases that are chosen by what earlier ones showed: sums of Renyi divergences.

A filter is fixed when a budget is created: orders, a cap for the sum of divergences at each order, and a cap for the
sum of cut masses. A release may start while, with it, the cut masses keep their cap and the divergences keep theirs
**at at least one order**.

Theorem. Let each release, its divergences and its cut mass be chosen by any rule from the outputs of earlier ones, and
let the releases end at any time at which the filter has not been passed over. Then for each epsilon the outputs of all
releases together are (epsilon, delta)-private with

    delta = cut_cap + sum over orders a of e^((a - 1)(cap_a - epsilon)) (1 - 1/a)^a / (a - 1).

The proof, its sources, and why simpler rules fail: LIFETIME.md.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from crowdgate.accounting.numbers import GREATEST_COUNT, Number, epsilon_of, exact, raised, up, whole
from crowdgate.accounting.renyi import Divergences, delta_at, greatest_amount

SHARES = (Fraction(1, 5), Fraction(3, 5), Fraction(1, 5))
"""Default shares of delta of the orders."""
CUT_SHARE = Fraction(1, 4)
"""Default part of delta that is the cap of cut masses."""
GREATEST_ORDER = 1000
LEAST_DELTA = 1e-200


@dataclass(frozen=True)
class Filter:
    """Caps that hold for a lifetime: `caps`, a Renyi divergence for each of the `orders`, planned from its share of
    delta, and `cut_cap`, a mass. An order with a cap of 0 allows nothing and costs nothing."""

    orders: tuple[int, ...]
    shares: tuple[Fraction, ...]
    cut_cap: Fraction
    caps: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if not len(self.orders) == len(self.shares) == len(self.caps) > 0:
            raise ValueError("orders, shares and caps must be equally many, at least one")
        if any(order != whole("order", order, 2, GREATEST_ORDER) for order in self.orders):
            raise ValueError("orders must be whole numbers")
        if list(self.orders) != sorted(set(self.orders)):
            raise ValueError("orders must rise")
        if sum(self.shares) > 1 or any(share <= 0 for share in self.shares):
            raise ValueError("shares must be above 0 and at most 1 together")
        if self.cut_cap < 0 or any(cap < 0 for cap in self.caps):
            raise ValueError("caps must be at least 0")

    @classmethod
    def planned(
        cls,
        epsilon: Number,
        delta: Number,
        orders: tuple[int, ...] | None = None,
        shares: tuple[Fraction, ...] = SHARES,
    ) -> "Filter":
        """Return the filter of a budget: with the greatest caps at which its `delta(epsilon)` is at most `delta`.

        A quarter of delta is the cap of cut masses; each order has its share of what is left. Orders are by default
        `default_orders`. delta in [LEAST_DELTA, 1).
        """
        limit, total = epsilon_of(epsilon), exact("delta", delta, LEAST_DELTA, 1, open_high=True)
        chosen = default_orders(limit, total) if orders is None else orders
        closed = cls(chosen, shares, total * CUT_SHARE, (Fraction(0),) * len(chosen))
        parts = zip(chosen, shares, strict=True)
        return replace(
            closed, caps=tuple(greatest_amount(order, limit, (1 - CUT_SHARE) * total * share) for order, share in parts)
        )

    def allows(self, spent: Divergences, more: Divergences) -> bool:
        """Return whether a release that costs `more` may start after releases that cost `spent`."""
        total = spent + more
        orders = zip(total.amounts, self.caps, strict=True)
        return total.cut <= self.cut_cap and any(amount <= cap for amount, cap in orders if cap)

    def delta(self, epsilon: Number) -> float:
        """Return the delta at `epsilon` of all releases that the filter allows in a lifetime, at most 1, rounded up."""
        limit = epsilon_of(epsilon)
        orders = zip(self.orders, self.caps, strict=True)
        parts = [delta_at(order, cap, limit) for order, cap in orders if cap]
        return min(1.0, raised(math.fsum([up(self.cut_cap), *parts])))

    def part(self, one: Divergences) -> Fraction:
        """Return the least part of a cap that the divergences of `one` take; 0 if no cap is above 0."""
        pairs = zip(one.amounts, self.caps, strict=True)
        return min((amount / cap for amount, cap in pairs if cap), default=Fraction(0))

    def left(self, spent: Divergences, one: Divergences) -> int:
        """Return how many releases that cost `one` the filter still allows after `spent`; GREATEST_COUNT if they cost
        nothing."""
        room = _times(self.cut_cap - spent.cut, one.cut)
        orders = zip(self.caps, spent.amounts, one.amounts, strict=True)
        return max(0, min(room, max((_times(cap - amount, each) for cap, amount, each in orders if cap), default=0)))


def default_orders(epsilon: Fraction, delta: Fraction) -> tuple[int, ...]:
    """Return three orders near the one at which Gaussian noise that spends all of (epsilon, delta) is converted best, a
    = 1 + sqrt(l) / (sqrt(l + epsilon) - sqrt(l)) with l = -ln delta: 8, 10 and 14 at (4, 1e-8)."""
    log = -math.log(delta)
    best = 1 + math.sqrt(log) * (math.sqrt(log + epsilon) + math.sqrt(log)) / max(float(epsilon), 1e-9)
    best = min(max(3.0, best), GREATEST_ORDER / 1.4)
    middle = math.floor(best)
    return min(math.floor(0.8 * best), middle - 1), middle, math.floor(1.4 * best)


def _times(room: Fraction, one: Fraction) -> int:
    """Return how often `one` fits into `room`; -1 if `room` is below 0."""
    if room < 0:
        return -1
    return min(GREATEST_COUNT, math.floor(room / one)) if one else GREATEST_COUNT
