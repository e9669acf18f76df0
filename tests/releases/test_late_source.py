"""A late table is waited for before the charge, and nothing is tried again after it."""

from dataclasses import replace

import pytest

from crowdgate.errors import Crashed, CrowdgateError, EnvironmentFault, FileFault, LedgerRefused
from crowdgate.kind.run import Request
from crowdgate.ledger.key import draw_key
from crowdgate.ledger.ledger import Ledger
from crowdgate.planning.open_ledger import ledger_at
from crowdgate.releases import late_source
from crowdgate.releases import release as job
from crowdgate.releases.late_source import when_ready
from tests.workshop import Workshop, crowdgate

SLOT = "2030-01-01"


class Clock:
    """A clock that only pauses move."""

    def __init__(self) -> None:
        self.pauses: list[float] = []

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def now(self) -> float:
        return sum(self.pauses)


@pytest.mark.parametrize(
    ("error", "minutes", "pauses"),
    [
        (FileFault("late"), 2, [60, 60]),
        (EnvironmentFault("away"), 1, [60]),
        (FileFault("late"), 0, []),
        (LedgerRefused("spent"), 9, []),
        (Crashed(), 9, []),
    ],
)
def test_only_faults_of_table_and_machine_are_tried_again_and_not_for_ever(
    workshop: Workshop, error: CrowdgateError, minutes: int, pauses: list[float]
) -> None:
    clock, attempts = Clock(), []

    def prepare(asked: Request) -> None:
        attempts.append(asked)
        raise error

    with pytest.raises(type(error)):
        when_ready(Request(workshop.policy, SLOT, wait=minutes), prepare, clock.pause, clock.now)
    assert clock.pauses == pauses
    assert len(attempts) == len(pauses) + 1


def test_a_table_that_comes_late_is_released_once(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = workshop.data.read_bytes()
    workshop.data.unlink()
    pauses: list[float] = []

    def arrives(seconds: float) -> None:
        pauses.append(seconds)
        assert ledger_at(workshop.root, None).entries() == []  # nothing is charged meanwhile
        if len(pauses) == 3:
            workshop.data.write_bytes(kept)

    waiting = when_ready.__defaults__
    assert waiting is not None
    monkeypatch.setattr(late_source.when_ready, "__defaults__", (arrives, waiting[1]))
    request = Request(workshop.policy, SLOT)
    with pytest.raises(FileFault):
        job.release(request, draw_key)
    assert job.release(replace(request, wait=10), draw_key).outcome == "published"
    assert len(pauses) == 3
    assert len(ledger_at(workshop.root, None).entries()) == 1


@pytest.mark.parametrize("step", ["reserve", "begin_reading", "commit"])
def test_a_fault_from_the_charge_on_is_not_tried_again(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    calls: list[str] = []

    def fails(*_: object, **__: object) -> None:
        calls.append(step)
        raise EnvironmentFault("away")

    def never(*_: object) -> None:
        raise AssertionError("it waits after the charge")

    monkeypatch.setattr(late_source.when_ready, "__defaults__", (never, lambda: 0.0))
    monkeypatch.setattr(Ledger, step, fails)
    with pytest.raises(CrowdgateError):
        job.release(Request(workshop.policy, SLOT, wait=10), draw_key)
    assert calls == [step]


def test_the_command_takes_minutes_up_to_a_day(workshop: Workshop) -> None:
    assert crowdgate("release", workshop.policy, "--as-of", SLOT, "--wait", "1441") == 2
    assert crowdgate("release", workshop.policy, "--as-of", SLOT, "--wait", "1440") == 0
