"""Rows of the ledger's filters: the caps of a population, its total in Renyi divergences, and the vectors of charges.

A vector is stored as text: its divergences in the order of the filter's orders, in steps of 10^-12, and then its cut
mass in steps of 10^-24, with a blank between. So sums are sums of whole numbers. A charge with a vector was counted by
the filter of its population.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import Any

from crowdgate.accounting.lifetime import Lifetime
from crowdgate.accounting.renyi import AMOUNT_GRID, CUT_GRID, Divergences, largest
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


def on_grid(vector: Divergences) -> Divergences:
    """Return a vector rounded up to what the ledger stores."""
    return Divergences.rounded(vector.amounts, vector.cut)


def vector_text(vector: Divergences) -> str:
    """Return a vector as text, rounded up to the grid. Raises ValueError for a vector that is too long."""
    amounts = [ceil(each * AMOUNT_GRID) for each in vector.amounts]
    return units_text((*amounts, ceil(vector.cut * CUT_GRID)))


def units_text(units: Iterable[int]) -> str:
    """Return whole numbers of grid steps as the text of a vector. Raises ValueError if one of them is too long."""
    text = " ".join(map(str, units))
    if len(text) > MOST_DIGITS:
        raise ValueError(f"the divergences of a charge must have at most {MOST_DIGITS} digits together")
    return text


@lru_cache(1000)
def parse_units(text: str) -> tuple[int, ...]:
    """Return a vector in whole numbers of grid steps. Raises ValueError for any other text."""
    units = tuple(map(int, text.split(" "))) if len(text) <= MOST_DIGITS else ()
    if not 2 <= len(units) <= MOST_ORDERS + 1 or min(units) < 0 or units_text(units) != text:
        raise ValueError("a vector has a whole number of at least 0 for each order, and one for the cut mass")
    return units


def parse_vector(text: str) -> Divergences:
    """Return the vector of a text. Raises ValueError for any other text."""
    *amounts, cut = parse_units(text)
    return Divergences(tuple(Fraction(each, AMOUNT_GRID) for each in amounts), Fraction(cut, CUT_GRID))


def lifetime_text(lifetime: Lifetime) -> str:
    """Return orders, shares, caps with that of cut mass, and the closed budget of a lifetime as text: four lists,
    separated by semicolons."""
    kept = lifetime.filter
    lists = (map(str, kept.orders), map(_text, kept.shares), map(_text, (*kept.caps, kept.cut_cap)))
    return "; ".join(" ".join(each) for each in (*lists, map(_text, lifetime.closed)))


@lru_cache(100)
def parse_lifetime(text: str) -> Lifetime:
    """Return the lifetime of a text that `lifetime_text` made. Raises ValueError or ZeroDivisionError for any other
    text."""
    orders, *others = [each.split(" ") for each in text.split("; ")]
    shares, (*caps, cut), (epsilon, delta) = [tuple(map(amount, each)) for each in others]
    found = Lifetime(Filter(tuple(map(int, orders)), shares, cut, tuple(caps)), (epsilon, delta))
    if len(orders) > MOST_ORDERS or lifetime_text(found) != text:
        raise ValueError(f"a filter has at most {MOST_ORDERS} orders, and exactly one text")
    return found


@lru_cache(100)
def limits(text: str) -> tuple[int, ...]:
    """Return the caps of a lifetime, and that of cut mass, in whole numbers of grid steps, rounded down. Raises as
    `parse_lifetime` does."""
    kept = parse_lifetime(text).filter
    return (*(floor(cap * AMOUNT_GRID) for cap in kept.caps), floor(kept.cut_cap * CUT_GRID))


def filter_row(population: str, lifetime: Lifetime, spent: Divergences) -> Mapping[str, Any]:
    """Return the row of `filters` of a population."""
    return {"population": population, "caps": lifetime_text(lifetime), "spent": vector_text(spent)}


def _text(value: Fraction) -> str:
    return f"{value.numerator}/{value.denominator}"
