"""Budgets in the ledger: registered, spent and left; and raising one."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import Any

from crowdgate.domain import parse_number
from crowdgate.errors import ConfigurationError, Problem
from crowdgate.ledger.ledger import Budget, Ledger, Spend
from crowdgate.number_text import exact_text, stated_number
from crowdgate.planning.low_budget import low_by_part


def budgets_json(ledger: Ledger) -> list[dict[str, Any]]:
    """Return every registered budget with the amounts that its population has spent and has left."""
    return [
        {
            "population": budget.population,
            "people": budget.people,
            "unit": budget.unit,
            "relation": budget.relation,
            "registered": _spend_json(budget.cap),
            "spent": _spend_json(spent),
            **(_counted_json(ledger, budget) or {"left": _spend_json(spent.left_of(budget.cap))}),
        }
        for budget in ledger.budgets()
        for spent in [ledger.spent(budget.population)]
    ]


def _counted_json(ledger: Ledger, budget: Budget) -> dict[str, Any]:
    """Return the filter of a budget: its orders, caps and cap of cut mass, what is used of each, and the used part of
    the whole; nothing for an additive budget.
    """
    lifetime, total = budget.lifetime, ledger.divergences(budget.population)
    if lifetime is None or total is None:
        return {}
    kept, (epsilon, delta) = lifetime.filter, lifetime.closed
    closed = {"closed": _spend_json(Spend(epsilon, delta))} if epsilon or delta else {}
    return {
        "accounting": budget.accounting,
        "used": exact_text(lifetime.used(total)),
        "divergences": [
            {"order": order, "cap": exact_text(cap), "spent": exact_text(spent)}
            for order, cap, spent in zip(kept.orders, kept.caps, total.amounts, strict=True)
        ],
        "cut_mass": {"cap": exact_text(kept.cut_cap), "spent": exact_text(total.cut)},
        **closed,
    }


def budget_left_text(entry: Mapping[str, Any]) -> str:
    """Return the budget left of one entry of `budgets_json` in words: as a percentage (rounded down), and in
    numbers.
    """
    if "used" in entry:
        return _counted_text(entry)
    left, registered = (
        {name: _written(entry[of][name]) for name in ("epsilon", "delta")} for of in ("left", "registered")
    )
    numbers = ", ".join(f"{name} {left[name]} of {registered[name]}" for name in left)
    return f"{entry['population']} has {percent_left(entry)} % of its lifetime budget left: {numbers}"


def _written(number: str) -> str:
    """Return an exact number of `budgets_json` as pages write it."""
    return stated_number(Fraction(number))


def percent_left(entry: Mapping[str, Any]) -> int:
    """Return the part of the budget of one entry of `budgets_json` that is left, in percent, rounded down."""
    return floor(100 * _part_left(entry))


def low_budget_text(entry: Mapping[str, Any]) -> str | None:
    """Return the warning that little is left of the budget of one entry of `budgets_json`; None if enough is."""
    return low_by_part(_part_left(entry))


def _part_left(entry: Mapping[str, Any]) -> Fraction:
    """Return the part of a budget that is left, 0 to 1: of its filter, or the lesser one of epsilon and delta."""
    if "used" in entry:
        return max(Fraction(0), 1 - Fraction(entry["used"]))
    caps, left = ({name: Fraction(entry[of][name]) for name in ("epsilon", "delta")} for of in ("registered", "left"))
    return min((left[name] / cap for name, cap in caps.items() if cap), default=Fraction(0))


def _counted_text(entry: Mapping[str, Any]) -> str:
    """Return what is left of a budget in Renyi divergences: all releases together keep the registered amounts."""
    numbers = ", ".join(f"{name} {_written(entry['registered'][name])}" for name in ("epsilon", "delta"))
    old = entry.get("closed")
    beside = (
        f", of which epsilon {old['epsilon']}, delta {old['delta']} are of the additive budget before, which is closed"
        if old
        else ""
    )
    part = f"{percent_left(entry)} % of its lifetime budget left, in Renyi divergences"
    return f"{entry['population']} has {part}; all releases together keep {numbers}{beside}"


def convert_budget(ledger: Ledger, population: str, epsilon: str | None, delta: str | None, reason: str) -> None:
    """Count all further charges of a population in Renyi divergences. `epsilon` and `delta` are those of the second
    budget that a population with charges needs. Raises ConfigurationError for wrong numbers, LedgerRefused.
    """
    ledger.admit()
    if (epsilon is None) != (delta is None):
        raise _wrong("--epsilon and --delta", "one of them", "both, or none")
    more = None
    if epsilon is not None and delta is not None:
        more = Spend(_number("--epsilon", epsilon), _number("--delta", delta))
    ledger.convert(population, more, reason)


def raise_budget(
    ledger: Ledger, population: str, epsilon: str | None, delta: str | None, people: int | None, reason: str | None
) -> None:
    """Raise the registered budget of a population; amounts that are None stay. Raises ConfigurationError for wrong
    numbers or no reason.
    """
    ledger.admit()
    registered = ledger.budget(population)
    if not reason or (epsilon, delta, people) == (None, None, None):
        raise _wrong("--raise", "no reason, or nothing to raise", "--reason and one of --epsilon, --delta, --people")
    if registered is None:
        raise _wrong("POPULATION", f"{population!r} is not registered", "a population of this ledger")
    cap = registered.cap
    if epsilon is not None:
        cap = replace(cap, epsilon=_number("--epsilon", epsilon))
    if delta is not None:
        cap = replace(cap, delta=_number("--delta", delta))
    ledger.raise_budget(population, cap, people, reason)


def _number(option: str, text: str) -> Fraction:
    number = parse_number(text)
    if number is None or number < 0:
        raise _wrong(option, repr(text), "a decimal number of at least 0")
    return number


def _wrong(option: str, found: str, expected: str) -> ConfigurationError:
    return ConfigurationError(Problem("command line", None, option, found, expected))


def _spend_json(spend: Spend) -> dict[str, str]:
    return {"epsilon": exact_text(spend.epsilon), "delta": exact_text(spend.delta)}
