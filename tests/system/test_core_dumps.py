"""The memory of a run never reaches the disk: no core dump, in any process that reads data."""

import ctypes
import os
import resource
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from crowdgate.audit.common.game import Game
from crowdgate.audit.common.saved_progress import TrialBatch
from crowdgate.audit.common.trials import ScheduledGame, processes
from crowdgate.releases import release as job
from crowdgate.system.core_dumps import disable_core_dumps
from tests.releases.killing import PROCESSES
from tests.workshop import Workshop, crowdgate

NOTHING = ((0, 0), 0)
GET_DUMPABLE = 3

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux says whether a process may be dumped")


def state() -> tuple[tuple[int, int], int]:
    """The limit of core dumps, and whether this process may be dumped."""
    return resource.getrlimit(resource.RLIMIT_CORE), ctypes.CDLL(None).prctl(GET_DUMPABLE, 0, 0, 0, 0)


def ended(act: Any, *given: Any) -> int | None:
    process = PROCESSES.Process(target=act, args=given)
    process.start()
    process.join()
    return process.exitcode


def _abort() -> None:
    disable_core_dumps()
    child = os.fork()
    if child == 0:
        os.abort()
    status = os.waitpid(child, 0)[1]
    os._exit(os.WTERMSIG(status) == signal.SIGABRT and not os.WCOREDUMP(status) and state() == NOTHING)


@linux
def test_a_process_that_aborts_leaves_no_dump() -> None:
    assert ended(_abort) == True  # noqa: E712


def _command(policy: Path) -> None:
    def counted(*_: object) -> object:
        os._exit(state() == NOTHING)

    setattr(job, "count_table", counted)  # noqa: B010
    crowdgate("release", policy)


@linux
def test_a_command_can_not_be_dumped_when_it_reads(workshop: Workshop) -> None:
    assert ended(_command, workshop.policy) == True  # noqa: E712


class Asked(Game[Any, Any]):
    """A game that reports the state of its process."""

    def batch(self, at: int, trials: int) -> Any:
        del at, trials
        return state()

    def read(self, said: dict[str, Any], trials: int) -> Any:
        raise NotImplementedError

    def played(self, tallies: Mapping[int, Any], must: Any, note: str, rate: float | None) -> Any:
        raise NotImplementedError


@pytest.mark.thorough
@linux
def test_the_processes_of_an_audit_can_not_be_dumped() -> None:
    batch = TrialBatch(0, 0, 1)
    assert list(processes(2)([ScheduledGame(Asked(), 1, "", "")], [batch])) == [(batch, NOTHING)]
