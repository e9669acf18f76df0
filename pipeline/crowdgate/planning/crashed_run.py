"""Refusal of an id whose run began to read and did not end: what was spent, what is left, and what to do."""

from fractions import Fraction
from math import floor

from crowdgate.errors import LedgerRefused
from crowdgate.ledger.ledger import Budget, Entry, Ledger


def crashed_refusal(ledger: Ledger, entry: Entry, remedy: str) -> LedgerRefused:
    """Return the refusal to run the id of `entry` again. `remedy` is the way to go on, in words.

    Amounts are those of the ledger. A budget file that states less leaves less.
    """
    budget = ledger.budget(entry.population)
    assert budget is not None, "a charge registers the budget"
    left, whether = _left(ledger, entry, budget)
    enough = f"{'' if whether else 'not '}enough for another such run"
    spent = ledger.paying(entry).spend
    return LedgerRefused(
        f"{entry.release_id} has started and not ended: it crashed or still runs. Spent: {spent}, which stays "
        f"charged, because the table was read. Left of {entry.population}: {left}, {enough}. To go on, {remedy}. If it "
        f"crashed, the reason is in its private record: `crowdgate record show {entry.release_id}` (recorded)",
        "spent",
    )


def _left(ledger: Ledger, entry: Entry, budget: Budget) -> tuple[str, bool]:
    """Return what is left of a population's budget as text, and whether it pays the cost of `entry` once more."""
    counted, total = ledger.counted(entry), ledger.divergences(entry.population)
    if budget.lifetime is None or counted is None or total is None:
        left = ledger.spent(entry.population).left_of(budget.cap)
        return str(left), budget.lifetime is None and entry.spend.within(left)
    part = floor(100 * max(Fraction(0), 1 - budget.lifetime.used(total)))
    return f"{part} % of {budget.cap} in Renyi divergences", budget.lifetime.filter.allows(total, counted)
