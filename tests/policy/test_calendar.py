"""Calendars: one slot for each period, by the clock of a time zone."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdgate.policy.calendar import Calendar
from crowdgate.policy.policy import parse_slot

PERIODS = ("day", "week", "month", "quarter", "half-year", "year")
ZONES = ("UTC", "Europe/Berlin", "Asia/Tokyo", "America/New_York", "Pacific/Apia", "Australia/Lord_Howe")


def calendar(every: str, timezone: str = "UTC") -> Calendar:
    return Calendar.model_validate({"every": every, "timezone": timezone})


@pytest.mark.parametrize(
    ("every", "timezone", "moment", "slot"),
    [
        ("month", "UTC", "2030-01-31T23:59:59+00:00", "2030-01-01"),
        ("month", "Asia/Tokyo", "2030-01-31T21:00:00+00:00", "2030-02-01"),  # six in the morning of 1 February
        ("month", "America/New_York", "2030-02-01T04:59:00+00:00", "2030-01-01"),
        ("day", "Europe/Berlin", "2030-03-30T23:30:00+00:00", "2030-03-31"),  # clocks go forward at two
        ("day", "Europe/Berlin", "2030-03-31T21:59:00+00:00", "2030-03-31"),
        ("day", "Europe/Berlin", "2030-03-31T22:00:00+00:00", "2030-04-01"),
        ("day", "Europe/Berlin", "2030-10-27T00:30:00+00:00", "2030-10-27"),  # half past two, the first time
        ("day", "Europe/Berlin", "2030-10-27T01:30:00+00:00", "2030-10-27"),  # half past two, once more
        ("day", "Europe/Berlin", "2030-10-27T22:59:00+00:00", "2030-10-27"),
        ("day", "Pacific/Apia", "2011-12-30T09:59:00+00:00", "2011-12-29"),  # this zone had no 30 December
        ("day", "Pacific/Apia", "2011-12-30T10:00:00+00:00", "2011-12-31"),
        ("week", "UTC", "2030-01-06T12:00:00+00:00", "2029-12-31"),
        ("quarter", "UTC", "2030-06-30T12:00:00+00:00", "2030-04-01"),
        ("half-year", "UTC", "2030-06-30T23:59:59+00:00", "2030-01-01"),
        ("half-year", "UTC", "2030-07-01T00:00:00+00:00", "2030-07-01"),
        ("year", "UTC", "2028-02-29T12:00:00+00:00", "2028-01-01"),
    ],
)
def test_a_moment_belongs_to_a_period(every: str, timezone: str, moment: str, slot: str) -> None:
    assert calendar(every, timezone).slot_at(datetime.fromisoformat(moment)) == slot


@given(
    every=st.sampled_from(PERIODS), timezone=st.sampled_from(ZONES),
    moment=st.datetimes(datetime(2000, 1, 1), datetime(2060, 1, 1), timezones=st.just(UTC)), more=st.integers(1, 10**8),
)  # fmt: skip
def test_periods_follow_each_other(every: str, timezone: str, moment: datetime, more: int) -> None:
    kept, later = calendar(every, timezone), moment + timedelta(seconds=more)
    slot, other = kept.slot_at(moment), kept.slot_at(later)
    assert slot <= other
    assert slot <= moment.astimezone(ZoneInfo(timezone)).date().isoformat()
    assert kept.problem(slot, moment) is None
    between = list(kept.slots(date.fromisoformat(slot), date.fromisoformat(other)))
    assert between[:1] == [slot]
    assert between[-1:] == [other]
    assert len({*between}) == len(between)
    assert all(kept.problem(each, later) is None for each in between)


@given(every=st.sampled_from(PERIODS), day=st.dates(date(2000, 1, 1), date(2060, 1, 1)))
def test_each_day_lies_in_exactly_one_period(every: str, day: date) -> None:
    kept = calendar(every)
    slots = list(kept.slots(day - timedelta(days=400), day))
    assert max(slots) == kept.first_day(day).isoformat()


NOW = datetime(2030, 2, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("slot", "instead"),
    [
        ("2030-02-02", "2030-02-01"), ("2030-02-01T0000Z", "2030-02-01"), ("2030-03-01", "2030-02-01"),
        ("2031-07-09", "2030-02-01"), ("2029-12-31", "2029-12-01"),
    ],
)  # fmt: skip
def test_slots_outside_the_calendar_are_refused(slot: str, instead: str) -> None:
    found = calendar("month").problem(slot, NOW)
    assert found is not None
    assert found[1] == instead


def test_a_slot_begins_by_the_clock_of_its_zone() -> None:
    moment = datetime(2030, 1, 31, 15, 30, tzinfo=UTC)  # half past midnight in Tokyo
    assert calendar("month", "Asia/Tokyo").problem("2030-02-01", moment) is None
    assert calendar("month").problem("2030-02-01", moment) is not None


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd", "x" * 100, "/etc/localtime"])
def test_an_unknown_zone_is_refused(zone: str) -> None:
    with pytest.raises(ValueError, match="a time zone that this machine knows"):
        calendar("month", zone)


@pytest.mark.parametrize("slot", ["2026-10-04", "2026-10-04T0900Z"])
def test_a_slot_is_a_day_or_a_minute(slot: str) -> None:
    assert parse_slot(slot) == slot


@pytest.mark.parametrize("slot", ["2026-W40-4", "2026-1-001", "20261004", "2026-10-4T900Z", "2026-02-30", "", "today"])
def test_other_spellings_of_a_day_are_refused(slot: str) -> None:
    with pytest.raises(ValueError, match="the slot must be YYYY-MM-DD or YYYY-MM-DDTHHMMZ"):
        parse_slot(slot)
