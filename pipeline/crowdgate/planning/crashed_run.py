"""Refusal of an id whose run began to read and did not end: what was spent, what is left, and what to do."""

from crowdgate.errors import LedgerRefused
from crowdgate.ledger.ledger import Entry, Ledger


def crashed_refusal(ledger: Ledger, entry: Entry, remedy: str) -> LedgerRefused:
    """Return the refusal to run the id of `entry` again. `remedy` is the way to go on, in words.

    Amounts are those of the ledger. A budget file that states less leaves less.
    """
    budget = ledger.budget(entry.population)
    assert budget is not None, "a charge registers the budget"
    left = ledger.spent(entry.population).left_of(budget.cap)
    enough = "enough for another such run" if entry.spend.within(left) else "not enough for another such run"
    return LedgerRefused(
        f"{entry.release_id} has started and not ended: it crashed or still runs. Spent: {entry.spend}, which stays "
        f"charged, because the table was read. Left of {entry.population}: {left}, {enough}. To go on, {remedy}. If it "
        f"crashed, the reason is in its private record: `crowdgate record show {entry.release_id}` (recorded)",
        "spent",
    )
