"""Reservations, which are leases until their reading begins, and the running totals.

A charge counts from the moment it is made. Until its reading begins it can be given back: by its own run, by a person,
or, once it is older than LEASE_SECONDS by the store's clock, by any run that requests the same release. Its number is
never used again, so a run whose lease was given back can't begin, nor write anything else.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from math import ceil
from typing import Any

from crowdgate.accounting.lifetime import Lifetime
from crowdgate.accounting.renyi import Divergences
from crowdgate.errors import LedgerRefused
from crowdgate.ledger import contents
from crowdgate.ledger.filters import filter_row, on_grid, vector_text, zero
from crowdgate.ledger.journal import JournalLine, Row, last_of
from crowdgate.ledger.journal_rules import JournalState
from crowdgate.ledger.journal_writer import JournalWriter
from crowdgate.ledger.replay import JournalReplay
from crowdgate.ledger.schema import (
    CONTRACTS,
    DIVERGENCES,
    ENTRIES,
    FILTERS,
    FREEZES,
    POPULATIONS,
    SERIES,
    SINCE,
    TOTALS,
)
from crowdgate.ledger.series import SeriesRequest, SeriesSlot
from crowdgate.ledger.transitions import RESERVED, VOID
from crowdgate.ledger.values import ZERO, Budget, Entry, Spend, State, amounts, budget_row, label, optional

LEASE_SECONDS = 60
"""Seconds from a charge to its first read after which other runs may free it. A run takes milliseconds, in a scheduler
seconds.
"""


@dataclass(frozen=True)
class ChargeRequest:
    """A request to charge the privacy cost of a release to a population.

    `sample` names an inherited sample, which one release uses up permanently; `version` is the policy and its version,
    which has one digest; `holder` is the run, which may request its own lease again. `divergences` are those of the
    release at the orders of the budget's filter, if it has one; without them those of any release of this privacy cost
    are charged. A release of a `series` is paid by its first slot.
    """

    release_id: str
    policy_digest: str
    contract: str
    budget: Budget
    spend: Spend
    sample: str | None = None
    version: str | None = None
    holder: str | None = None
    divergences: Divergences | None = None
    series: SeriesRequest | None = None

    def check(self) -> None:
        """Raise ValueError if the ledger can't store a value of this request."""
        label("release id", self.release_id)
        label("policy digest", self.policy_digest)
        label("contract id", self.contract)
        optional("sample", self.sample)
        optional("holder", self.holder)
        amounts(self.spend)
        if self.divergences is not None:
            vector_text(self.divergences)
        if self.series is not None:
            self.series.check()
            label("version of a series", self.version or "")

    def due(self, slot: SeriesSlot | None) -> "ChargeRequest":
        """Return the request for what is charged now: for the slot that pays all releases of its series, and for each
        later one nothing."""
        if slot is None or self.series is None:
            return self
        if not slot.pays:
            return replace(self, spend=ZERO, divergences=None)
        one = self.divergences
        return replace(self, spend=self.series.spend, divergences=None if one is None else one.times(slot.releases))

    def vector(self, lifetime: Lifetime) -> Divergences:
        """Return the divergences that are charged to a population with this filter. Raises LedgerRefused for those of
        other orders."""
        stated, orders = self.budget.lifetime, lifetime.filter.orders
        if self.divergences is None:
            return zero(lifetime) if self.spend == ZERO else unknown_law(self.spend, lifetime)
        if stated is None or stated.filter.orders != orders:
            raise LedgerRefused(f"{self.release_id} states divergences at other orders than its ledger. Run it again")
        return on_grid(self.divergences)

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
    in_force = budget_in_force(pen.held, asked.contract, asked.budget)
    slot = _slot(pen, asked)
    asked, before = asked.due(slot), contents.spent(pen.held, asked.budget.population)
    vector = None if in_force.lifetime is None else asked.vector(in_force.lifetime)
    _refuse_more(pen.held, asked, in_force, vector)
    _register(pen, asked.contract, asked.budget)
    number = pen.held.last + 1
    rows = [pen.put(ENTRIES, **asked.row(number, pen.at)), _total(pen, in_force.population, before + asked.spend)]
    rows += count_divergences(pen, in_force.population, number, vector)
    rows += [] if slot is None else [pen.put(SERIES, **slot.row())]
    line = pen.line(RESERVED, asked.release_id, None, rows)
    return Reservation(asked.release_id, number, before + asked.spend, line)


def count_divergences(pen: JournalWriter, population: str, number: int, vector: Divergences | None) -> list[Row]:
    """Write the vector of a charge, and the total of the population's filter with it; return both rows. Without a
    vector nothing is written."""
    if vector is None:
        return []
    before = contents.divergences(pen.held, population)
    assert before is not None, "a vector is counted by a filter"
    counted = pen.put(DIVERGENCES, number=number, amounts=vector_text(vector))
    return [counted, pen.put(FILTERS, population=population, spent=vector_text(before + vector))]


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
    if stated.lifetime is not None:
        refuse_old_format(held, FILTERS, "Renyi divergences")
    registered = contents.budget(held, stated.population)
    if registered is None:
        return stated
    for name in ("unit", "relation"):
        there, here = getattr(registered, name), getattr(stated, name)
        if there != here:
            raise LedgerRefused(f"the population {stated.population} is registered with {name} {there}, not {here}")
    _refuse_other_accounting(registered, stated)
    return replace(registered, cap=stated.cap.least(registered.cap), people=max(stated.people, registered.people))


def _refuse_other_accounting(registered: Budget, stated: Budget) -> None:
    """Raise LedgerRefused for a budget whose file states another accounting than the ledger, or, in Renyi divergences,
    another epsilon or delta: its caps are fixed."""
    there, here, population = registered.accounting, stated.accounting, stated.population
    if there != here:
        convert = f", or run `crowdgate ledger convert {population}`" if here == "renyi" else ""
        said = f"the population {population} is registered with accounting {there}, and its file states {here}"
        raise LedgerRefused(f"{said}. Write `accounting: {there}`{convert}")
    if there == "renyi" and stated.cap != registered.cap:
        said = f"the population {population} is registered with {registered.cap}, and its file states {stated.cap}"
        caps = "The caps of its divergences are fixed: write the registered amounts into the file"
        raise LedgerRefused(f"{said}. {caps}. To raise them, run `crowdgate ledger budget {population} --raise`")


def unknown_law(spend: Spend, lifetime: Lifetime) -> Divergences:
    """Return the divergences of any release of this privacy cost, at the orders of a filter."""
    from crowdgate.accounting.renyi_parts import opaque_cost  # of restorations and other charges without a known law

    return opaque_cost(spend.epsilon, spend.delta, lifetime.filter.orders)


def give_back(pen: JournalWriter, entry: Entry) -> None:
    """Make the charge of an entry void, provided its reading has not begun."""
    row = pen.put(ENTRIES, number=entry.number, state=State.VOID.value)
    rest = contents.spent(pen.held, entry.population) - entry.spend
    rows = [row, _total(pen, entry.population, rest), *_uncount_divergences(pen, entry)]
    pen.line(VOID, entry.release_id, None, rows)


def _uncount_divergences(pen: JournalWriter, entry: Entry) -> list[Row]:
    """Write the total of a population's filter without a charge, and return its row; none for a charge that no filter
    counts."""
    total, counted = contents.divergences(pen.held, entry.population), contents.divergences_of(pen.held, entry.number)
    if total is None or counted is None:
        return []
    return [pen.put(FILTERS, population=entry.population, spent=vector_text(total - counted))]


def refuse_frozen(held: JournalState, population: str) -> None:
    """Raise LedgerRefused for a frozen population."""
    if contents.is_frozen(held, population):
        said = f"the population {population} is frozen: no run may charge its budget or read its data"
        raise LedgerRefused(f"{said}. To end this, run `crowdgate ledger thaw {population} --reason WHY`", "frozen")


def check_rows(pen: JournalWriter, population: str, contract: str) -> None:
    """Compare the rows that decide a charge to a population (budget, binding, total) with the journal's state. Raises
    JournalMismatch.
    """
    filters = [(FILTERS, population)] if pen.held.form > 2 else []
    for table, key in ((POPULATIONS, population), (TOTALS, population), (CONTRACTS, contract), *filters):
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


def _slot(pen: JournalWriter, asked: ChargeRequest) -> SeriesSlot | None:
    """Return the slot of a series that a request takes; None without a series. A first slot whose lease has expired is
    given back. Raises LedgerRefused for a series without a slot left, of another law, or that is not yet read."""
    series, version = asked.series, asked.version
    if series is None or version is None:
        return None
    refuse_old_format(pen.held, SERIES, "series")
    payer = contents.series_payer(pen.held, version, asked.policy_digest)
    if payer is not None and payer.lease and expired(payer, pen.at):
        give_back(pen, payer)
        payer = None
    number = pen.held.last + 1
    if payer is None:
        return SeriesSlot(number, number, series.releases, series.law)
    _refuse_series(pen, asked, series, payer)
    return SeriesSlot(number, payer.number, series.releases, series.law)


def _refuse_series(pen: JournalWriter, asked: ChargeRequest, series: SeriesRequest, payer: Entry) -> None:
    """Raise LedgerRefused unless the series that `payer` paid for has a slot for this request."""
    pen.seen.row(pen.database, ENTRIES, payer.number)
    if payer.lease:
        said = f"{payer.release_id} pays for the series of {asked.release_id}, and has not begun to read"
        free = f"if its run is dead, run `crowdgate ledger free {payer.release_id}`"
        raise LedgerRefused(f"{said}. Try again in {LEASE_SECONDS} seconds; {free}", "held")
    known = contents.slot_of(pen.held, payer.number)
    if known is None or (known.releases, known.law) != (series.releases, series.law):
        said = f"{payer.release_id} paid for a series of another law than that of {asked.release_id}"
        raise LedgerRefused(f"{said}: this version of Crowdgate plans other releases. Give the policy a new version")
    if contents.slots_taken(pen.held, payer.number) >= series.releases:
        said = f"all {series.releases} releases of the series that {payer.release_id} paid for were made or begun"
        raise LedgerRefused(f"{said}. Give the policy a new version, which pays for a new series")


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


def _refuse_more(held: JournalState, asked: ChargeRequest, budget: Budget, vector: Divergences | None) -> None:
    """Raise LedgerRefused for a charge that the sums of epsilon and delta, or the budget's filter, do not allow."""
    cap = budget.cap
    if vector is not None and budget.lifetime is not None:
        _refuse_larger(asked, cap)
        total = contents.divergences(held, budget.population) or zero(budget.lifetime)
        if not budget.lifetime.filter.allows(total, vector):
            _refuse_divergences(asked, budget, total)
        return
    before = contents.spent(held, budget.population)
    if not (before + asked.spend).within(cap):
        raise LedgerRefused(
            f"the budget of the population {asked.budget.population} is too small for {asked.release_id}, which "
            f"costs {asked.spend}. "
            f"Left are {before.left_of(cap)} of {cap}. No data was read"
        )


def _refuse_larger(asked: ChargeRequest, cap: Spend) -> None:
    if not asked.spend.within(cap):
        said = f"{asked.release_id} costs {asked.spend}, more than the lifetime budget of {asked.budget.population}"
        raise LedgerRefused(f"{said}: {cap}. No data was read")


def _refuse_divergences(asked: ChargeRequest, budget: Budget, before: Divergences) -> None:
    assert budget.lifetime is not None
    raise LedgerRefused(
        f"the budget of the population {budget.population}, {budget.cap}, is too small for {asked.release_id}. "
        f"It is counted in Renyi divergences, and {ceil(100 * budget.lifetime.used(before))} % of it is used. "
        "No data was read"
    )


def register(pen: JournalWriter, budget: Budget) -> None:
    """Register the budget of a population, with its filter if it is counted in Renyi divergences, which needs a ledger
    of format 3."""
    rows = [pen.put(POPULATIONS, **budget_row(budget))]
    if budget.lifetime is not None:
        rows.append(pen.put(FILTERS, **filter_row(budget.population, budget.lifetime, zero(budget.lifetime))))
    pen.line("budget.registered", budget.population, None, rows)


def refuse_old_format(held: JournalState, table: str, name: str) -> None:
    """Raise LedgerRefused for a ledger of a format without this table, where what is called `name` needs it."""
    if held.form < SINCE[table]:
        said = f"this is a ledger of format {held.form}, and {name} need format {SINCE[table]}"
        raise LedgerRefused(f"{said}. Run `crowdgate ledger upgrade`")


def _register(pen: JournalWriter, contract: str, budget: Budget) -> None:
    if contents.budget(pen.held, budget.population) is None:
        register(pen, budget)
    if contents.population_of(pen.held, contract) is None:
        row = pen.put(CONTRACTS, contract=contract, population=budget.population)
        pen.line("contract.bound", contract, None, [row])


def _total(pen: JournalWriter, population: str, spent: Spend) -> Row:
    """Write the new running total of a population, and return its row."""
    return pen.put(TOTALS, population=population, **amounts(spent))


def _line(pen: JournalWriter, release_id: str) -> JournalLine:
    """Return the line that charged a release. One that is older than the attested position counts only if the whole
    journal agrees. Raises JournalMismatch."""
    found = last_of(pen.database, RESERVED, release_id)
    assert found is not None, "a charge has a line"
    if not pen.seen.has_followed([(found.number, found.digest)]):
        JournalReplay().follow(pen.database)
    return found
