"""Rows of the ledger's filters: the caps of a population, its total in Renyi divergences, and the vectors of charges.

A vector is stored as text: its divergences in the order of the filter's orders and then its cut mass, each "p/q",
with a blank between. A charge with a vector was counted by the filter of its population.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from crowdgate.accounting.lifetime import Lifetime
from crowdgate.accounting.renyi import Divergences, largest
from crowdgate.accounting.renyi_filter import Filter
from crowdgate.ledger.values import MOST_DIGITS, amount

MOST_ORDERS = 10
"""The greatest number of orders of a filter."""


@dataclass(frozen=True)
class OrderedCost:
    """Divergences of releases, with their orders."""

    orders: tuple[int, ...]
    divergences: Divergences

    def at(self, orders: tuple[int, ...]) -> Divergences | None:
        """Return the divergences if they are at these orders; None otherwise."""
        return self.divergences if self.orders == orders else None


def largest_counted(found: Iterable[OrderedCost | None]) -> OrderedCost | None:
    """Return the largest known divergences; None if none are known, or if they are at several orders."""
    known = [each for each in found if each is not None]
    if len({each.orders for each in known}) != 1:
        return None
    return OrderedCost(known[0].orders, largest([each.divergences for each in known]))


def zero(lifetime: Lifetime) -> Divergences:
    """Return the total of a population without charges."""
    return Divergences.zero(len(lifetime.filter.orders))


def is_zero(vector: Divergences) -> bool:
    """Return whether a vector has no amount above 0."""
    return not any((*vector.amounts, vector.cut))


def excess(stated: Divergences, known: Divergences) -> Divergences:
    """Return by how much each amount of `stated` is above that of `known`, 0 where it is not."""
    pairs = zip(stated.amounts, known.amounts, strict=True)
    none = Fraction(0)
    return Divergences(tuple(max(none, one - other) for one, other in pairs), max(none, stated.cut - known.cut))


def vector_text(vector: Divergences) -> str:
    """Return a vector as text. Raises ValueError for more than 300 digits."""
    values = (*vector.amounts, vector.cut)
    for value in values:
        if max(value.numerator, value.denominator) >= 10**MOST_DIGITS:
            raise ValueError(f"a divergence must have at most {MOST_DIGITS} digits above and below the fraction line")
    return " ".join(_text(value) for value in values)


@lru_cache(1000)
def parse_vector(text: str) -> Divergences:
    """Return the vector of a text. Raises ValueError or ZeroDivisionError for any other text."""
    *amounts, cut = [amount(each) for each in text.split(" ")]
    if not 1 <= len(amounts) <= MOST_ORDERS:
        raise ValueError("a vector has an amount for each order, and a cut mass")
    return Divergences(tuple(amounts), cut)


def lifetime_text(lifetime: Lifetime) -> str:
    """Return orders, shares, caps and cap of cut mass of a filter, and the closed budget beside it, as JSON."""
    kept = lifetime.filter
    said = {
        "orders": list(kept.orders),
        "shares": [_text(each) for each in kept.shares],
        "caps": [_text(each) for each in kept.caps],
        "cut": _text(kept.cut_cap),
        "closed": [_text(each) for each in lifetime.closed],
    }
    return json.dumps(said, separators=(",", ":"))


@lru_cache(100)
def parse_lifetime(text: str) -> Lifetime:
    """Return the lifetime of a text that `lifetime_text` made. Raises ValueError, KeyError, TypeError or
    AttributeError for any other text."""
    said = json.loads(text)
    shares, caps, closed = (_amounts(said[name]) for name in ("shares", "caps", "closed"))
    kept = Filter(tuple(said["orders"]), shares, amount(said["cut"]), caps)
    if len(kept.orders) > MOST_ORDERS or len(closed) != 2:
        raise ValueError(f"a filter has at most {MOST_ORDERS} orders, and a closed budget of epsilon and delta")
    found = Lifetime(kept, (closed[0], closed[1]))
    if lifetime_text(found) != text:
        raise ValueError("a filter has exactly one text")
    return found


def filter_row(population: str, lifetime: Lifetime, spent: Divergences) -> Mapping[str, Any]:
    """Return the row of `filters` of a population."""
    return {"population": population, "caps": lifetime_text(lifetime), "spent": vector_text(spent)}


def _amounts(texts: Sequence[str]) -> tuple[Fraction, ...]:
    return tuple(map(amount, texts))


def _text(value: Fraction) -> str:
    return f"{value.numerator}/{value.denominator}"
