"""The calendar of a policy: one release for each period, from a day to a year, under the period's first day."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator

from crowdgate.policy.field_order import ValueField, any_change, rising
from crowdgate.policy.values import Strict

LONGEST_ZONE = 60
_DAYS = {"day": 1, "week": 7}
_MONTHS = {"month": 1, "quarter": 3, "half-year": 6, "year": 12}


def _zone(text: str) -> str:
    try:
        if len(text) <= LONGEST_ZONE:
            ZoneInfo(text)
            return text
    except (ValueError, OSError, KeyError):
        pass
    raise ValueError("a time zone that this machine knows, such as UTC or Europe/Berlin")


class Calendar(Strict):
    """The periods of a policy's releases. Each has one slot, the first day of the period; there are no others.

    A run belongs to the period of the moment for which it was scheduled, by the clock of the time zone. So a late or
    repeated run has the same slot, and daylight saving time moves none.
    """

    every: Annotated[
        Literal["day", "week", "month", "quarter", "half-year", "year"],
        ValueField(
            "how often there is a release",
            rising("day", "week", "month", "quarter", "half-year", "year"),
            "there may be more releases in a year",
            "there are fewer releases in a year",
        ),
    ]
    """The period of one release. Weeks begin on Mondays."""
    timezone: Annotated[str, AfterValidator(_zone), ValueField("the clock of the periods", any_change)] = "UTC"
    """The time zone in which periods begin at midnight, such as Europe/Berlin; by default UTC."""

    def slot_at(self, moment: datetime) -> str:
        """Return the slot of the period that holds a moment (with a time zone of its own)."""
        return self.first_day(moment.astimezone(ZoneInfo(self.timezone)).date()).isoformat()

    def first_day(self, day: date) -> date:
        """Return the first day of the period that holds a day."""
        if self.every in _DAYS:
            return day - timedelta(days=day.weekday() % _DAYS[self.every])
        months = _MONTHS[self.every]
        return date(day.year, (day.month - 1) // months * months + 1, 1)

    def slots(self, first: date, last: date) -> Iterator[str]:
        """Yield the slots of all periods that begin from `first` to `last`, both included."""
        slot = self.first_day(first)
        while slot <= last:
            if slot >= first:
                yield slot.isoformat()
            slot = self._next(slot)

    def _next(self, slot: date) -> date:
        if self.every in _DAYS:
            return slot + timedelta(days=_DAYS[self.every])
        months = slot.month - 1 + _MONTHS[self.every]
        return date(slot.year + months // 12, months % 12 + 1, 1)

    def problem(self, slot: str, now: datetime | None = None) -> tuple[str, str] | None:
        """Return what is wrong with a slot, and the slot that is probably meant; None for one of the calendar's that
        has begun.
        """
        meant = self.first_day(date.fromisoformat(slot[:10])).isoformat()
        newest = self.slot_at(now or datetime.now(UTC))
        if slot != meant:
            return f"{slot} is no slot of a calendar with one release a {self.every}", min(meant, newest)
        if slot > newest:
            return f"{slot} is the slot of a {self.every} that has not begun ({self.timezone})", newest
        return None
