"""A release, or another job, in its own process that is killed at a named step."""

import multiprocessing
import os
import signal
from collections.abc import Callable
from datetime import date
from itertools import count
from pathlib import Path
from typing import Any

from crowdgate.anonymity.kl import repository_folder
from crowdgate.anonymity.kl.publish import PublicationRequest, publish
from crowdgate.anonymity.measure import measure as measuring
from crowdgate.anonymity.measure import request as asking
from crowdgate.kind.run import Request
from crowdgate.ledger import ledger, private
from crowdgate.ledger.key import draw_key
from crowdgate.publish import publisher
from crowdgate.releases import release as job

HOLDERS: dict[str, Any] = {"ledger": ledger.Ledger, "job": job, "publisher": publisher, "shelf": repository_folder,
                           "measuring": measuring, "private": private, "os": os}  # fmt: skip
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload([__name__])  # imports once; every process is then a fork of one without threads


def run_and_kill(
    policy: Path, holder: str, name: str, when: str, slot: str = "2030-01-01", to: Path | None = None
) -> None:
    """Run a release in a process that is killed just before or after that function."""
    process = PROCESSES.Process(target=_run, args=(policy, holder, name, when, slot, to))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL


def _run(policy: Path, holder: str, name: str, when: str, slot: str, to: Path | None, nth: int = 1) -> None:
    _kill_at(holder, name, when, nth)
    job.release(Request(policy, slot, to=to), draw_key)


def run_until(policy: Path, holder: str, name: str, when: str, nth: int, slot: str) -> bool:
    """Kill a run at the `nth` call of that function, and return whether there were so many calls."""
    process = PROCESSES.Process(target=_run, args=(policy, holder, name, when, slot, None, nth))
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0


def publish_and_kill(asked: PublicationRequest, today: date, holder: str, name: str, when: str) -> None:
    """Publish an entry of a KL repository, killed in the same way."""
    process = PROCESSES.Process(target=_publish, args=(asked, today, holder, name, when))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL


def _publish(asked: PublicationRequest, today: date, holder: str, name: str, when: str, nth: int = 1) -> None:
    _kill_at(holder, name, when, nth)
    publish(asked, today)


def measure_and_kill(asked: asking.AnonymityRequest, holder: str, name: str, when: str) -> None:
    """Count anonymity sets, killed in the same way."""
    process = PROCESSES.Process(target=_measure, args=(asked, holder, name, when))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL


def _measure(asked: asking.AnonymityRequest, holder: str, name: str, when: str) -> None:
    _kill_at(holder, name, when)
    measuring.measure_anonymity(asked)


def finish_until(
    function: Callable[..., object],
    args: tuple[object, ...],
    name: str,
    nth: int,
    holder: str = "os",
    when: str = "after",
) -> bool:
    """Call a function in a process that is killed just before or after the `nth` call of a function, by default of
    `os`; return whether there were so many calls.
    """
    process = PROCESSES.Process(target=_finish, args=(function, args, holder, name, when, nth))
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0


def _finish(
    function: Callable[..., object], args: tuple[object, ...], holder: str, name: str, when: str, nth: int
) -> None:
    _kill_at(holder, name, when, nth)
    function(*args)


def publish_until(asked: PublicationRequest, today: date, name: str, nth: int) -> bool:
    """Publish an entry, killed just after the `nth` call of a function of `os`; return whether there were so many
    calls.
    """
    process = PROCESSES.Process(target=_publish, args=(asked, today, "os", name, "after", nth))
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0


def _kill_at(holder: str, name: str, when: str, nth: int = 1) -> None:
    original, calls = getattr(HOLDERS[holder], name), count(1)

    def killed(*args: object, **kwargs: object) -> Any:
        if next(calls) < nth:
            return original(*args, **kwargs)
        if when == "after":
            original(*args, **kwargs)
        return os.kill(os.getpid(), signal.SIGKILL)

    setattr(HOLDERS[holder], name, killed)
