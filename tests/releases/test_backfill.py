"""Releases by a calendar, and past periods that are released later: their cost is told before anything is charged."""

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from crowdgate.cli import backfill
from crowdgate.errors import ConfigurationError, LedgerRefused
from crowdgate.kind.run import Request, Result
from crowdgate.ledger.key import draw_key
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.policy.calendar import Calendar
from crowdgate.releases import release as releases
from crowdgate.releases.release import release
from crowdgate.sampling import SecretKey
from tests.workshop import Workshop, crowdgate, good_rows, write_parquet

NOW = datetime.now(UTC)
MONTHS = [
    each
    for each in Calendar.model_validate({"every": "month"}).slots(date(NOW.year - 1, NOW.month, 1), NOW.date())
    if each < NOW.date().replace(day=1).isoformat()
]
"""The twelve months before the current one."""


@pytest.fixture
def monthly(workshop: Workshop) -> Workshop:
    with workshop.policy.open("a") as file:
        file.write("  calendar: {every: month}\n")
    return workshop


def charged(copy: Workshop) -> list[str]:
    return [each.release_id for each in ledger_at(copy.root, None).entries()]


def test_a_run_releases_the_current_period_once(monthly: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert [crowdgate("release", monthly.policy) for _ in range(2)] == [0, 0]
    assert charged(monthly) == [f"clinic/1/{NOW.date().replace(day=1).isoformat()}"]
    assert "nothing more is spent" in capsys.readouterr().out


@pytest.mark.parametrize("slot", ["2030-01-02", "2020-01-02", "2020-01-01T0000Z", "2999-01-01"])
def test_other_slots_are_refused_and_not_charged(monthly: Workshop, slot: str) -> None:
    with pytest.raises(ConfigurationError, match=r"expected the first day of a month that has begun; write '\d"):
        release(Request(monthly.policy, slot), draw_key)
    assert charged(monthly) == []


def test_a_late_run_keeps_the_period_for_which_it_was_scheduled(monthly: Workshop) -> None:
    late = Request(monthly.policy, "2020-06-09", at=datetime(2020, 5, 31, 23, 59, tzinfo=UTC))
    assert release(late, draw_key).release_id == "clinic/1/2020-05-01"


def test_a_run_before_its_scheduled_period_is_refused(monthly: Workshop) -> None:
    early = Request(monthly.policy, "2020-01-01", at=datetime(2999, 5, 5, tzinfo=UTC))
    with pytest.raises(ConfigurationError, match="a month that has not begun"):
        release(early, draw_key)
    assert charged(monthly) == []


def test_missing_periods_are_priced_before_anything_is_charged(
    monthly: Workshop, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    release(Request(monthly.policy, MONTHS[-2]), draw_key)
    monkeypatch.setattr("typer.confirm", lambda text: print(text))
    assert crowdgate("backfill", monthly.policy, "--from", MONTHS[-3]) == 2
    said = capsys.readouterr().out
    assert f"Missing releases of clinic: {MONTHS[-3]}, {MONTHS[-1]}." in said
    assert "Together they cost epsilon 4, delta 0.02." in said
    assert len(charged(monthly)) == 1
    assert crowdgate("backfill", monthly.policy, "--from", MONTHS[-3], "--yes", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert [each["outcome"] for each in printed["releases"]] == ["published", "published"]
    assert charged(monthly)[1:] == [f"clinic/1/{MONTHS[-3]}", f"clinic/1/{MONTHS[-1]}"]
    assert crowdgate("backfill", monthly.policy, "--from", MONTHS[-3]) == 0
    assert "No release of clinic is missing." in capsys.readouterr().out


def test_a_budget_that_does_not_pay_for_all_pays_for_none(monthly: Workshop) -> None:
    assert crowdgate("backfill", monthly.policy, "--from", MONTHS[-4], "--yes") == 5
    assert charged(monthly) == []


def test_each_period_has_a_table_of_its_own(
    monthly: Workshop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_parquet(tmp_path / f"{MONTHS[-2]}.parquet", good_rows(300))
    given = ("backfill", monthly.policy, "--from", MONTHS[-2], "--yes", "--input", tmp_path / "{slot}.parquet")
    assert crowdgate(*given) == 4
    assert f"no table for {MONTHS[-1]} " in capsys.readouterr().err
    assert charged(monthly) == []
    write_parquet(tmp_path / f"{MONTHS[-1]}.parquet", good_rows(300))
    assert crowdgate(*given) == 0


@pytest.mark.parametrize(
    "given", [["2999-01-01"], ["yesterday"], ["2020-01-01", "--until", "2019-01-01"], ["0100-01-01"]]
)
def test_a_range_that_is_none_is_one_error(monthly: Workshop, given: list[str]) -> None:
    assert crowdgate("backfill", monthly.policy, "--yes", "--from", *given) == 2


def test_without_a_calendar_nothing_is_missing(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert crowdgate("backfill", workshop.policy, "--from", "2020-01-01", "--yes") == 2
    assert "spec.calendar, such as {every: month}" in capsys.readouterr().err


def test_a_frozen_population_stops_it(monthly: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(monthly.root)
    release(Request(monthly.policy, MONTHS[-1]), draw_key)
    assert crowdgate("ledger", "freeze", "clinic-patients", "--reason", "asked to") == 0
    assert crowdgate("backfill", monthly.policy, "--from", MONTHS[-2], "--yes") == 5
    assert len(charged(monthly)) == 1


def test_what_was_made_before_an_error_is_printed(
    monthly: Workshop, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:

    def once(request: Request, key: Callable[[], SecretKey]) -> Result:
        if request.slot == MONTHS[-1]:
            raise LedgerRefused("no more")
        return release(request, key)

    monkeypatch.setattr(backfill, "release", once)
    assert crowdgate("backfill", monthly.policy, "--from", MONTHS[-2], "--yes", "--json") == 5
    said = json.loads(capsys.readouterr().out)
    assert (said["outcome"], said["message"]) == ("stopped", "no more")
    assert [each["release_id"] for each in said["releases"]] == [f"clinic/1/{MONTHS[-2]}"] == charged(monthly)


def test_releases_that_wait_are_not_priced_again(
    monthly: Workshop, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as planted:
        planted.setattr(releases, "waiting_release", lambda plan, *_: Result("waiting", "", None, plan.guarantee, ()))
        for slot in MONTHS[-3:]:
            assert release(Request(monthly.policy, slot), draw_key).outcome == "waiting"
    assert crowdgate("backfill", monthly.policy, "--from", MONTHS[-3], "--yes") == 0
    assert "They are charged already." in capsys.readouterr().out
    assert [each.state for each in ledger_at(monthly.root, None).entries()] == ["published"] * 3


def test_one_table_is_not_released_under_several_periods(monthly: Workshop) -> None:
    given = ("backfill", monthly.policy, "--from", MONTHS[-2], "--yes", "--input", monthly.data)
    assert crowdgate(*given) == 2
    assert charged(monthly) == []


def test_a_rehearsal_has_a_slot_of_the_calendar(monthly: Workshop) -> None:
    assert crowdgate("rehearse", monthly.policy, "--people", "400") == 0


def test_the_deployment_runs_by_the_clock_of_the_calendar(
    monthly: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    monthly.edit(monthly.policy, "{every: month}", "{every: month, timezone: Asia/Tokyo}")
    assert crowdgate("schedule", monthly.policy, "--cron", "0 6 1 * *") == 0
    assert "timezone: Asia/Tokyo" in capsys.readouterr().out
