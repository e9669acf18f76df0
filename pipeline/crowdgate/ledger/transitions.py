"""State transitions of a charge, by event."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from crowdgate.ledger.values import State


class ChargeRow(NamedTuple):
    """A row of the table `entries`, i.e. one charge, in the order of the table's columns."""

    number: int
    release_id: str
    policy_digest: str
    population: str
    epsilon: str
    delta: str
    state: str
    reading: bool
    manifest_digest: str | None = None
    destination: str | None = None
    private_commitment: str | None = None
    sample: str | None = None
    holder: str | None = None
    since: str | None = None


@dataclass(frozen=True)
class Transition:
    """A state transition of a charge: the states (and reading flags) that it must be in before, the values that are
    set, and the columns that may change freely.
    """

    before: tuple[tuple[State, bool], ...]
    sets: Mapping[str, Any]
    free: tuple[str, ...] = ()


RESERVED = "entry.reserved"
RESTORED = "entry.restored"
"""Event: a charge that a restored copy lacked was booked; the reason is its origin."""
PRIVATE = "entry.private"
VOID = "entry.void"
READING = "entry.reading"
COMMITTED = "entry.committed"
WITHDRAWN = "release.withdrawn"
_LEASE, _READ = (State.RESERVED, False), (State.RESERVED, True)
_DECIDED = ("manifest_digest", "destination", "private_commitment")
_MOVES = {
    READING: Transition((_LEASE,), {"reading": True}),
    COMMITTED: Transition((_READ,), {"state": State.COMMITTED.value}, _DECIDED),
    "entry.withheld": Transition((_READ,), {"state": State.WITHHELD.value}, _DECIDED),
    "entry.published": Transition(((State.COMMITTED, True),), {"state": State.PUBLISHED.value}),
    WITHDRAWN: Transition(((State.PUBLISHED, True),), {"state": State.WITHDRAWN.value}),
    VOID: Transition((_LEASE,), {"state": State.VOID.value}),
}
EVENTS = (*_MOVES, PRIVATE)


_FRESH = (State.RESERVED.value, False, None, None, None)


def is_new_charge(new: ChargeRow, at: str | None) -> bool:
    """Return whether a row of `entries` has the state of a charge that is made at the time `at`."""
    return new[6:11] == _FRESH and new.since == at and type(new.number) is int


def is_restored_charge(new: ChargeRow, at: str | None) -> bool:
    """Return whether a row of `entries` has the state of a charge that a restoration books at the time `at`: read, and
    perhaps published.
    """
    bare = new.manifest_digest is None and new.destination is None and new.private_commitment is None
    published = new.state == State.PUBLISHED.value and None not in (new.manifest_digest, new.destination)
    outcome = published or (new.state == State.RESERVED.value and bare)
    return outcome and new.reading is True and new.holder is None and new.since == at and type(new.number) is int


def is_restored_outcome(was: ChargeRow, new: ChargeRow) -> bool:
    """Return whether a restoration may change a charge's row of `entries` from `was` to `new`: its run had begun to
    read, or has published.
    """
    if new == was._replace(reading=True):
        return (was.state, was.reading) == _LEASE
    free = {name: getattr(new, name) for name in ("manifest_digest", "destination")}
    published = was._replace(reading=True, state=State.PUBLISHED.value, **free)
    return was.state == State.RESERVED and None not in free.values() and new == published


def is_transition(event: str, was: ChargeRow, new: ChargeRow, commitment: str | None) -> bool:
    """Return whether the event with this commitment changes a charge's row of `entries` from `was` to `new`."""
    if event == PRIVATE:
        first = commitment if was.private_commitment is None else was.private_commitment
        return commitment is not None and new == was._replace(private_commitment=first)
    move = _MOVES[event]
    free = {name: getattr(new, name) for name in move.free}
    whole = event != COMMITTED or None not in (new.manifest_digest, new.destination)
    stood = commitment is None and (was.state, was.reading) in move.before
    return stood and whole and new == was._replace(**move.sets, **free)
