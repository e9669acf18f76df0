"""The choice of who counts a table: this process, several processes of this machine, or a Dask cluster."""

from contextlib import AbstractContextManager, nullcontext
from functools import partial

from crowdgate.errors import ConfigurationError, Problem
from crowdgate.sources.counting import ExecutorFor
from crowdgate.sources.source import Source
from crowdgate.sources.workers import executor_of


def check_executor(workers: int, cluster: str | None, source: Source) -> None:
    """Check, before anything is charged, that the table can be counted as requested. Raises ConfigurationError,
    EnvironmentFault for a faulty cluster.
    """
    if cluster is None:
        return
    if workers > 1:
        raise ConfigurationError(Problem("command line", None, "--cluster", "--workers as well", "one of them"))
    from crowdgate.sources.cluster import check_cluster

    check_cluster(cluster, source)


def executor_for(workers: int, cluster: str | None) -> AbstractContextManager[ExecutorFor]:
    """Return the executor that counts with so many processes, or on the cluster with this scheduler."""
    if cluster is None:
        return executor_of(workers)
    from crowdgate.sources.cluster import cluster_executor

    return nullcontext(partial(cluster_executor, cluster))
