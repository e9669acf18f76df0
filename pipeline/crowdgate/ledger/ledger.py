"""The ledger: what each population has lost, for life, and which release ids were ever used.

Every change is one transaction that first locks the ledger, so that changes happen one after the other however many
runs there are, and is on disk before the call returns. A reservation is charged at once and stays charged whatever
becomes of its run; it can be void only until its reading begins:

    RESERVED ── begin_reading ──┬── commit ──> COMMITTED ── published ──> PUBLISHED
        └── void ──> VOID       └── commit ──> WITHHELD

Each change also appends a line to a journal that is chained by SHA-256. `verify` sees a row that was edited by hand. It
can't see that a whole older copy was put back or the whole chain computed anew: that takes an anchor outside.
"""

import re
import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, Literal

from sqlalchemy import Connection, func, select, update

from crowdgate.errors import LedgerRefused, VerificationFailed
from crowdgate.ledger import schema
from crowdgate.ledger.journal import Line, add, append, broken_line, differing, last_line, lines, rows
from crowdgate.ledger.looks import informed
from crowdgate.ledger.schema import (
    ZERO,
    Budget,
    Entry,
    Spend,
    State,
    amounts,
    contracts,
    entries,
    label,
    ledgers,
    optional,
    populations,
)
from crowdgate.ledger.store import DAMAGED, Store
from crowdgate.ledger.stores import kind_of

__all__ = ["Budget", "Entry", "Ledger", "Line", "Spend", "State", "create", "open_ledger"]


def create(url: str, name: str) -> str:
    """Makes a new ledger (whose a file is: see `sharing`) and returns its id: `name` and eight random hex digits.

    Raises ValueError for a name outside [a-z0-9-]{1,40}, EnvironmentFault if a file is there or can't be made.
    """
    if not re.fullmatch(r"[a-z0-9-]{1,40}", name):
        raise ValueError("a ledger's name must be 1 to 40 of a-z, 0-9 and -")
    ledger_id = f"{name}-{secrets.token_hex(4)}"
    with kind_of(url).made(url) as engine, engine.begin() as connection:
        schema.metadata.create_all(connection)
        add(connection, ledgers, "ledger.created", ledger_id, {"id": ledger_id, "format": schema.FORMAT})
    return ledger_id


def open_ledger(url: str, ledger_id: str | None, busy_seconds: float = 10) -> "Ledger":
    """The existing ledger `ledger_id` (None: whichever is there, only to show it). Never creates anything.

    Waits up to `busy_seconds` for other runs. Raises LedgerRefused if it is missing, another one or damaged,
    EnvironmentFault if it is locked, read-only or out of reach, ValueError for a url that names no file.
    """
    store = kind_of(url).opened(url, busy_seconds)
    with store.transaction(writing=False) as connection:
        found = connection.execute(select(ledgers.c.id, ledgers.c.format)).all()
    if len(found) != 1 or found[0].format != schema.FORMAT:
        raise LedgerRefused(f"{store.path} {DAMAGED}")
    if ledger_id not in (None, found[0].id):
        raise LedgerRefused(f"the ledger at {store.path} is {found[0].id}; the budget names {ledger_id}")
    return Ledger(found[0].id, store)


class Ledger:
    """One open ledger. Holds no connection between calls, so it may be shared by threads and forked processes."""

    def __init__(self, ledger_id: str, store: Store) -> None:
        self.id = ledger_id
        self.path = store.path
        self._store = store

    def budget(self, population: str) -> Budget | None:
        """The population's budget as registered, or None before its first reservation."""
        with self._reading() as connection:
            return schema.registered(connection, population)

    def budgets(self) -> list[Budget]:
        """Every registered budget, by population."""
        with self._reading() as connection:
            found = connection.execute(select(populations).order_by(populations.c.population)).mappings()
            return [schema.budget_of(row) for row in found]

    def entries(self) -> list[Entry]:
        """Every reservation ever made, void ones too, in their order."""
        with self._reading() as connection:
            found = connection.execute(select(entries).order_by(entries.c.number)).mappings()
            return [schema.entry_of(row) for row in found]

    def journal(self) -> list[Line]:
        """Everything that was ever changed or recorded, in its order."""
        with self._reading() as connection:
            return lines(connection)

    def head(self) -> Line:
        """The journal's last line: where the ledger is in its own time."""
        with self._reading() as connection:
            return last_line(connection)

    def spent(self, population: str) -> Spend:
        """What the population has lost: all its reservations but void ones, whatever their end."""
        with self._reading() as connection:
            return schema.spent(connection, population)

    def entry(self, release_id: str) -> Entry | None:
        """The entry of this id that is not void, or None."""
        with self._reading() as connection:
            return schema.live(connection, release_id)

    def place(self, release_id: str) -> Line:
        """The line of the journal that charged this release last. Raises LedgerRefused when there is none."""
        charged = [line for line in self.journal() if (line.event, line.subject) == ("entry.reserved", release_id)]
        if not charged:
            raise LedgerRefused(f"{release_id} {_stands(None)}")
        return charged[-1]

    def informed(self, population: str, policy_digest: str, until: int | None = None) -> bool:
        """Whether a policy is informed by confidential data, as of the journal's line `until` (None: as of now)."""
        return informed(self.journal()[:until], population, policy_digest)

    def check(self, contract_id: str, budget: Budget) -> Budget:
        """The budget in force for `budget` as its file states it. Writes nothing.

        Epsilon and delta are the smaller of file and registration, part by part. `people` is the larger: bounds on
        singling out grow with it, so the larger one is the safe side. Raises LedgerRefused if the unit or relation is
        not the registered one, or if the contract is bound to another population.
        """
        with self._reading() as connection:
            return _in_force(connection, contract_id, budget)

    def reserve(
        self,
        release_id: str,
        policy_digest: str,
        contract_id: str,
        budget: Budget,
        spend: Spend,
        sample: str | None = None,
    ) -> Spend:
        """Charges `spend` to the budget in force and returns what the population has lost, this included.

        The first reservation registers the budget and binds the contract to its population, for life. Raises
        LedgerRefused as `check` does, if the budget does not allow it, if the id was used with another policy digest,
        or with code "exists" if the same release has its reservation already. `sample` names an inherited sample, which
        one release uses up for life. A refusal leaves nothing behind.
        """
        row = {
            "release_id": label("release id", release_id),
            "policy_digest": label("policy digest", policy_digest),
            "population": budget.population,
            **amounts(spend),
            "state": State.RESERVED.value,
            "reading": False,
            "sample": optional("sample", sample),
        }
        registration, contract = schema.budget_row(budget), label("contract id", contract_id)
        with self._writing() as connection:
            _refuse_used(schema.live(connection, release_id), release_id, policy_digest)
            _refuse_used_sample(connection, budget.population, sample)
            cap, before = _in_force(connection, contract, budget).cap, schema.spent(connection, budget.population)
            if not (before + spend).within(cap):
                raise LedgerRefused(
                    f"{release_id} needs {spend} from the population {budget.population}; "
                    f"of its {cap} there are left {before.left_of(cap)}; nothing was read"
                )
            if schema.registered(connection, budget.population) is None:
                add(connection, populations, "budget.registered", budget.population, registration)
            if schema.population_of(connection, contract) is None:
                binding = {"contract": contract, "population": budget.population}
                add(connection, contracts, "contract.bound", contract, binding)
            add(connection, entries, "entry.reserved", release_id, row)
            return before + spend

    def void(self, release_id: str) -> None:
        """Gives a reservation back. Raises LedgerRefused unless it is RESERVED and its reading has not begun."""
        self._move(release_id, (State.RESERVED,), False, "entry.void", state=State.VOID.value)

    def begin_reading(self, release_id: str) -> None:
        """Says that data are about to be read: from now on the reservation can't be void.

        Raises LedgerRefused if it was said before: one reservation reads once, even of two runs at the same time.
        """
        self._move(release_id, (State.RESERVED,), False, "entry.reading", reading=True)

    def commit(
        self,
        release_id: str,
        state: Literal[State.COMMITTED, State.WITHHELD],
        manifest_digest: str | None,
        destination: str | None,
        private_commitment: str | None,
    ) -> None:
        """Decides a release whose reading has begun. COMMITTED needs the manifest's digest and the destination."""
        if state not in (State.COMMITTED, State.WITHHELD):
            raise ValueError("state must be committed or withheld")
        if state is State.COMMITTED and (manifest_digest is None or destination is None):
            raise ValueError("a committed release must have a manifest digest and a destination")
        said = {
            "manifest_digest": optional("manifest digest", manifest_digest),
            "destination": schema.place(destination),
            "private_commitment": optional("private commitment", private_commitment),
        }
        self._move(release_id, (State.RESERVED,), True, f"entry.{state}", state=state.value, **said)

    def published(self, release_id: str) -> None:
        """Says that the committed bytes are at their destination."""
        self._move(release_id, (State.COMMITTED,), True, "entry.published", state=State.PUBLISHED.value)

    def note_private(self, release_id: str, commitment: str) -> None:
        """Records the salted commitment of a private record, of a crashed run too. The entry keeps the first."""
        first = func.coalesce(entries.c.private_commitment, label("private commitment", commitment))
        alive = tuple(state for state in State if state is not State.VOID)
        self._move(release_id, alive, None, "entry.private", commitment, private_commitment=first)

    def raise_budget(self, population: str, cap: Spend | None, people: int | None, reason: str) -> Budget:
        """Raises a registered budget, never lowers it (None: as it is), for a reason that the journal keeps.

        A run gets the smaller of file and registration, so the file must be raised too.
        """
        label("reason", reason, 1000)
        amounts(cap or ZERO)
        schema.bound(1 if people is None else people)
        with self._writing() as connection:
            old = schema.registered(connection, population)
            if old is None:
                raise LedgerRefused(f"the population {population} is not registered; its first release registers it")
            new = replace(old, cap=cap or old.cap, people=old.people if people is None else people)
            if new == old or not old.cap.within(new.cap) or new.people < old.people:
                raise LedgerRefused(f"a budget is only ever raised; {population} has {old.cap} for {old.people} people")
            change = update(populations).where(populations.c.population == population).values(schema.budget_row(new))
            row = connection.execute(change.returning(*populations.c)).mappings().one()
            append(connection, "budget.raised", population, table=populations.name, row=dict(row), reason=reason)
            return new

    def record(self, event: str, subject: str, commitment: str | None = None) -> None:
        """Appends a line to the journal. Names with a dot are the ledger's own, so `event` is of a-z, 0-9 and -."""
        if not re.fullmatch(r"[a-z0-9-]{1,40}", event):
            raise ValueError("event must be 1 to 40 of a-z, 0-9 and -")
        label("subject", subject)
        optional("commitment", commitment)
        with self._writing() as connection:
            append(connection, event, subject, commitment)

    def verify(self) -> str:
        """The digest of the journal's last line, to be kept outside. Raises VerificationFailed for an edited ledger."""
        with self._reading() as connection:
            written, held = lines(connection), rows(connection)
        if (broken := broken_line(written)) is not None:
            raise VerificationFailed(f"the ledger {self.id}: line {broken} of its journal was changed")
        if changed := differing(written, held):
            raise VerificationFailed(f"the ledger {self.id}: {', '.join(changed)} differ from its journal")
        return written[-1].digest if written else ""

    def _move(
        self,
        release_id: str,
        states: tuple[State, ...],
        read: bool | None,
        step: str,
        commitment: str | None = None,
        **values: Any,
    ) -> None:
        """Changes the live entry if it is in one of `states` and was read or not as `read` says; otherwise refuses."""
        live = (entries.c.release_id == release_id, entries.c.state != State.VOID.value)
        change = update(entries).where(*live, entries.c.state.in_([state.value for state in states])).values(values)
        if read is not None:
            change = change.where(entries.c.reading.is_(read))
        with self._writing() as connection:
            row = connection.execute(change.returning(*entries.c)).mappings().one_or_none()
            if row is None:
                raise LedgerRefused(f"{release_id} {_stands(schema.live(connection, release_id))}: {step} is refused")
            append(connection, step, release_id, commitment, table=entries.name, row=dict(row))

    def _reading(self) -> AbstractContextManager[Connection]:
        return self._transaction(writing=False)

    def _writing(self) -> AbstractContextManager[Connection]:
        return self._transaction(writing=True)

    @contextmanager
    def _transaction(self, *, writing: bool) -> Iterator[Connection]:
        """A transaction on this very ledger; the row of its id is the lock that puts changes in a row."""
        with self._store.transaction(writing) as connection:
            ids = select(ledgers.c.id)
            found = connection.execute(ids.with_for_update() if writing else ids).scalars().all()
            if found != [self.id]:
                raise LedgerRefused(f"the ledger at {self.path} is not {self.id} any more")
            yield connection


def _stands(entry: Entry | None) -> str:
    if entry is None:
        return "has no reservation"
    begun = " and its reading has begun" if entry.state is State.RESERVED and entry.reading else ""
    return f"is {entry.state}{begun}"


def _refuse_used(entry: Entry | None, release_id: str, policy_digest: str) -> None:
    if entry is not None and entry.policy_digest != policy_digest:
        raise LedgerRefused(f"{release_id} was used with another policy digest; give a new version or slot")
    if entry is not None:
        raise LedgerRefused(f"{release_id} is {entry.state} already; the same id is never drawn twice", "exists")


def _refuse_used_sample(connection: Connection, population: str, sample: str | None) -> None:
    user = None if sample is None else schema.user_of(connection, population, sample)
    if user is not None:
        raise LedgerRefused(f"the sample {sample} was used up by {user}: one sample serves one release for life")


def _in_force(connection: Connection, contract_id: str, stated: Budget) -> Budget:
    bound = schema.population_of(connection, contract_id)
    if bound not in (None, stated.population):
        raise LedgerRefused(f"the contract {contract_id} belongs to the population {bound}, not {stated.population}")
    registered = schema.registered(connection, stated.population)
    if registered is None:
        return stated
    for name in ("unit", "relation"):
        there, here = getattr(registered, name), getattr(stated, name)
        if there != here:
            raise LedgerRefused(f"the population {stated.population} is registered with {name} {there}, not {here}")
    return replace(registered, cap=stated.cap.least(registered.cap), people=max(stated.people, registered.people))
