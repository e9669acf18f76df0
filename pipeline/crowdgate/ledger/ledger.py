"""The ledger: the lifetime privacy cost of each population, and all release ids that were ever used.

Every change is one transaction that first locks the ledger, so changes of concurrent runs happen one after the other.
A change is on disk before the call returns. A reservation is charged at once. Until its reading begins it is a lease
(`reservations`); from then on it stays charged whatever the outcome of its run:

    RESERVED ── begin_reading ──┬── commit ──> COMMITTED ── published ──> PUBLISHED ── withdraw ──> WITHDRAWN
        └── void ──> VOID       └── commit ──> WITHHELD

Each change also appends a line to a journal that is chained by SHA-256 and holds the rows as they were left. Before a
change the journal is followed and every row compared with it (`attestation`). Under the lock that is repeated for
lines written since, and for every row that decides. With trusted keys, a read of the ledger's state and a change may
continue from a position of the journal that one of them signed (`position`), as long as it is at most POSITION_STEP
lines old. Whatever depends on an older line follows the whole journal.

Each line must be a change that the ledger itself could have made (`journal_rules`), and an edited ledger is refused.
With a signing key each change ends with a signature of its last line. A ledger whose last line no trusted key signed is
refused, and a signed one is not written without a key. Without a key, a chain that was computed anew, or an older copy,
is detected only by what is kept outside: heads (`heads`), releases, private records, and anchors, a line number and its
digest. A ledger that was opened with a `guard` is compared with these before its first change.
"""

import re
import secrets
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import uniform
from time import sleep
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from crowdgate.accounting.renyi import Divergences
from crowdgate.errors import EnvironmentFault, LedgerRefused, VerificationFailed
from crowdgate.ledger import contents, conversion, reservations, schema
from crowdgate.ledger.access_log import accesses as access_lines
from crowdgate.ledger.access_log import is_informed
from crowdgate.ledger.attestation import first_replay
from crowdgate.ledger.author import author
from crowdgate.ledger.journal import JournalLine, last_line, last_of, line_at, lines
from crowdgate.ledger.journal_rules import ANYWAY, RECORDED, JournalState
from crowdgate.ledger.journal_writer import JournalWriter
from crowdgate.ledger.replay import JournalMismatch, JournalReplay
from crowdgate.ledger.reservations import ChargeRequest, Reservation
from crowdgate.ledger.schema import ENTRIES, FREEZES, LEDGERS
from crowdgate.ledger.series import SeriesSlot
from crowdgate.ledger.signatures import is_signed, is_signed_by, sign, signers
from crowdgate.ledger.store import DAMAGED, Database, SerializationConflict, Store
from crowdgate.ledger.stores import kind_of
from crowdgate.ledger.transitions import PRIVATE, READING, RESERVED, RESTORED, WITHDRAWN
from crowdgate.ledger.values import (
    ZERO,
    Budget,
    Entry,
    Spend,
    State,
    amounts,
    bound,
    label,
    optional,
    place,
)
from crowdgate.signing.keys import PublicKey, SigningKey
from crowdgate.system.atomic_file import locked_folder

if TYPE_CHECKING:
    from crowdgate.ledger.heads import HeadStatement, Place
    from crowdgate.ledger.position import AttestedPosition
    from crowdgate.ledger.restoration import OutsideFindings

__all__ = [
    "Budget",
    "ChargeRequest",
    "Entry",
    "JournalLine",
    "Ledger",
    "Reservation",
    "Spend",
    "State",
    "create",
    "open_ledger",
]

Changed = TypeVar("Changed")
POSITION_STEP = 250
"""Lines of the journal after which a new position is written, by a process that follows the whole journal: following so
many takes a hundredth of a second."""
RESTORE = "restore it with `crowdgate ledger restore COPY`"
ATTEMPTS = 12
"""How often a change is made that the database rolls back because of another one."""
PATIENCE = 600.0
"""Seconds that a run waits for other runs that write the ledger; each of them takes milliseconds."""


def create(url: str, name: str, signer: SigningKey | None = None) -> str:
    """Create a ledger (the owner of a file: see `permissions`) and return its id: `name` and eight random hex digits.

    Raises ValueError for a name outside [a-z0-9-]{1,40}, EnvironmentFault if the file exists or can't be made.
    """
    if not re.fullmatch(r"[a-z0-9-]{1,40}", name):
        raise ValueError("a ledger's name must be 1 to 40 of a-z, 0-9 and -")
    ledger_id = f"{name}-{secrets.token_hex(4)}"
    kind = kind_of(url)
    with kind.made(url) as database:
        pen = JournalWriter(database, JournalReplay(), kind.now(database), author())
        row = pen.put(LEDGERS, id=ledger_id, format=schema.FORMAT)
        line = pen.line("ledger.created", ledger_id, None, [row])
        if signer is not None:
            sign(database, ledger_id, line, signer)
    return ledger_id


def open_ledger(
    url: str,
    ledger_id: str | None,
    busy_seconds: float | None = None,
    signer: SigningKey | None = None,
    trusted: Sequence[PublicKey] = (),
    reading: bool = False,
    guard: "Guard | None" = None,
) -> "Ledger":
    """Open the existing ledger `ledger_id` (None: whichever exists, only to show it). Never creates a ledger.

    Waits up to `busy_seconds` for other runs, by default PATIENCE. `signer` signs what is written. With `trusted` keys,
    nothing is written to a ledger whose last line none of them signed. With `reading`, nothing is written and read
    access suffices. `guard` compares it with what is kept outside before the first change. Raises LedgerRefused if the
    ledger is missing, another one, of an older format or damaged, EnvironmentFault if it is locked, read-only or
    unreachable, ValueError for a url that names no file.
    """
    store = kind_of(url).opened(url, PATIENCE if busy_seconds is None else busy_seconds, reading)
    with store.transaction(writing=False) as database:
        found = list(database.rows(schema.select(LEDGERS)))
    there, stated = found[0] if len(found) == 1 else ("", None)
    if stated == 1:
        raise LedgerRefused(
            f"{store.name} is a ledger of format 1; `crowdgate ledger upgrade` makes it one of format {schema.FORMAT}"
        )
    if stated not in schema.USABLE:
        raise LedgerRefused(f"{store.name} {DAMAGED}")
    if ledger_id not in (None, there):
        raise LedgerRefused(
            f"the ledger at {store.name} is {there}, but the budget names {ledger_id}. Use that ledger, or "
            "correct the budget's file"
        )
    return Ledger(there, store, signer, trusted, guard)


class HeadWarning(UserWarning):
    """The warning that a head of the ledger could not be written after a change; the next command writes it."""


class Guard(Protocol):
    """A comparison of a ledger with the state that is kept outside of it."""

    def admit(self, ledger: "Ledger", roots: Sequence[Path], anchors: Sequence[str]) -> "HeadFiles":
        """Return the files that keep the ledger's head. `roots` are further destinations, `anchors` stored lines.

        Raises LedgerRefused for a ledger that lacks state which is kept outside.
        """


@dataclass(frozen=True)
class HeadFiles:
    """The files that keep a ledger's head: those that must be written, and those at destinations, which may be."""

    required: tuple[Path, ...] = ()
    optional: tuple[Path, ...] = ()


class _ThreadReplay(threading.local):
    """The replay of the journal by this thread, and the attested position that the thread read.

    `position_number` is the line number of the newest position with a state that the thread read or wrote, 0 without
    one.
    """

    attested: JournalReplay | None = None
    position: "AttestedPosition | None" = None
    position_number: int = 0
    position_read: bool = False


class Ledger:
    """One open ledger. Holds no connection between calls, so it may be shared by threads and forked processes.

    `signer` is the key that was configured when it was opened: it signs the journal, and the release of a run that
    charged here, whatever is configured later.
    """

    def __init__(
        self,
        ledger_id: str,
        store: Store,
        signer: SigningKey | None = None,
        trusted: Sequence[PublicKey] = (),
        guard: Guard | None = None,
    ) -> None:
        self.id = ledger_id
        self.path = store.path
        self.trusted = tuple(trusted)
        self.signer, self._store, self._seen = signer, store, _ThreadReplay()
        self._guard, self._heads = guard, None if guard else HeadFiles()

    def admit(self, roots: Sequence[Path] = (), anchors: Sequence[str] = ()) -> None:
        """Compare the ledger with the state that is kept outside of it, then write its head wherever it is kept.

        Every change does so once. A command calls it where something is read before its first change. Raises
        LedgerRefused for a ledger that lacks such state, EnvironmentFault if a required head can't be written.
        """
        self.compare(roots, anchors)
        with self._transaction(writing=False) as database:
            seen = self._trusted_replay(database, whole=self._is_behind(database))
            last, foreign = last_line(database), self.signer is None and is_signed(database, seen.number)
        if not foreign:
            self._keep_heads(seen.held, last, before=True)

    def compare(self, roots: Sequence[Path] = (), anchors: Sequence[str] = ()) -> None:
        """Compare the ledger with the state that is kept outside of it, as `admit` does, and write nothing."""
        if self._guard is not None:
            self._heads = self._guard.admit(self, roots, anchors)

    def budget(self, population: str) -> Budget | None:
        """Return the population's registered budget, or None before its first reservation."""
        with self._state() as held:
            return contents.budget(held, population)

    def budgets(self) -> list[Budget]:
        """Return every registered budget, by population."""
        with self._state() as held:
            return contents.budgets(held)

    def entries(self, name: str | None = None) -> list[Entry]:
        """Return every reservation ever made, including void ones, in order; with `name`, those of this POLICY or
        POLICY/VERSION. Raises LedgerRefused as `journal` does.
        """
        with self._state() as held:
            return contents.entries(held, name)

    def last_entries(
        self, policy: str | None, most: int, accept: Callable[[Entry], bool], population: str | None = None
    ) -> list[Entry]:
        """Return the last reservations, at most `most`, of a policy's name and of a population (None: of any) that
        `accept` accepts, in order.
        """
        with self._state() as held:
            return contents.last_entries(held, policy, most, accept, population)

    def recorded(self, event: str) -> list[tuple[str, str | None]]:
        """Return subject and commitment of every line that `record` appended for this event, in order."""
        with self._state() as held:
            return list(held.recorded.get(event, ()))

    def journal(self) -> list[JournalLine]:
        """Return every line of the journal, in order. Raises LedgerRefused for an edited ledger, as `attest` does, but
        without checking keys.
        """
        with self._reading() as database:
            return list(lines(database))

    def head(self) -> JournalLine:
        """Return the journal's last line, which marks the ledger's own time."""
        with self._reading(whole=False) as database:
            return last_line(database)

    def holds(self, number: int, digest: str) -> bool:
        """Return whether the journal has a line with this number and digest, an anchor that was stored outside."""
        with self._transaction(writing=False) as database:
            self._replay_of_lines(database, [(number, digest)])
            found = line_at(database, number)
            return found is not None and found.digest == digest

    def missing_lines(self, places: Iterable["Place"]) -> list["Place"]:
        """Return those of these lines that the journal lacks, and that no restoration has superseded."""
        known = list(dict.fromkeys(places))
        with self._transaction(writing=False) as database:
            held = self._replay_of_lines(database, known).held
            return [each for each in known if not _has_line(database, held, each)]

    def state(self) -> JournalState:
        """Return the state of the ledger after its last line, to be read only."""
        with self._state() as held:
            return held

    def spent(self, population: str) -> Spend:
        """Return the population's total charge: all its reservations except void ones, whatever their outcome."""
        with self._state() as held:
            return contents.spent(held, population)

    def divergences(self, population: str) -> Divergences | None:
        """Return the population's total in Renyi divergences, of the same reservations; None if no filter counts
        them."""
        with self._state() as held:
            return contents.divergences(held, population)

    def counted(self, entry: Entry) -> Divergences | None:
        """Return the Renyi divergences of a charge; None for one that no filter counts."""
        with self._state() as held:
            return contents.divergences_of(held, entry.number)

    def series_payer(self, version: str, policy_digest: str) -> tuple[Entry, int] | None:
        """Return the charge that pays for the series of a policy version, and the number of its slots that are taken;
        None if no series was paid."""
        with self._state() as held:
            found = contents.series_payer(held, version, policy_digest)
            return None if found is None else (found, contents.slots_taken(held, found.number))

    def slot(self, entry: Entry) -> SeriesSlot | None:
        """Return the place of a charge in its series; None for a charge of no series."""
        with self._state() as held:
            return contents.slot_of(held, entry.number)

    def paying(self, entry: Entry) -> Entry:
        """Return the charge that pays for a charge: the first one of its series, otherwise the charge itself."""
        with self._state() as held:
            slot = contents.slot_of(held, entry.number)
            return entry if slot is None else contents.charge(held, slot.payer)

    def frozen(self, population: str) -> bool:
        """Return whether the population is frozen: nothing may be charged to it or read of it."""
        with self._state() as held:
            return contents.is_frozen(held, population)

    def entry(self, release_id: str) -> Entry | None:
        """Return the entry of this id that is not void, or None."""
        with self._state() as held:
            return contents.live_entry(held, release_id)

    def place(self, release_id: str) -> JournalLine:
        """Return the line of the journal that last charged this release. Raises LedgerRefused if there is none."""
        with self._transaction(writing=False) as database:
            seen = self._matching_replay(database, whole=False)
            charged = [last_of(database, event, release_id) for event in (RESERVED, RESTORED)]
            found = max((each for each in charged if each is not None), key=lambda each: each.number, default=None)
            if found is None:
                self._matching_replay(database, whole=True)  # its line may have been edited
                raise LedgerRefused(f"{release_id} {_state_text(None)}")
            if found.number <= seen.start:  # not read, as it is older than the attested position
                with self._mismatch_as_refusal():
                    seen.check_chain(database, found.number)
        return found

    def informed(self, population: str, policy_digest: str, until: int | None = None) -> bool:
        """Return whether a policy is informed by confidential data, as of the journal's line `until` (None: now)."""
        with self._transaction(writing=False) as database:
            seen = self._matching_replay(database, whole=False)
            if until in (None, seen.number):
                return seen.held.accesses.is_informed(population, policy_digest)
        return is_informed(self.journal()[:until], population, policy_digest)

    def accesses(self, population: str, known: Sequence[PublicKey] = ()) -> list[tuple[JournalLine, frozenset[str]]]:
        """Return each line of the journal that records an access to confidential figures of a population, with the ids
        of the keys that signed it, among the trusted ones and those `known` to the caller.
        """
        with self._reading() as database:
            charged = contents.entries(self._matching_replay(database, whole=True).held)
            subjects = {population, *(each.release_id for each in charged if each.population == population)}
            seen = [line for line in access_lines(lines(database)) if line.subject in subjects]
            keys = (*self.trusted, *known)
            return [(line, signers(database, self.id, line, keys)) for line in seen]

    def chargers(self, release_id: str, known: Sequence[PublicKey] = ()) -> frozenset[str]:
        """Return the ids of the keys that signed the charge of a release, or that sign here if it is not charged."""
        own = frozenset() if self.signer is None else frozenset([self.signer.public.id])
        with self._reading() as database:
            charged = [last_of(database, event, release_id) for event in (RESERVED, RESTORED)]
            lines_ = [each for each in charged if each is not None]
            return own.union(*(signers(database, self.id, each, (*self.trusted, *known)) for each in lines_))

    def attest(self) -> None:
        """Follow the journal and compare every row with it: the first time all of it, then only what is new.

        Raises LedgerRefused for a ledger that differs from its journal, or, with trusted keys, whose last line none of
        them signed.
        """
        with self._transaction(writing=False) as database:
            self._trusted_replay(database, whole=True)

    def check(
        self,
        contract_id: str,
        budget: Budget,
        version: str | None = None,
        policy_digest: str = "",
        sample: str | None = None,
    ) -> Budget:
        """Return the budget in force for `budget` as its file states it. Writes nothing into the ledger.

        Epsilon and delta are the smaller of file and registration, each. `people` is the larger: bounds on singling out
        grow with it, so the larger one is conservative. Raises LedgerRefused as `attest` does, if the unit or relation
        is not the registered one, if the contract is bound to another population, if the population is frozen, if this
        `version` of a policy was charged with another digest, or if a release has used up this inherited `sample`.
        """
        with self._transaction(writing=False) as database, self._mismatch_as_refusal():
            pen = JournalWriter(database, self._trusted_replay(database, whole=False), "", "")
            reservations.check_rows(pen, budget.population, contract_id)
            reservations.refuse_frozen(pen.held, budget.population)
            reservations.refuse_used_sample(pen.held, budget.population, sample)
            if version is not None:
                reservations.refuse_changed_version(pen.held, version, policy_digest)
            return reservations.budget_in_force(pen.held, contract_id, budget)

    def reserve(self, asked: ChargeRequest) -> Reservation:
        """Charge a release to the budget in force, or take over the lease of the same run.

        The first reservation registers the budget and binds the contract to its population permanently. Raises
        LedgerRefused as `check` does, if the budget is too small, if the id was used with another policy digest, with
        code "held" if another run has the lease, or "exists" if its reading has begun. A refusal changes nothing,
        except that an expired lease becomes void.
        """
        asked.check()
        return self._change(lambda pen: reservations.charge(pen, asked))

    def void(self, release_id: str, number: int | None = None) -> None:
        """Give a reservation back. Raises LedgerRefused unless it is RESERVED and its reading has not begun.

        `number` is that of the caller's charge (None: whichever there is).
        """

        def give_back(pen: JournalWriter) -> None:
            found = reservations.live_charge(pen, release_id)
            if found is None or not found.lease or number not in (None, found.number):
                raise LedgerRefused(f"{release_id} {_state_text(found)}: its charge can't be given back (entry.void)")
            reservations.give_back(pen, found)

        self._change(give_back)

    def begin_reading(self, release_id: str, number: int | None = None) -> None:
        """Record that data are about to be read: from now on the reservation can't become void.

        Raises LedgerRefused if that was recorded before (a reservation reads once, even with two runs at the same
        time), if the lease was given back in the meantime, or if the population is frozen. The record is on disk when
        this returns.
        """
        self._move(release_id, number, (State.RESERVED,), False, READING, reading=True)

    def commit(
        self,
        release_id: str,
        state: Literal[State.COMMITTED, State.WITHHELD],
        manifest_digest: str | None,
        destination: str | None,
        private_commitment: str | None,
        number: int | None = None,
    ) -> None:
        """Record the outcome of a release whose reading has begun: COMMITTED, with the manifest's digest and the
        destination, or WITHHELD.
        """
        if state not in (State.COMMITTED, State.WITHHELD):
            raise ValueError("state must be committed or withheld")
        if state is State.COMMITTED and (manifest_digest is None or destination is None):
            raise ValueError("a committed release must have a manifest digest and a destination")
        said = {
            "manifest_digest": optional("manifest digest", manifest_digest),
            "destination": place(destination),
            "private_commitment": optional("private commitment", private_commitment),
        }
        self._move(release_id, number, (State.RESERVED,), True, f"entry.{state}", state=state.value, **said)

    def published(self, release_id: str, number: int | None = None) -> None:
        """Record that the committed files of a release are at their destination (state PUBLISHED)."""
        self._move(release_id, number, (State.COMMITTED,), True, "entry.published", state=State.PUBLISHED.value)

    def withdraw(self, release_id: str, reason: str) -> JournalLine:
        """Record that a published release is withdrawn (state WITHDRAWN), for a reason that the journal keeps; return
        the line.

        The charge stays. Raises LedgerRefused unless the release is PUBLISHED.
        """
        label("reason", reason, 1000)

        def withdraw(pen: JournalWriter) -> JournalLine:
            found = reservations.live_charge(pen, release_id)
            if found is None or found.state is not State.PUBLISHED:
                raise LedgerRefused(f"{release_id} {_state_text(found)}: {WITHDRAWN} is refused")
            row = pen.put(ENTRIES, number=found.number, state=State.WITHDRAWN.value)
            return pen.line(WITHDRAWN, release_id, None, [row], reason=reason)

        return self._change(withdraw)

    def withdrawal(self, release_id: str) -> JournalLine | None:
        """Return the line of the journal that withdrew this release, or None."""
        with self._reading() as database:
            return last_of(database, WITHDRAWN, release_id)

    def note_private(self, release_id: str, commitment: str, number: int | None = None) -> None:
        """Record the salted commitment of a private record, also of a crashed run. The entry keeps the first one."""
        alive = tuple(state for state in State if state is not State.VOID)
        self._move(release_id, number, alive, None, PRIVATE, label("private commitment", commitment))

    def raise_budget(self, population: str, cap: Spend | None, people: int | None, reason: str) -> Budget:
        """Raise a registered budget, never lower it (None: unchanged), for a reason that the journal keeps.

        A run gets the smaller of file and registration, so the file must be raised too.
        """
        label("reason", reason, 1000)
        amounts(cap or ZERO)
        bound(1 if people is None else people)
        return self._change(lambda pen: conversion.raise_budget(pen, population, cap, people, reason))

    def convert(self, population: str, more: Spend | None, reason: str) -> Budget:
        """Count all further charges of a population in Renyi divergences, for a reason that the journal keeps, and
        return its budget. `more` is the second budget that a population with charges needs (`conversion`).
        """
        label("reason", reason, 1000)
        amounts(more or ZERO)
        return self._change(lambda pen: conversion.convert(pen, population, more, reason))

    def freeze(self, population: str, frozen: bool, reason: str) -> None:
        """Freeze a population, or unfreeze it. A frozen population refuses charges and first reads. The journal keeps
        the reason.

        Raises LedgerRefused if nothing would change, and for an unregistered population: a misspelled name would freeze
        nothing.
        """
        label("reason", reason, 1000)

        def freeze(pen: JournalWriter) -> None:
            if contents.budget(pen.held, label("population", population)) is None:
                raise LedgerRefused(
                    f"the population {population} is unknown to this ledger. `crowdgate ledger show` lists the "
                    "known ones"
                )
            if contents.is_frozen(pen.held, population) == frozen:
                raise LedgerRefused(
                    f"the population {population} is {'already' if frozen else 'not'} frozen, so nothing was changed"
                )
            row = pen.put(FREEZES, population=population, frozen=frozen)
            event = "population.frozen" if frozen else "population.thawed"
            pen.line(event, population, None, [row], reason=reason)

        self._change(freeze)

    def charge_anyway(self, release_id: str, reason: str) -> None:
        """Record that a release is charged although past runs show that it will be withheld. The journal keeps the
        reason."""
        label("release", release_id)
        label("reason", reason, 1000)
        self._change(lambda pen: pen.line(ANYWAY, release_id, None, [], reason=reason))

    def record(self, event: str, subject: str, commitment: str | None = None) -> None:
        """Append a line to the journal. `event` is of a-z, 0-9 and -, as names with a dot are the ledger's own."""
        if not RECORDED.fullmatch(event):
            raise ValueError("event must be 1 to 40 of a-z, 0-9 and -")
        label("subject", subject)
        optional("commitment", commitment)
        self._change(lambda pen: pen.line(event, subject, commitment))

    def restore(self, found: "OutsideFindings") -> list[str]:
        """Book what is known outside and the ledger lacks, and return a sentence for each booking (see `restoration`).

        The attested position is not compared. Raises LedgerRefused for a ledger that differs from its journal, or if a
        budget is unknown.
        """
        from crowdgate.ledger.restoration import book

        return self._change(lambda pen: book(pen, found))

    def ignore_position(self) -> None:
        """Never compare the ledger with its attested position, which a restoration contradicts."""
        self._seen.position_read, self._seen.position = True, None

    def sign(self) -> JournalLine:
        """Sign the last line after a person checked the ledger: for one that had no key, or one that is no longer
        trusted.

        Raises LedgerRefused without a key, or as `attest` does.
        """
        if self.signer is None:
            raise LedgerRefused("no key is configured that could sign the ledger")
        self.compare()
        with self._transaction(writing=True) as database:
            seen = self._matching_replay(database, whole=True)
            line = last_line(database)
            sign(database, self.id, line, self.signer)
        self._keep_heads(seen.held, line)
        return line

    def verify(self) -> JournalLine:
        """Return the journal's last line, whose number and digest may be stored outside as an anchor.

        Raises VerificationFailed for an edited ledger, or, with trusted keys, one whose last line none of them signed.
        """
        with self._transaction(writing=False) as database:
            try:
                self._seen.attested = first_replay(self._store, database, self._seen.position, whole=True)
            except JournalMismatch as changed:
                raise VerificationFailed(f"the ledger {self.id}: {changed}") from None
            line = last_line(database)
            if self.trusted and not is_signed_by(database, self.id, line, self.trusted):
                raise VerificationFailed(f"the ledger {self.id}: {_unsigned_text(line)}")
            return line

    def _move(
        self,
        release_id: str,
        number: int | None,
        states: tuple[State, ...],
        read: bool | None,
        event: str,
        commitment: str | None = None,
        **values: Any,
    ) -> None:
        """Change the live entry if it has this `number`, one of `states`, and was read or not as `read` states. Raises
        LedgerRefused otherwise.
        """

        def move(pen: JournalWriter) -> None:
            found = reservations.live_charge(pen, release_id)
            if found is not None and values.get("reading"):
                pen.seen.row(pen.database, FREEZES, found.population)
                reservations.refuse_frozen(pen.held, found.population)
            held = found is not None and number in (None, found.number)
            if found is None or not held or found.state not in states or read not in (None, found.reading):
                stands = (
                    _state_text(found)
                    if held or number is None
                    else "expired before it began to read, and its charge was given back"
                )
                raise LedgerRefused(f"{release_id} {stands}: the ledger does not record this next step ({event})")
            first = {} if commitment is None else {"private_commitment": found.private_commitment or commitment}
            row = pen.put(ENTRIES, number=found.number, **(first or values))
            pen.line(event, release_id, commitment, [row])

        self._change(move)

    def _change(self, change: Callable[[JournalWriter], Changed]) -> Changed:
        """Return the result of a change in a write transaction. A change that the database rolled back because of
        another one is made again, up to ATTEMPTS times. Raises SerializationConflict after that.
        """
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with self._writing() as pen:
                    return change(pen)
            except SerializationConflict:
                if attempt == ATTEMPTS:
                    raise
                sleep(uniform(0, min(1, 0.01 * 2**attempt)))
        raise AssertionError("unreachable")

    @contextmanager
    def snapshot(self) -> Iterator[Database]:
        """Begin a read transaction after replaying the whole journal; yield the database."""
        with self._reading() as database:
            yield database

    @contextmanager
    def _reading(self, whole: bool = True) -> Iterator[Database]:
        """Begin a read transaction after replaying the journal, from line 1 if `whole`; yield the database."""
        with self._transaction(writing=False) as database:
            self._matching_replay(database, whole)
            yield database

    def _replay_of_lines(self, database: Database, places: Sequence["Place"]) -> JournalReplay:
        """Return a replay that has followed each of these lines of the journal: the whole one for an older line than
        that of the attested position."""
        seen = self._matching_replay(database, whole=False)
        return seen if seen.has_followed(places) else self._matching_replay(database, whole=True)

    def _is_behind(self, database: Database) -> bool:
        """Return whether the attested position is so old that a change follows the whole journal."""
        return last_line(database).number - self._seen.position_number >= POSITION_STEP

    @contextmanager
    def _state(self) -> Iterator[JournalState]:
        """Begin a read transaction after replaying the journal; yield the state of the ledger."""
        with self._transaction(writing=False) as database:
            yield self._matching_replay(database, whole=False).held

    @contextmanager
    def _writing(self) -> Iterator[JournalWriter]:
        """Begin a write transaction; yield its JournalWriter. Every row is compared with the journal before the lock is
        taken, and new lines under the lock.
        """
        if self.trusted and (self.signer is None or self.signer.public not in self.trusted):
            raise self._unsignable("trusts keys, and none of these keys signs here")
        with self._transaction(writing=False) as database:
            self._trusted_replay(database, whole=self._is_behind(database))
        if self._heads is None:
            self.admit()
        pen = None
        try:
            with self._transaction(writing=True) as database:
                pen = self._journal_writer(database)
                with self._mismatch_as_refusal():
                    yield pen
                if self.signer is not None and pen.last is not None:
                    sign(database, self.id, pen.last, self.signer)
        except BaseException:
            if pen is not None and pen.last is not None:
                self._seen.attested = None  # the transaction was rolled back
            raise
        if pen.last is not None:
            self._keep_heads(pen.held, pen.last)

    def _keep_heads(self, held: JournalState, line: JournalLine, before: bool = False) -> None:
        """Write the head after a line at each place, unless a later one is there. Raises EnvironmentFault for a
        required place `before` a change; warns about every place after it.
        """
        files = self._heads or HeadFiles()
        untrusted = self.trusted and (self.signer is None or self.signer.public not in self.trusted)
        if untrusted or not (files.required or files.optional):
            return
        from crowdgate.ledger.heads import head_bytes, head_of  # reading a ledger needs none

        head = head_of(self.id, (line.number, line.digest), line.day or _today(), held)
        data = head_bytes(head, self.signer)
        with locked_folder(self.path.parent):
            for path in (*files.required, *(each for each in files.optional if each.parent.is_dir())):
                try:
                    self._keep_head(path, data, line.number, held, path in files.required)
                except (OSError, EnvironmentFault) as error:
                    if not before or path in files.required:
                        self._report(path, error, stops=before)

    def _keep_head(self, path: Path, data: bytes, number: int, held: JournalState, required: bool) -> None:
        from crowdgate.ledger.heads import read_head, write_head

        there = read_head(path, self.id, self.trusted, required)
        if there is None or there.line <= number or _is_superseded(held, there.place):
            write_head(path, data)

    def _report(self, path: Path, error: Exception, stops: bool) -> None:
        why = getattr(error, "strerror", None) or error
        said = f"{path}: the head of the ledger {self.id} can't be written there: {why}"
        if stops:
            raise EnvironmentFault(f"{said}; nothing was read or charged; expected an existing folder (heads)")
        warnings.warn(f"{said}; the next command writes it", HeadWarning, stacklevel=2)

    def _refuse_behind(self, database: Database) -> None:
        """Refuse a ledger that lacks the line of a head, under the lock."""
        from crowdgate.ledger.heads import read_head

        files = self._heads or HeadFiles()
        for path in (*files.required, *files.optional):
            head = read_head(path, self.id, self.trusted, path in files.required)
            if head is None:
                continue
            held = self._replay_of_lines(database, [head.place]).held
            if not _has_line(database, held, head.place):
                raise LedgerRefused(f"{lacking_text(self.id, path, head)}; nothing was charged; {RESTORE}", "edited")

    def _journal_writer(self, database: Database) -> JournalWriter:
        self._trusted_replay(database, whole=False)
        with self._mismatch_as_refusal():
            self._refuse_acting(database)
        self._refuse_behind(database)
        seen = self._trusted_replay(database, whole=False)
        if self.signer is None and is_signed(database, seen.number):
            raise self._unsignable("is signed, and no key signs here")
        return JournalWriter(database, seen, self._store.now(database), author())

    def _unsignable(self, why: str) -> LedgerRefused:
        said = f"the ledger {self.id} {why}: what was written would be refused"
        return LedgerRefused(f"{said}; name the key (signing_key)", "unsigned")

    def _trusted_replay(self, database: Database, whole: bool) -> JournalReplay:
        """Return the replay of the journal, from line 1 if `whole`. Raises LedgerRefused for a ledger whose last line
        no trusted key signed.
        """
        seen = self._matching_replay(database, whole)
        if self.trusted:
            line = last_line(database)
            if not is_signed_by(database, self.id, line, self.trusted):
                raise LedgerRefused(f"the ledger {self.id}: {_unsigned_text(line)}", "edited")
            self._keep_position(seen)
        return seen

    def _matching_replay(self, database: Database, whole: bool) -> JournalReplay:
        seen, self._seen.attested = self._seen.attested, None  # after a failed replay everything is read again
        with self._mismatch_as_refusal():
            if seen is None or (whole and not seen.whole):
                seen = first_replay(self._store, database, self._seen.position, whole)
            else:
                seen.follow(database)
        self._seen.attested = seen
        return seen

    def _keep_position(self, seen: JournalReplay) -> None:
        """Write an attested position at the end of a replayed journal whose last line a trusted key signed, if the
        stored position is far behind that line.
        """
        if self.signer is None or self.signer.public not in self.trusted or not seen.whole:
            return
        if seen.number - self._seen.position_number >= POSITION_STEP:
            from crowdgate.ledger.position import write_position

            self._seen.position_number = seen.number
            write_position(self.path, self.id, seen, self.signer)

    def _read_position(self) -> None:
        """Read the attested position before a transaction begins, so that the journal of every ledger which is no older
        has its line.
        """
        if self.trusted and not self._seen.position_read:
            from crowdgate.ledger.position import read_position

            self._seen.position_read, found = True, read_position(self.path, self.id, self.trusted)
            self._seen.position = found
            self._seen.position_number = found.stated.number if found is not None and found.has_state else 0

    def _refuse_acting(self, database: Database) -> None:
        wrong = self._store.active_objects(database)
        if wrong is not None:
            raise JournalMismatch(wrong)

    @contextmanager
    def _mismatch_as_refusal(self) -> Iterator[None]:
        """Turn a JournalMismatch into a LedgerRefused."""
        try:
            yield
        except JournalMismatch as changed:
            raise self._refused(changed) from None

    def _refused(self, changed: JournalMismatch) -> LedgerRefused:
        said = f"the ledger {self.id} is damaged or was edited, and is not used: {changed}"
        return LedgerRefused(
            f"{said}. No data was read. Run `crowdgate ledger verify`, and restore the ledger's last intact copy",
            "edited",
        )

    @contextmanager
    def _transaction(self, *, writing: bool) -> Iterator[Database]:
        """Begin a transaction on the database, after checking that it still is the ledger with this id."""
        self._read_position()
        with self._store.transaction(writing) as database:
            if [each for each, *_ in database.rows(schema.select(LEDGERS))] != [self.id]:
                raise LedgerRefused(
                    f"{self._store.name} no longer holds the ledger {self.id}: it was replaced during the run. Run "
                    "the command again"
                )
            yield database


def lacking_text(ledger_id: str, path: Path, head: "HeadStatement") -> str:
    """Return the text of an error for a ledger that lacks the line of a head."""
    said = f"the ledger {ledger_id} lacks line {head.line}, which its head of {head.date} names ({path})"
    return f"{said}: it is an older copy, was cut off, or was computed anew"


def _has_line(database: Database, held: JournalState, place: "Place") -> bool:
    found = line_at(database, place[0])
    return (found is not None and found.digest == place[1]) or _is_superseded(held, place)


def _is_superseded(held: JournalState, place: "Place") -> bool:
    from crowdgate.ledger.heads import SUPERSEDED

    return (str(place[0]), place[1]) in held.recorded.get(SUPERSEDED, ())


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _unsigned_text(line: JournalLine) -> str:
    said = f"line {line.number} of its journal, the last one, is signed by no trusted key"
    return f"{said}. Inspect the line; if you trust it, sign it with `crowdgate ledger sign`"


def _state_text(entry: Entry | None) -> str:
    if entry is None:
        return "has no charge in this ledger"
    begun = " and its reading has begun" if entry.state is State.RESERVED and entry.reading else ""
    return f"is {entry.state}{begun}"
