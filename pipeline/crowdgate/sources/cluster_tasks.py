"""Tasks of a Dask cluster: they count groups of parts of a table and add up counts, or merge buckets of people, for the
run that submits them.

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
from typing import Any, TypeAlias, TypeVar

from crowdgate.sources.buckets import Division
from crowdgate.sources.counting import Counter, PartialCounts, added
from crowdgate.sources.files import Slice, has_changed
from crowdgate.sources.shuffle import Share, missing_bucket, shares_of, shuffled_bucket
from crowdgate.system.core_dumps import disable_core_dumps

_COUNTING = ("crowdgate", "numpy", "pyarrow")
"""The distributions on which counts depend: a table's cells are read and become texts by these versions."""
Versions: TypeAlias = tuple[str, ...]
T = TypeVar("T")


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

    def counted() -> Sealed:
        count: Counter = counter.value
        return sealed(GroupCounts(count(group.value, None), ()))

    return _made_or(counted, sealed(GroupCounts(None, (number,))), stated)


def add_groups(numbers: Sequence[int], stated: Versions, found: Sequence[Sealed]) -> Sealed:
    """Return the sum of sealed GroupCounts over the groups with these numbers. `stated` are the versions of the run."""

    def summed() -> Sealed:
        parts: list[GroupCounts] = [each.value for each in found]
        missing = tuple(number for part in parts for number in part.missing)
        counts = [part.counts for part in parts if part.counts is not None]
        return sealed(GroupCounts(added(counts) if counts else None, missing))

    return _made_or(summed, sealed(GroupCounts(None, tuple(numbers))), stated)


def divide_group(number: int, stated: Versions, counter: Sealed, division: Sealed, group: Sealed) -> list[Sealed]:
    """Return the shares of one group of parts in all buckets: each a sealed Share, or None if the group is missing.
    `stated` are the versions of the run.
    """
    into: Division = division.value

    def counted() -> list[Sealed]:
        count: Counter = counter.value
        return [sealed(share) for share in shares_of(number, count(group.value, None), into)]

    return _made_or(counted, [sealed(None)] * into.buckets, stated)


def bucket_share(shares: Sequence[Sealed], number: int) -> Sealed:
    """Return the share of a group in one bucket, so that no other share is sent with it."""
    return shares[number]


def merge_bucket(number: int, stated: Versions, form: Sealed, shares: Sequence[Sealed]) -> Sealed:
    """Return a bucket, merged over the shares of all groups, as a sealed ShuffledBucket. `stated` are the versions of
    the run.
    """

    def merged() -> Sealed:
        found: list[Share | None] = [each.value for each in shares]
        return sealed(shuffled_bucket(number, found, form.value))

    return _made_or(merged, sealed(missing_bucket(number, len(shares))), stated)


def _made_or(made: Callable[[], T], missing: T, stated: Versions) -> T:
    """Return what `made` returns, or `missing` if it fails, or if this worker, which may have joined after the check,
    has other versions or may write results.
    """
    try:
        from distributed import get_worker

        disable_core_dumps()
        if stated == versions() and not may_spill(get_worker()) and not logs_messages():
            return made()
    except Exception:  # its text may hold cells
        pass
    return missing


def may_spill(worker: Any) -> bool:
    """Return whether Dask may write results of a worker to its disk."""
    memory = worker.memory_manager
    limits = (memory.memory_target_fraction, memory.memory_spill_fraction)
    return type(memory.data) is not dict or any(limits)


def logs_messages() -> bool:
    """Return whether Dask logs all messages of this process, with arguments and results of tasks."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "distributed"]
    return any(logging.getLogger(name).isEnabledFor(logging.DEBUG) for name in names)
