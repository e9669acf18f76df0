"""A Dask cluster for tests: a scheduler and workers in processes of their own, whose output is kept."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.servers import wait_for

WITHOUT_SPILLING = {
    "DASK_DISTRIBUTED__WORKER__MEMORY__TARGET": "False",
    "DASK_DISTRIBUTED__WORKER__MEMORY__SPILL": "False",
}
"""The variables that keep results of workers off their disks."""
ALL_MESSAGES = {"DASK_LOGGING__DISTRIBUTED": "debug"}
WORKER = "from distributed.cli.dask_worker import main; main()"
"""The program of a worker. Tests put faults before it."""
_SCHEDULER = "from distributed.cli.dask_scheduler import main; main()"
_REGISTERED = "Registered to"


@dataclass
class Cluster:
    """A scheduler, its workers, and the files with their output."""

    folder: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        """The address of the scheduler."""
        found = re.search(r"tcp://127.0.0.1:\d+", self.output(0))
        assert found is not None, "the scheduler has started"
        return found[0]

    def output(self, number: int) -> str:
        """Return what a process has printed: the scheduler (0) or a worker (from 1)."""
        return (self.folder / str(number)).read_text(encoding="utf-8")

    def start(self, program: str, *arguments: str, ready: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start a process and wait until it prints that it is ready."""
        number = len(self.processes)
        with open(self.folder / str(number), "w", encoding="utf-8") as output:
            command = [sys.executable, "-c", program, "--no-dashboard", *arguments]
            process = subprocess.Popen(command, stdout=output, stderr=output, env={**os.environ, **environment})
        self.processes.append(process)
        wait_for(lambda: ready in self.output(number) or process.poll() is not None, self.folder / str(number))
        return process

    def add_worker(self, program: str = WORKER, **environment: str) -> subprocess.Popen[bytes]:
        """Start a worker with one thread."""
        folder = self.folder / "workers"
        arguments = (self.address, "--no-nanny", "--nthreads", "1", "--local-directory", str(folder))
        return self.start(program, *arguments, ready=_REGISTERED, **{**WITHOUT_SPILLING, **environment})


@contextmanager
def cluster(workers: int = 0, **environment: str) -> Iterator[Cluster]:
    """Start a scheduler and so many workers. They end with the block."""
    with tempfile.TemporaryDirectory() as folder:
        made = Cluster(Path(folder))
        try:
            made.start(_SCHEDULER, "--host", "127.0.0.1", "--port", "0", ready="Scheduler at", **environment)
            for _ in range(workers):
                made.add_worker(**environment)
            yield made
        finally:
            for each in made.processes:
                each.kill()
            for each in made.processes:
                each.wait()
