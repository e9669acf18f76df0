"""Connections to the scheduler of a Dask cluster, and the watch of a table that it counts."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import TYPE_CHECKING

from crowdgate.errors import CrowdgateError
from crowdgate.sources.counting import Progress
from crowdgate.sources.source import Piece

if TYPE_CHECKING:
    from distributed import Client, Future

    from crowdgate.sources.cluster_tasks import Sealed

_CONNECT = 10
"""Seconds for which a connection to the scheduler is tried."""
ANSWER = 60
"""Seconds for which an answer of the cluster is awaited: a process that hangs still takes messages."""
GATHER = 3600
"""Seconds for which a result is awaited once it is there: it can have many GB."""
_POLL = 0.1
"""Seconds between two looks at the tasks."""
_IDLE = 60
"""Seconds without a worker that takes tasks, and without the end of a task, after which the cluster is lost."""


class ClusterLostError(Exception):
    """The cluster does not count the table. Its text is the type of the cause: texts of other errors can hold what is
    confidential.
    """


@contextmanager
def connected(address: str) -> "Iterator[Client]":
    """Yield a connection to the scheduler at this address."""
    from distributed import Client

    with Client(address, timeout=_CONNECT, set_as_default=False, direct_to_workers=False) as client:
        yield client


@contextmanager
def cluster_of(address: str) -> "Iterator[Client]":
    """Yield a connection to the scheduler at this address. Raises ClusterLostError in place of all errors but those of
    Crowdgate."""
    try:
        with connected(address) as client:
            yield client
    except CrowdgateError:
        raise
    except Exception as error:  # Dask's own, and its text is of another machine
        cause = type(error).__name__
    else:
        return
    raise ClusterLostError(cause)


def threads_of(client: "Client") -> int:
    """Return the number of threads of all workers."""
    return sum(client.nthreads(callback_timeout=ANSWER).values())


def watch_of(
    client: "Client", counted: "Sequence[Future[Sealed]]", groups: Sequence[Sequence[Piece]], progress: Progress | None
) -> "Watch":
    """Return the watch of the tasks that count these groups."""
    sizes = (sum(part.size for part in group) for group in groups)
    return Watch(client, list(zip(counted, sizes, strict=True)), progress)


@dataclass
class Watch:
    """Watch of the tasks that count groups, each with its bytes: it calls back with those that are counted, and
    releases their results.
    """

    client: "Client"
    counted: "list[tuple[Future[Sealed], int]]"
    progress: Progress | None
    _done: int = 0
    _last: float = field(default_factory=monotonic)

    def wait(self, awaited: "Mapping[int, Future[Sealed]]") -> list[int]:
        """Wait for the end of any of these tasks. Return the numbers of those that have ended.

        Raises TimeoutError if the scheduler does not answer, or no worker takes tasks, for too long.
        """
        self._last = monotonic()
        while not (found := [number for number, each in awaited.items() if each.done()]):
            sleep(_POLL)
            self._look()
        return found

    def _look(self) -> None:
        left = len(self.counted)
        self._done += sum(size for future, size in self.counted if future.done())
        self.counted[:] = [each for each in self.counted if not each[0].done()]
        if self.progress is not None:
            self.progress(self._done)
        # a worker that is short of memory takes no task, and may stay so for ever
        assert self.client.scheduler is not None, "it is connected"
        taking = self.client.sync(self.client.scheduler.ncores_running, callback_timeout=ANSWER)
        if taking or len(self.counted) < left:
            self._last = monotonic()
        if monotonic() > self._last + _IDLE:
            raise TimeoutError
