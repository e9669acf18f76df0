"""Releases of past periods that a policy's calendar has and its ledger lacks: found and priced together, then made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdgate.errors import ConfigurationError, FileFault, LedgerRefused, Problem
from crowdgate.kind.run import Request, Result
from crowdgate.ledger.values import State
from crowdgate.planning.budget_left import ledger_status, today
from crowdgate.planning.open_ledger import OpenedLedger
from crowdgate.planning.plan import plan_policy
from crowdgate.policy.policy import release_id
from crowdgate.releases.enforcement import refuse_dry_run

if TYPE_CHECKING:
    from crowdgate.kind.plan import Plan
    from crowdgate.planning.budget_left import BudgetLeft

MOST_SLOTS = 1000
SLOT = "{slot}"
"""The placeholder of the slot in a path of tables."""


@dataclass(frozen=True, eq=False)
class Backfill:
    """Missing releases of past periods, those of them that are not charged yet, and the budget that is left before."""

    plan: Plan
    policy: Path
    slots: tuple[str, ...]
    unpaid: tuple[str, ...]
    left: BudgetLeft

    def words(self) -> list[str]:
        """Return which releases are missing and what they cost together, in sentences."""
        name = self.plan.bundle.policy.metadata.name
        if not self.slots:
            return [f"No release of {name} is missing."]
        listed = ", ".join(self.slots)
        return [f"Missing releases of {name}: {listed}.", *self._cost()]

    def _cost(self) -> list[str]:
        return self.left.several_text(len(self.unpaid), self.plan) if self.unpaid else ["They are charged already."]

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints before anything is made."""
        return {"slots": list(self.slots), "budget": self.left.several_json(len(self.unpaid))}

    def run(self, release: Callable[[Request], Result], tables: str | None, ledger: str | None) -> Iterator[Result]:
        """Make the missing releases, the oldest first, and yield each result. `tables` is the path of each period's
        table, with {slot} in place of the slot (None: the contract's table each time).

        Raises LedgerRefused before the first one if the budget does not pay for all of them, and FileFault if a table
        is missing.
        """
        if tables is not None and SLOT not in tables and len(self.slots) > 1:
            raise _wrong(
                "--input", "one table for several periods", f"a path with {SLOT}, the first day of each period"
            )
        absent = [each for each in self.slots if tables and not Path(tables.replace(SLOT, each)).exists()]
        if absent:
            raise FileFault(f"no table for {', '.join(absent)} ({tables}); nothing was read, and nothing is charged")
        if len(self.unpaid) > self.left.releases:
            raise LedgerRefused(f"{' '.join(self.words())} Nothing was read, and nothing is charged")
        for slot in self.slots:
            table = None if tables is None else Path(tables.replace(SLOT, slot))
            yield release(Request(self.policy, slot, table, None, ledger))


def missing_releases(policy: Path, first: date, last: date | None, ledger: str | None) -> Backfill:
    """Return the releases of a policy's calendar from `first` to `last` (None: the period before the current one) that
    were never charged, or not yet published.

    Raises ConfigurationError for a policy without a calendar, and for a range that is empty or too long.
    """
    plan = plan_policy(policy)
    refuse_dry_run(plan.bundle)
    calendar = plan.bundle.policy.spec.calendar
    if calendar is None:
        raise _wrong(str(policy), "this policy has no calendar", "spec.calendar, such as {every: month}")
    current = date.fromisoformat(calendar.slot_at(datetime.now(UTC)))
    if first >= current or (last is not None and not first <= last < current):
        raise _wrong("--from", "no period that has ended", f"a day before {current}, and --until after it")
    slots = [each for each in calendar.slots(first, last or current) if each < current.isoformat()]
    if len(slots) > MOST_SLOTS:
        raise _wrong("--from", f"more than {MOST_SLOTS} periods", "a later day")
    opened = OpenedLedger(plan.bundle.root, plan.bundle.budget.spec.ledger, ledger)
    states = {each.release_id: each.state for each in opened.ledger().entries() if each.state is not State.VOID}
    known = {each: states.get(release_id(plan.bundle.policy, each)) for each in slots}
    missing = tuple(each for each, state in known.items() if state in (None, State.COMMITTED))  # or it waits
    unpaid = tuple(each for each in missing if known[each] is None)
    return Backfill(plan, policy, missing, unpaid, ledger_status(plan, opened, today()).left)


def _wrong(where: str, found: str, expected: str) -> ConfigurationError:
    return ConfigurationError(Problem("command line", None, where, found, expected))
