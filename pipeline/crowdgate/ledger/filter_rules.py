"""Replay rules of filters: a filter keeps the registered budget, and its total follows from the charges.

A filter is opened with the registration of its population, or in place of an additive budget. An additive budget that
was charged is closed and stays spent: the total of the population is then its cap and that of the filter together.
A raise keeps orders, shares and the closed budget. So every charge before and after it was made within the raised caps,
which is all that the promise of a filter needs.
"""

from collections.abc import Sequence
from fractions import Fraction
from operator import add, sub
from typing import Any

from crowdgate.accounting.lifetime import Lifetime
from crowdgate.ledger.filters import filter_row, limits, parse_lifetime, parse_units, parse_vector, units_text, zero
from crowdgate.ledger.schema import COLUMNS, DIVERGENCES, FILTERS
from crowdgate.ledger.values import ZERO, Spend

Row = tuple[str, tuple[Any, ...]]


def is_opened(cap: Spend, rows: Sequence[Row], population: str) -> bool:
    """Return whether `rows` open a filter that keeps `cap`, with nothing spent and no closed budget."""
    opened = _lifetime(rows)
    return opened.closed == _pair(ZERO) and opened.keeps(*_pair(cap)) and _is_row(rows, population, opened, None)


def is_converted(old: Spend, new: Spend, charged: bool, rows: Sequence[Row], population: str) -> bool:
    """Return whether `rows` open a filter for a population with an additive budget `old`: for the same budget if
    nothing is `charged` to it; otherwise for what `new` has above `old`, which is closed."""
    opened = _lifetime(rows)
    closed = old if charged else ZERO
    more = new.epsilon > old.epsilon and new.delta > old.delta if charged else new == old
    kept = opened.closed == _pair(closed) and opened.keeps(*_pair(new))
    return more and kept and _is_row(rows, population, opened, None)


def is_raised(cap: Spend, before: tuple[Any, ...] | None, rows: Sequence[Row], population: str) -> bool:
    """Return whether `rows` raise the filter of a population, whose row was `before`, to one that keeps `cap`; no rows
    without a filter."""
    if before is None:
        return not rows
    old, new = parse_lifetime(before[1]), _lifetime(rows)
    same = (old.closed, old.filter.orders, old.filter.shares) == (new.closed, new.filter.orders, new.filter.shares)
    caps = zip((*old.filter.caps, old.filter.cut_cap), (*new.filter.caps, new.filter.cut_cap), strict=True)
    larger = all(one <= other for one, other in caps)
    return same and larger and new.keeps(*_pair(cap)) and _is_row(rows, population, new, before[2])


def charge_rows(number: int, before: tuple[Any, ...], amounts: str, *, within: bool) -> list[Row]:
    """Return the rows that count the charge `number` with the vector `amounts` in a filter whose row is `before`.

    Raises ValueError for a vector of other orders, and, with `within`, for a charge that the filter refuses.
    """
    population, caps, spent = before
    greatest, more = limits(caps), parse_units(amounts)
    total = tuple(map(add, map(int, spent.split(" ")), more))
    if len(more) != len(greatest) or (within and not allows(greatest, total)):
        raise ValueError("a charge that the filter refuses")
    return [(DIVERGENCES, (number, amounts)), (FILTERS, (population, caps, units_text(total)))]


def allows(greatest: Sequence[int], total: Sequence[int]) -> bool:
    """Return whether the caps allow a total, as `Filter.allows` does, in whole numbers: replay is faster so."""
    orders = zip(total[:-1], greatest[:-1], strict=True)
    return total[-1] <= greatest[-1] and any(0 < cap >= amount for amount, cap in orders)


def rows_given_back(before: tuple[Any, ...], amounts: str) -> list[Row]:
    """Return the row of a filter without a charge of the vector `amounts`; its row is `before`."""
    population, caps, spent = before
    rest = map(sub, map(int, spent.split(" ")), parse_units(amounts))
    return [(FILTERS, (population, caps, units_text(rest)))]


def _lifetime(rows: Sequence[Row]) -> Lifetime:
    ((_, (_, caps, _)),) = rows
    return parse_lifetime(caps)


def _is_row(rows: Sequence[Row], population: str, lifetime: Lifetime, spent: str | None) -> bool:
    total = zero(lifetime) if spent is None else parse_vector(spent)
    row = filter_row(population, lifetime, total)
    return list(rows) == [(FILTERS, tuple(row[name] for name in COLUMNS[FILTERS]))]


def _pair(spend: Spend) -> tuple[Fraction, Fraction]:
    return spend.epsilon, spend.delta
