"""The shuffle of rows by person on a Dask cluster.

A task counts each group and divides it into buckets, a task merges each bucket of all groups, and this process takes
one merged bucket after another, which the cluster then releases.
"""

import secrets
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from crowdgate.sources.buckets import MOST_BUCKETS, Division
from crowdgate.sources.cluster_connection import GATHER, watch_of
from crowdgate.sources.cluster_tasks import Sealed, bucket_share, copy, divide_group, merge_bucket, sealed, versions
from crowdgate.sources.counting import Counter, Progress
from crowdgate.sources.shuffle import ShuffledBucket
from crowdgate.sources.source import Piece
from crowdgate.sources.workers import GROUPS_PER_WORKER

if TYPE_CHECKING:
    from distributed import Client, Future

_TABLE_BYTES = 1 << 26
"""Bytes of the table's files for each bucket: some six million rows in Parquet."""


def buckets_for(threads: int, size: int) -> int:
    """Return the number of buckets, a power of two, of a table with so many bytes and so many threads of workers: as
    many as groups, so that a worker merges about its share, and more of a large table.
    """
    wanted = max(GROUPS_PER_WORKER * threads, -(-size // _TABLE_BYTES))
    return min(MOST_BUCKETS, 1 << (wanted - 1).bit_length())


def shuffled_buckets(
    client: "Client", counter: Counter, groups: Sequence[Sequence[Piece]], division: Division, progress: Progress | None
) -> Iterator[ShuffledBucket]:
    """Yield the merged buckets of a table in the order of their ends. Raises an error if the cluster is lost."""
    counted, merged = _submitted(client, counter, groups, division)
    watch = watch_of(client, counted, groups, progress)
    del counted  # the watch releases them
    while merged:
        for number in watch.wait(merged):
            yield merged.pop(number).result(GATHER).value


def _submitted(
    client: "Client", counter: Counter, groups: Sequence[Sequence[Piece]], division: Division
) -> tuple[list["Future[Sealed]"], dict[int, "Future[Sealed]"]]:
    """Submit the tasks of a table. Return those that count its groups, and those that merge its buckets."""
    run, stated = secrets.token_hex(8), versions()
    task, form = f"crowdgate-task-{run}", f"crowdgate-form-{run}"
    tasks: dict[Any, Any] = {task: (copy, sealed(counter.with_spill(None))), form: (copy, sealed(counter.form))}
    counted = [f"crowdgate-count-{run}-{number}" for number in range(len(groups))]
    merged = [f"crowdgate-merge-{run}-{number}" for number in range(division.buckets)]
    for number, (key, group) in enumerate(zip(counted, groups, strict=True)):
        tasks[key] = (divide_group, number, stated, task, sealed(division), sealed(group))
    for number, key in enumerate(merged):
        # by this name Dask leaves them on the worker that has the group
        shares = [(f"split-shuffle-{run}", group, number) for group in range(len(groups))]
        tasks |= {share: (bucket_share, each, number) for share, each in zip(shares, counted, strict=True)}
        tasks[key] = (merge_bucket, number, stated, form, shares)
    found = client.get(tasks, [counted, merged], sync=False)
    return list(found[0]), dict(enumerate(found[1]))
