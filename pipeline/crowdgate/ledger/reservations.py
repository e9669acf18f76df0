"""Reservations, which are leases until their reading begins, and the running totals.

A charge counts from the moment it is made. Until its reading begins it can be given back: by its own run, by a person,
or, once it is older than LEASE_SECONDS by the store's clock, by any run that requests the same release. Its number is
never used again, so a run whose lease was given back can't begin, nor write anything else.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from crowdgate.errors import LedgerRefused
from crowdgate.ledger import contents
from crowdgate.ledger.journal import JournalLine, Row, last_of
from crowdgate.ledger.journal_rules import JournalState
from crowdgate.ledger.journal_writer import JournalWriter
from crowdgate.ledger.schema import CONTRACTS, ENTRIES, FREEZES, POPULATIONS, TOTALS
from crowdgate.ledger.transitions import RESERVED, VOID
from crowdgate.ledger.values import Budget, Entry, Spend, State, amounts, budget_row, label, optional

LEASE_SECONDS = 60
"""Seconds from a charge to its first read after which other runs may free it. A run takes milliseconds, in a scheduler
seconds.
"""


@dataclass(frozen=True)
class ChargeRequest:
    """A request to charge the privacy cost of a release to a population.

    `sample` names an inherited sample, which one release uses up permanently; `version` is the policy and its version,
    which has one digest; `holder` is the run, which may request its own lease again.
    """

    release_id: str
    policy_digest: str
    contract: str
    budget: Budget
    spend: Spend
    sample: str | None = None
    version: str | None = None
    holder: str | None = None

    def check(self) -> None:
        """Raise ValueError if the ledger can't store a value of this request."""
        label("release id", self.release_id)
        label("policy digest", self.policy_digest)
        label("contract id", self.contract)
        optional("sample", self.sample)
        optional("holder", self.holder)
        amounts(self.spend)

    def row(self, number: int, at: str) -> dict[str, Any]:
        """Return the row of the table `entries` for this charge, with the `number` that identifies the charge and the
        time `at`.
        """
        return {
            "number": number,
            "release_id": self.release_id,
            "policy_digest": self.policy_digest,
            "population": self.budget.population,
            **amounts(self.spend),
            "state": State.RESERVED.value,
            "reading": False,
            "sample": self.sample,
            "holder": self.holder,
            "since": at,
        }


@dataclass(frozen=True)
class Reservation:
    """A charge: its `number` identifies it, `spent` is the population's total charge with it, `line` is its line of the
    journal.
    """

    release_id: str
    number: int
    spent: Spend
    line: JournalLine


def charge(pen: JournalWriter, asked: ChargeRequest) -> Reservation:
    """Charge a release to its population, or take over the lease of the same run. Raises LedgerRefused; then nothing is
    charged.
    """
    check_rows(pen, asked.budget.population, asked.contract)
    lease = _lease(pen, asked)
    pen.seen.row(pen.database, FREEZES, asked.budget.population)
    refuse_frozen(pen.held, asked.budget.population)
    before = contents.spent(pen.held, asked.budget.population)
    if lease is not None:
        return Reservation(asked.release_id, lease.number, before, _line(pen, asked.release_id))
    refuse_used_sample(pen.held, asked.budget.population, asked.sample)
    if asked.version is not None:
        refuse_changed_version(pen.held, asked.version, asked.policy_digest)
    _refuse_more(asked, budget_in_force(pen.held, asked.contract, asked.budget).cap, before)
    _register(pen, asked.contract, asked.budget)
    entry = pen.put(ENTRIES, **asked.row(pen.held.last + 1, pen.at))
    line = pen.line(
        RESERVED, asked.release_id, None, [entry, _total(pen, asked.budget.population, before + asked.spend)]
    )
    return Reservation(asked.release_id, entry[1]["number"], before + asked.spend, line)


def budget_in_force(held: JournalState, contract: str, stated: Budget) -> Budget:
    """Return the budget in force for a contract: the stricter of its registration and of the budget `stated` in the
    file. Raises LedgerRefused.
    """
    bound = contents.population_of(held, contract)
    if bound not in (None, stated.population):
        raise LedgerRefused(
            f"the contract {contract} is registered in this ledger for the population {bound}, and its file "
            f"names {stated.population}. Write {bound}"
        )
    registered = contents.budget(held, stated.population)
    if registered is None:
        return stated
    for name in ("unit", "relation"):
        there, here = getattr(registered, name), getattr(stated, name)
        if there != here:
            raise LedgerRefused(f"the population {stated.population} is registered with {name} {there}, not {here}")
    return replace(registered, cap=stated.cap.least(registered.cap), people=max(stated.people, registered.people))


def give_back(pen: JournalWriter, entry: Entry) -> None:
    """Make the charge of an entry void, provided its reading has not begun."""
    row = pen.put(ENTRIES, number=entry.number, state=State.VOID.value)
    rest = contents.spent(pen.held, entry.population) - entry.spend
    pen.line(VOID, entry.release_id, None, [row, _total(pen, entry.population, rest)])


def refuse_frozen(held: JournalState, population: str) -> None:
    """Raise LedgerRefused for a frozen population."""
    if contents.is_frozen(held, population):
        said = f"the population {population} is frozen: no run may charge its budget or read its data"
        raise LedgerRefused(f"{said}. To end this, run `crowdgate ledger thaw {population} --reason WHY`", "frozen")


def check_rows(pen: JournalWriter, population: str, contract: str) -> None:
    """Compare the rows that decide a charge to a population (budget, binding, total) with the journal's state. Raises
    JournalMismatch.
    """
    for table, key in ((POPULATIONS, population), (TOTALS, population), (CONTRACTS, contract)):
        pen.seen.row(pen.database, table, key)


def live_charge(pen: JournalWriter, release_id: str) -> Entry | None:
    """Return the charge of a release that is not void, after comparing it with the journal; None if there is none."""
    pen.seen.charge(pen.database, release_id)
    return contents.live_entry(pen.held, release_id)


def _lease(pen: JournalWriter, asked: ChargeRequest) -> Entry | None:
    """Return the lease that the requesting run already holds; None if it holds none. An expired lease of another run is
    given back.
    """
    found = live_charge(pen, asked.release_id)
    if found is None:
        return None
    same = found.policy_digest == asked.policy_digest
    if found.lease:
        if same and found.holder is not None and found.holder == asked.holder:
            return found
        if expired(found, pen.at):
            give_back(pen, found)
            return None
    if not same:
        raise LedgerRefused(
            f"{asked.release_id} was already run with other files (policy, contract, budget). Use a new version or slot"
        )
    if found.lease:
        said = f"another run of {asked.release_id} has started, and has not begun to read. Try again in {LEASE_SECONDS}"
        free = f"if that run is dead, run `crowdgate ledger free {asked.release_id}`"
        raise LedgerRefused(f"{said} seconds; {free}", "held")
    raise LedgerRefused(
        f"{asked.release_id} was run before and is {found.state}. A release id is never run twice: use a new slot",
        "exists",
    )


def expired(entry: Entry, now: str) -> bool:
    """Return whether a lease has expired by the store's clock. A lease without a time (ledgers of format 1) has
    expired.
    """
    if entry.since is None:
        return True
    return (datetime.fromisoformat(now) - datetime.fromisoformat(entry.since)).total_seconds() > LEASE_SECONDS


def refuse_used_sample(held: JournalState, population: str, sample: str | None) -> None:
    """Raise LedgerRefused for an inherited sample that a release has used up."""
    user = None if sample is None else held.samples.get((population, sample))
    if user is not None:
        raise LedgerRefused(f"the sample {sample} was already released by {user}. A sample can be released only once")


def refuse_changed_version(held: JournalState, version: str, policy_digest: str) -> None:
    """Raise LedgerRefused for a version of a policy that was charged with another digest."""
    other = held.other_digest(version, policy_digest)
    if other is not None:
        said = (
            f"{other} was charged for version {version} with other files (policy, contract, levels, margins or budget)"
        )
        free = f"If that run never began to read, free its charge with `crowdgate ledger free {other}`"
        raise LedgerRefused(f"{said}. Give the changed policy a new version. {free}")


def _refuse_more(asked: ChargeRequest, cap: Spend, before: Spend) -> None:
    if not (before + asked.spend).within(cap):
        raise LedgerRefused(
            f"the budget of the population {asked.budget.population} is too small for {asked.release_id}, which "
            f"costs {asked.spend}. "
            f"Left are {before.left_of(cap)} of {cap}. No data was read"
        )


def _register(pen: JournalWriter, contract: str, budget: Budget) -> None:
    if contents.budget(pen.held, budget.population) is None:
        row = pen.put(POPULATIONS, **budget_row(budget))
        pen.line("budget.registered", budget.population, None, [row])
    if contents.population_of(pen.held, contract) is None:
        row = pen.put(CONTRACTS, contract=contract, population=budget.population)
        pen.line("contract.bound", contract, None, [row])


def _total(pen: JournalWriter, population: str, spent: Spend) -> Row:
    """Write the new running total of a population, and return its row."""
    return pen.put(TOTALS, population=population, **amounts(spent))


def _line(pen: JournalWriter, release_id: str) -> JournalLine:
    found = last_of(pen.database, RESERVED, release_id)
    assert found is not None, "a charge has a line"
    return found
