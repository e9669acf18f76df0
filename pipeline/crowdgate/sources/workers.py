"""Counting in several processes of this machine.

The workers start before the run prepares, and end with it. Each counts one group of successive parts after another and
answers with packed tuples and their counts, which this process adds up in the order of the table. So the first fault of
the table is the one that is raised, and the sum is that of one process. A group whose worker is lost (killed, or out of
memory) is counted again in this process.
"""

import os
import pickle
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import accumulate, groupby
from queue import SimpleQueue
from subprocess import DEVNULL, PIPE, Popen

from crowdgate.sources.counting import Counter, Executor, ExecutorFor, PartialCounts, Progress, serial
from crowdgate.sources.files import FilePart
from crowdgate.sources.source import Piece
from crowdgate.system.child_environment import without_secrets

_COMMAND = (sys.executable, "-P", "-m", "crowdgate.sources.worker")
GROUPS_PER_WORKER = 4
"""More groups keep all workers busy to the end; each costs its own merge."""
_Worker = Popen[bytes]
_Group = list[Piece]
_Task = tuple[dict[str, str], Counter]
"""Variables of the environment and the counter, which a worker gets before its first group."""


@contextmanager
def executor_of(workers: int) -> Iterator[ExecutorFor]:
    """Yield the executor that counts with so many processes: this one for 1, else new ones that end with the block."""
    if workers == 1:
        yield serial
        return
    started = [_start() for _ in range(workers)]
    try:
        yield lambda progress: _executor(started, progress)
    finally:
        for each in started:
            each.kill()
        for each in started:
            each.communicate()


def _start() -> _Worker:
    return Popen(_COMMAND, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=without_secrets())


def _variables(parts: Sequence[Piece]) -> dict[str, str]:
    """Return the variables of the environment without which the parts can't be read."""
    names = {name for part in parts if isinstance(part, FilePart) for name in part.variables}
    return {name: os.environ[name] for name in names if name in os.environ}


def _executor(started: list[_Worker], progress: Progress | None) -> Executor:
    def run(counter: Counter, parts: Sequence[Piece]) -> Iterator[PartialCounts]:
        groups, done = part_groups(parts, GROUPS_PER_WORKER * len(started)), 0
        if len(groups) == 1:  # a small table, a database or a stream: it may exist in this process only
            yield counter(parts, progress)
            return
        counter = counter.shared(len(groups))
        task = (_variables(parts), counter)
        for group, found in zip(groups, _answers(started, task, groups), strict=True):
            if isinstance(found, Exception):
                raise found
            yield counter(group, None) if found is None else found
            done += sum(part.size for part in group)
            if progress is not None and counter.reads_table:
                progress(done)

    return run


def part_groups(parts: Sequence[Piece], most: int) -> list[_Group]:
    """Return the parts in at most `most` groups of successive ones, of about the same size in bytes: each is in the
    group of its middle.
    """
    total = max(1, sum(part.size for part in parts))
    ends = accumulate(part.size for part in parts)
    places = [min(most - 1, (2 * end - part.size) * most // (2 * total)) for end, part in zip(ends, parts, strict=True)]
    together = groupby(zip(places, parts, strict=True), key=lambda each: each[0])
    return [[part for _, part in group] for _, group in together]


def _answers(
    started: list[_Worker], task: _Task, groups: Sequence[_Group]
) -> Iterator[PartialCounts | Exception | None]:
    """Yield the answer to each group, in order; None if its worker is lost. One thread waits for each worker."""
    free: SimpleQueue[_Worker] = SimpleQueue()
    for each in started:
        _send(each, task)
        free.put(each)

    def ask(group: _Group) -> PartialCounts | Exception | None:
        worker = free.get()
        found = _receive(worker) if _send(worker, group) else None
        if found is None:
            worker = _start()
            started.append(worker)
            _send(worker, task)
        free.put(worker)
        return found

    with ThreadPoolExecutor(len(started)) as threads:
        try:
            yield from threads.map(ask, groups)
        finally:
            threads.shutdown(cancel_futures=True)


def _send(process: _Worker, value: object) -> bool:
    assert process.stdin is not None, "it is a pipe"
    try:
        pickle.dump(value, process.stdin, pickle.HIGHEST_PROTOCOL)
        process.stdin.flush()
    except OSError:
        return False
    return True


def _receive(process: _Worker) -> PartialCounts | Exception | None:
    assert process.stdout is not None, "it is a pipe"
    try:
        found: PartialCounts | Exception = pickle.load(process.stdout)
    except (OSError, EOFError, pickle.UnpicklingError):
        return None
    return found
