"""The slot of a run, by the calendar of its policy, and the day on which its waivers are judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.errors import ConfigurationError, Problem
from crowdgate.policy.policy import parse_slot

if TYPE_CHECKING:
    from crowdgate.kind.run import Request
    from crowdgate.ledger.journal import JournalLine
    from crowdgate.policy.policy import ReleasePolicy


def slot_of(policy: ReleasePolicy, request: Request) -> str:
    """Return the slot of a requested release: the one that was asked, or that of the moment for which it was scheduled.

    Raises ConfigurationError for a slot that the policy's calendar does not have, or that has not begun.
    """
    calendar = policy.spec.calendar
    if calendar is None:
        return parse_slot(request.slot)
    slot = parse_slot(request.slot) if request.at is None else calendar.slot_at(request.at)
    found = calendar.problem(slot)
    if found is not None:
        expected = f"the first day of a {calendar.every} that has begun"
        raise ConfigurationError(Problem("command line", None, "--as-of", found[0], expected, found[1]))
    return slot


def waiver_day(slot: str, charged: JournalLine) -> str:
    """Return the day on which waivers must hold: that of the slot, or of the charge by the ledger's clock if it is
    later.

    A charge of a ledger of format 1 has no day, and no policy of its time had waivers: then it is the slot's.
    """
    return max(slot[:10], charged.day or "")
