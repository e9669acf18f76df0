"""Counting on a Dask cluster.

The workers count groups of successive parts. They add up counts of rows in a tree, and merge buckets of people. This
process gets one sum, or one bucket after another, and counts the groups that are missing there: all of them if the
cluster is lost. Keys of tasks are random.
"""

import re
import secrets
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from crowdgate.errors import ConfigurationError, EnvironmentFault, Problem
from crowdgate.sources.cluster_connection import (
    ANSWER,
    GATHER,
    ClusterLostError,
    cluster_of,
    connected,
    threads_of,
    watch_of,
)
from crowdgate.sources.cluster_shuffle import buckets_for, shuffled_buckets
from crowdgate.sources.cluster_tasks import (
    GroupCounts,
    Sealed,
    WorkerState,
    add_groups,
    copy,
    count_group,
    logs_messages,
    sealed,
    unseen_files,
    versions,
    worker_state,
)
from crowdgate.sources.counting import Counter, Executor, PartialCounts, Progress
from crowdgate.sources.files import FilePart
from crowdgate.sources.shuffle import gathered
from crowdgate.sources.source import Piece, Source
from crowdgate.sources.spill import removed_on_error
from crowdgate.sources.workers import GROUPS_PER_WORKER, part_groups
from crowdgate.system.extras import DASK, need

if TYPE_CHECKING:
    from distributed import Client, Future

V = TypeVar("V")
ADDRESS = r"(tls://[A-Za-z0-9._-]{1,255}|tcp://(localhost|127\.0\.0\.1)):[0-9]{1,5}"
"""The address of a scheduler."""
_OPTION = "--cluster"
SUMMANDS = 8
"""The most sums that one task adds up: more take more memory, fewer take more tasks."""
_LOGS = "logs messages, which hold confidential counts; set the level of its logger distributed to info"
_ByWorker: TypeAlias = Mapping[str, V]


class ClusterWarning(UserWarning):
    """This process has counted what the cluster lost. The result is the same."""


def check_cluster(address: str, source: Source) -> None:
    """Check that a cluster can count a table, before anything is charged: its workers are there, have the versions of
    this process, write no results to their disks or logs, and see the first and the last file as this process does.

    Raises ConfigurationError for an address or a table that is not supported, EnvironmentFault for a faulty cluster.
    """
    need(DASK, _OPTION)
    if not re.fullmatch(ADDRESS, address):
        found = "an address with credentials" if "@" in address else repr(address)
        raise _refused(found, "tls://HOST:PORT, or inside one machine tcp://localhost:PORT")
    files = [part for part in source.parts if isinstance(part, FilePart)]
    if len(files) < len(source.parts):
        raise _refused("a table that is not in files", "a table in files, or --workers in place of --cluster")
    ends = sealed([part.slices[at] for part, at in ((files[0], 0), (files[-1], -1))] if files else [])
    logs, states, unseen = _answers(address, ends)
    if not states:
        raise EnvironmentFault(f"{_OPTION}: no worker is connected to {address}; start workers, then run this again")
    if logs:
        raise EnvironmentFault(f"{_OPTION}: the scheduler {_LOGS}")
    for worker, state in sorted(states.items()):
        _check_worker(f"{_OPTION}: the worker {worker}", state, unseen.get(worker, ()))


def _refused(found: str, expected: str) -> ConfigurationError:
    return ConfigurationError(Problem("command line", None, _OPTION, found, expected))


def _answers(address: str, ends: Sealed) -> tuple[bool, _ByWorker[WorkerState | Exception], _ByWorker[list[str]]]:
    """Return whether the scheduler logs messages, the states of the workers, and the files that each does not see."""
    try:
        with connected(address) as client:
            logs: bool = client.run_on_scheduler(logs_messages, callback_timeout=ANSWER)
            states: _ByWorker[WorkerState | Exception]
            states = client.run(worker_state, on_error="return", callback_timeout=ANSWER)
            if logs or any(isinstance(each, Exception) or each.logs_messages for each in states.values()):
                return logs, states, {}
            return logs, states, client.run(unseen_files, ends, callback_timeout=ANSWER)
    except Exception as error:  # its text is of another machine
        trouble = type(error).__name__
    asked = f"no answer from the scheduler at {address} ({trouble})"
    raise EnvironmentFault(f"{_OPTION}: {asked}; is it running, with Crowdgate installed?")


def _check_worker(place: str, state: WorkerState | Exception, unseen: Sequence[str]) -> None:
    """Raise EnvironmentFault for a worker that can't count the table."""
    if isinstance(state, Exception):
        raise EnvironmentFault(f"{place} can't run Crowdgate ({type(state).__name__}); install the same version there")
    if state.versions != versions():
        there, here = (", ".join(each) for each in (state.versions, versions()))
        raise EnvironmentFault(f"{place} has {there}; expected {here}, as here")
    if state.may_spill:
        wanted = "set distributed.worker.memory.target and distributed.worker.memory.spill to False there"
        raise EnvironmentFault(f"{place} may write confidential counts to its disk; {wanted}")
    if state.logs_messages:
        raise EnvironmentFault(f"{place} {_LOGS}")
    if unseen:
        wanted = "mount its folder there, or set the keys of its store"
        raise EnvironmentFault(f"{place} does not see {unseen[0]} as this machine does; {wanted}")


def cluster_executor(address: str, progress: Progress | None) -> Executor:
    """Return the executor that counts on the cluster of this scheduler."""

    def run(counter: Counter, parts: Sequence[Piece]) -> Iterator[PartialCounts]:
        if len(parts) < 2 or not counter.reads_table:  # a small table, or files of this machine
            yield counter(parts, progress)
            return
        counting = _sums if counter.spill is None else _buckets
        try:
            yield from counting(address, counter, parts, progress)
            return
        except ClusterLostError as lost:
            cause = str(lost)
        yield counter(parts, progress)
        _warn("the table", f" ({cause})")

    return run


def _warn(what: str, cause: str = "") -> None:
    said = f"{_OPTION}: the cluster did not count {what}{cause}; this process did"
    warnings.warn(said, ClusterWarning, stacklevel=2)


def _buckets(
    address: str, counter: Counter, parts: Sequence[Piece], progress: Progress | None
) -> Iterator[PartialCounts]:
    """Yield the counts of a table of people, in buckets. Raises ClusterLostError before that."""
    assert counter.spill is not None, "rows by person may exceed memory"
    with cluster_of(address) as client:
        threads = threads_of(client)
        groups = part_groups(parts, GROUPS_PER_WORKER * threads)
        spill = counter.spill.divided(buckets_for(threads, sum(part.size for part in parts)))
        merged = shuffled_buckets(client, counter, groups, spill.division, progress)
        with removed_on_error(spill):
            found = gathered(merged, groups, counter.with_spill(spill))
    yield found.counts
    if found.recounted:
        _warn("all parts of the table")


def _sums(address: str, counter: Counter, parts: Sequence[Piece], progress: Progress | None) -> Iterator[PartialCounts]:
    """Yield the sum of the counts of all groups, and the counts of those that are missing in it. Raises
    ClusterLostError before that."""
    groups, total = _sum_of_cluster(address, counter, parts, progress)
    if total.counts is not None:
        yield total.counts
    for number in sorted(total.missing):
        yield counter(groups[number], None)
    if total.missing:
        _warn("all parts of the table")


def _sum_of_cluster(
    address: str, counter: Counter, parts: Sequence[Piece], progress: Progress | None
) -> tuple[list[list[Piece]], GroupCounts]:
    """Return the groups of parts and the sum of their counts. Raises ClusterLostError."""
    with cluster_of(address) as client:
        groups = part_groups(parts, GROUPS_PER_WORKER * threads_of(client))
        counted, total = _submit(client, counter, groups)
        watch_of(client, counted, groups, progress).wait({0: total})
        found: GroupCounts = total.result(GATHER).value
        return groups, found


@dataclass(frozen=True)
class _Summand:
    """A task that ends with the counts of the groups with these numbers."""

    numbers: tuple[int, ...]
    future: "Future[Sealed]"


def _submit(
    client: "Client", counter: Counter, groups: Sequence[Sequence[Piece]]
) -> tuple[list["Future[Sealed]"], "Future[Sealed]"]:
    """Submit the tasks that count a table. Return those of its groups, and the one that ends with the sum."""
    run = secrets.token_hex(8)
    task = client.submit(copy, sealed(counter), key=f"crowdgate-task-{run}")
    level = [
        _Summand(
            (number,),
            client.submit(count_group, number, versions(), task, sealed(group), key=f"crowdgate-count-{run}-{number}"),
        )
        for number, group in enumerate(groups)
    ]
    counted, keys = [each.future for each in level], (f"crowdgate-add-{run}-{number}" for number in count())
    while len(level) > 1:
        level = [_sum(client, level[at : at + SUMMANDS], next(keys)) for at in range(0, len(level), SUMMANDS)]
    return counted, level[0].future


def _sum(client: "Client", summands: Sequence[_Summand], key: str) -> _Summand:
    numbers = tuple(number for each in summands for number in each.numbers)
    return _Summand(
        numbers, client.submit(add_groups, numbers, versions(), [each.future for each in summands], key=key)
    )
