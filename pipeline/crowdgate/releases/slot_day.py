"""The day on which a release's waivers are judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crowdgate.ledger.journal import JournalLine


def waiver_day(slot: str, charged: JournalLine) -> str:
    """Return the day on which waivers must hold: that of the slot, or of the charge by the ledger's clock if it is
    later.

    A charge of a ledger of format 1 has no day, and no policy of its time had waivers: then it is the slot's.
    """
    return max(slot[:10], charged.day or "")
