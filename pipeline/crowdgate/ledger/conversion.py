"""Raises of a registered budget, and its conversion to Renyi divergences.

Both write what replay accepts (`filter_rules`). Neither gives back anything that was spent. A conversion is decided
before the first charge, or it opens a second budget: to choose an accounting by what was seen of earlier releases keeps
no promise, unless each accounting has an epsilon and a delta of its own.
"""

from dataclasses import replace

from crowdgate.accounting.lifetime import Lifetime
from crowdgate.accounting.renyi_filter import Filter
from crowdgate.errors import LedgerRefused
from crowdgate.ledger import contents
from crowdgate.ledger.filters import filter_row, zero
from crowdgate.ledger.journal import Row
from crowdgate.ledger.journal_rules import CONVERTED
from crowdgate.ledger.journal_writer import JournalWriter
from crowdgate.ledger.reservations import refuse_old_format
from crowdgate.ledger.schema import FILTERS, POPULATIONS
from crowdgate.ledger.values import ZERO, Budget, Spend, budget_row


def raise_budget(pen: JournalWriter, population: str, cap: Spend | None, people: int | None, reason: str) -> Budget:
    """Raise the registered budget of a population, and the caps of its filter at the same orders and shares. Raises
    LedgerRefused.
    """
    old = _registered(pen, population)
    new = replace(old, cap=cap or old.cap, people=old.people if people is None else people)
    if new == old or not old.cap.within(new.cap) or new.people < old.people:
        raise LedgerRefused(
            f"a budget can't be lowered. {population} has {old.cap} for {old.people} people; state larger figures"
        )
    if old.lifetime is not None and new.cap != old.cap:
        new = replace(new, lifetime=_raised(old.lifetime, new.cap))
    pen.line("budget.raised", population, None, _rows(pen, new), reason=reason)
    return new


def convert(pen: JournalWriter, population: str, more: Spend | None, reason: str) -> Budget:
    """Count all further charges of a population by a filter. Without a charge so far, the filter keeps its budget.

    After a charge the additive budget is closed: it stays spent as a whole, and the filter keeps `more` beside it.
    Raises LedgerRefused.
    """
    refuse_old_format(pen.held, FILTERS, "Renyi divergences")
    old = _registered(pen, population)
    if old.lifetime is not None:
        raise LedgerRefused(f"the population {population} is counted in Renyi divergences already")
    if pen.held.is_charged(population):
        new = _beside(pen, old, more)
    elif more is not None:
        raise LedgerRefused(
            f"nothing is charged to {population}, so its own budget is converted. Leave out --epsilon and --delta"
        )
    else:
        new = replace(old, lifetime=_planned(old.cap, ZERO))
    pen.line(CONVERTED, population, None, _rows(pen, new), reason=reason)
    return new


def convert_again(pen: JournalWriter, population: str, stated: Budget | None, reason: str) -> None:
    """Convert a registered budget whose conversion a restored copy lacks, to the amounts `stated` in its file.

    Raises LedgerRefused if its file does not state them: then nobody could say which charges the filter keeps.
    """
    old, more = _registered(pen, population), None
    if pen.held.is_charged(population):
        if stated is None or stated.lifetime is None or not _is_above(stated.cap, old.cap):
            said = f"the copy lacks the conversion of {population} to Renyi divergences, and no policy here states it"
            write = "Write the amounts that `ledger convert` printed, and `accounting: renyi`, into its budget file"
            raise LedgerRefused(f"{said}. {write}, or give a later copy")
        more = stated.cap - old.cap
    convert(pen, population, more, reason)


def _is_above(cap: Spend, old: Spend) -> bool:
    return cap.epsilon > old.epsilon and cap.delta > old.delta


def _beside(pen: JournalWriter, old: Budget, more: Spend | None) -> Budget:
    """Return the budget with a filter for `more` beside the closed additive budget `old`."""
    if more is None or not more.epsilon or not more.delta:
        said = f"{old.population} was charged before, so its budget can't be converted: {old.cap} stays spent"
        raise LedgerRefused(f"{said}. State --epsilon and --delta of a second budget, which are added to it")
    if not contents.spent(pen.held, old.population).within(old.cap):
        raise LedgerRefused(f"{old.population} has spent more than its budget of {old.cap}; raise it first")
    return replace(old, cap=old.cap + more, lifetime=_planned(old.cap + more, old.cap))


def _raised(old: Lifetime, cap: Spend) -> Lifetime:
    _planned(cap, Spend(*old.closed))
    epsilon, delta = cap.epsilon - old.closed[0], cap.delta - old.closed[1]
    return replace(old, filter=Filter.planned(epsilon, delta, old.filter.orders, old.filter.shares))


def _planned(cap: Spend, closed: Spend) -> Lifetime:
    """Return the lifetime of a budget. Raises LedgerRefused for amounts that no filter has."""
    try:
        return Lifetime.planned(cap.epsilon, cap.delta, (closed.epsilon, closed.delta))
    except ValueError as error:
        raise LedgerRefused(f"no filter has a budget of {cap}: expected {error}") from None


def _registered(pen: JournalWriter, population: str) -> Budget:
    found = contents.budget(pen.held, population)
    if found is None:
        raise LedgerRefused(f"the population {population} is not registered; its first release registers it")
    return found


def _rows(pen: JournalWriter, budget: Budget) -> list[Row]:
    """Write a budget and its filter, and return their rows."""
    rows = [pen.put(POPULATIONS, **budget_row(budget))]
    if budget.lifetime is not None:
        spent = contents.divergences(pen.held, budget.population) or zero(budget.lifetime)
        rows.append(pen.put(FILTERS, **filter_row(budget.population, budget.lifetime, spent)))
    return rows
