"""Tasks of a Dask cluster: they count groups of parts of a table and add up counts, for the run that submits them.

Dask prints the arguments and the error of a task that fails, so arguments and results don't show their content, and no
task raises an error. A group that can't be counted here is missing in the result, and the run counts it itself. A task
draws no random numbers and writes no file, so a repeated task has the same result. Rows by person stay in memory.
"""

import logging
import pickle
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from typing import Any, TypeAlias

from crowdgate.sources.counting import Counter, PartialCounts, added
from crowdgate.sources.files import Slice, has_changed
from crowdgate.system.core_dumps import disable_core_dumps

_COUNTING = ("crowdgate", "numpy", "pyarrow")
"""The distributions on which counts depend: a table's cells are read and become texts by these versions."""
Versions: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class Sealed:
    """A pickled value that does not show its content."""

    content: bytes = field(repr=False)

    def __sizeof__(self) -> int:
        # Dask plans moves of results by this size
        return len(self.content)

    @property
    def value(self) -> Any:
        """The value."""
        return pickle.loads(self.content)


def sealed(value: object) -> Sealed:
    """Return a value as a sealed one."""
    return Sealed(pickle.dumps(value, pickle.HIGHEST_PROTOCOL))


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """The sum of the counts of some groups (None: of no group), and the numbers of the groups missing in it."""

    counts: PartialCounts | None
    missing: tuple[int, ...]


@dataclass(frozen=True)
class WorkerState:
    """The state of a worker that a run checks before it is charged: its versions, and whether it may write results to
    its disk or to its log.
    """

    versions: Versions
    may_spill: bool
    logs_messages: bool


@cache
def versions() -> Versions:
    """Return the names and versions of Python and of the distributions that count."""
    return f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in _COUNTING)


def worker_state(dask_worker: Any) -> WorkerState:
    """Return the state of this worker, which Dask gives as `dask_worker`."""
    return WorkerState(versions(), may_spill(dask_worker), logs_messages())


def unseen_files(slices: Sealed) -> list[str]:
    """Return the names of the files of these slices that this worker does not see as the run does."""
    looked_at: Sequence[Slice] = slices.value
    return [each.path.name for each in looked_at if _is_unseen(each)]


def _is_unseen(part: Slice) -> bool:
    try:
        return has_changed(part)
    except Exception:  # such as no keys of an object store; Dask would log its text
        return True


def copy(value: Sealed) -> Sealed:
    """Return the argument: a result that the tasks share, and that Dask makes again if a worker is lost."""
    return value


def count_group(number: int, stated: Versions, counter: Sealed, group: Sealed) -> Sealed:
    """Return the counts of one group of parts, as sealed GroupCounts. `stated` are the versions of the run."""

    def counted() -> GroupCounts:
        count: Counter = counter.value
        return GroupCounts(count(group.value, None), ())

    return _or_missing(counted, (number,), stated)


def add_groups(numbers: Sequence[int], stated: Versions, found: Sequence[Sealed]) -> Sealed:
    """Return the sum of sealed GroupCounts over the groups with these numbers. `stated` are the versions of the run."""

    def summed() -> GroupCounts:
        parts: list[GroupCounts] = [each.value for each in found]
        missing = tuple(number for part in parts for number in part.missing)
        counts = [part.counts for part in parts if part.counts is not None]
        return GroupCounts(added(counts) if counts else None, missing)

    return _or_missing(summed, tuple(numbers), stated)


def _or_missing(made: Callable[[], GroupCounts], numbers: tuple[int, ...], stated: Versions) -> Sealed:
    """Return what `made` returns, or that these groups are missing if it fails, or if this worker, which may have
    joined after the check, has other versions or may write results.
    """
    try:
        from distributed import get_worker

        disable_core_dumps()
        if stated == versions() and not may_spill(get_worker()) and not logs_messages():
            return sealed(made())
    except Exception:  # its text may hold cells
        pass
    return sealed(GroupCounts(None, numbers))


def may_spill(worker: Any) -> bool:
    """Return whether Dask may write results of a worker to its disk."""
    memory = worker.memory_manager
    limits = (memory.memory_target_fraction, memory.memory_spill_fraction)
    return type(memory.data) is not dict or any(limits)


def logs_messages() -> bool:
    """Return whether Dask logs all messages of this process, with arguments and results of tasks."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "distributed"]
    return any(logging.getLogger(name).isEnabledFor(logging.DEBUG) for name in names)
