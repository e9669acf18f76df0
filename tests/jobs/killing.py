"""A release in a process of its own that is killed at a named step."""

import multiprocessing
import os
import signal
from pathlib import Path
from typing import Any

from crowdgate.jobs import release as job
from crowdgate.kind.run import Request
from crowdgate.ledger import ledger
from crowdgate.ledger.key import draw_key
from crowdgate.publish import publisher

HOLDERS: dict[str, Any] = {"ledger": ledger.Ledger, "job": job, "publisher": publisher}
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload([__name__])  # imports once; every process is then a fork of one without threads


def run_and_kill(
    policy: Path, holder: str, name: str, when: str, slot: str = "2030-01-01", to: Path | None = None
) -> None:
    """Runs a release until just before or after that function, where the process is killed."""
    process = PROCESSES.Process(target=_run, args=(policy, holder, name, when, slot, to))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL


def _run(policy: Path, holder: str, name: str, when: str, slot: str, to: Path | None) -> None:
    setattr(job, "run_rules", lambda *_: ())  # noqa: B010
    setattr(job, "row_rules_hold", lambda _: True)  # noqa: B010
    original = getattr(HOLDERS[holder], name)

    def killed(*args: object, **kwargs: object) -> None:
        if when == "after":
            original(*args, **kwargs)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(HOLDERS[holder], name, killed)
    job.release(Request(policy, slot, to=to), draw_key)
