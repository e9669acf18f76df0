"""The stored state of a Prefect server, read from outside."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.settings import PREFECT_API_URL, temporary_settings

from crowdgate.releases.working_copy import init


@dataclass
class Server:
    """A running Prefect server, read from outside."""

    url: str
    database: Path
    storage: Path

    def environment(self) -> dict[str, str]:
        """Return the environment of a process that uses the server, such as a worker."""
        used = {"PREFECT_API_URL": self.url, "PREFECT_RUNNER_POLL_FREQUENCY": "1", "PREFECT_WORKER_QUERY_SECONDS": "1"}
        return {**os.environ, **used, "PYTHONPATH": os.pathsep.join(sys.path)}

    def query(self, sql: str, *values: object) -> list[sqlite3.Row]:
        """Rows of the server's database."""
        connection = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)
        try:
            connection.row_factory = sqlite3.Row
            return connection.execute(sql, values).fetchall()
        finally:
            connection.close()

    def texts(self) -> Iterator[str]:
        """Yield every cell of every table, as text."""
        for (table,) in self.query("SELECT name FROM sqlite_master WHERE type = 'table'"):
            for row in self.query(f'SELECT * FROM "{table}"'):
                for cell in row:
                    yield cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell)

    def raw(self) -> bytes:
        """The database's files as they are on disk."""
        return b"".join(path.read_bytes() for path in self.database.parent.glob(self.database.name + "*"))

    def last_run(self) -> "Seen":
        """The flow run that was created last."""
        (row,) = self.query("SELECT id, name, parameters FROM flow_run ORDER BY created DESC LIMIT 1")
        (state,) = self.query(
            "SELECT s.type, s.name, s.message, s.data FROM flow_run r JOIN flow_run_state s ON r.state_id = s.id "
            "WHERE r.id = ?",
            row["id"],
        )
        artifacts = self.query("SELECT key, data FROM artifact WHERE flow_run_id = ?", row["id"])
        return Seen(
            row["id"], row["name"], row["parameters"], state, {found["key"]: found["data"] for found in artifacts}
        )

    def settle(self, runs: list["Seen"]) -> None:
        """Wait until logs, events and task runs of these runs have reached the database."""
        events = "SELECT 1 FROM events WHERE resource_id = 'prefect.flow-run.' || ? AND event LIKE ?"
        logs = "SELECT 1 FROM log WHERE flow_run_id = ? AND message LIKE 'Finished in %'"
        for run in runs:
            until(partial(self.query, logs, run.id))
            until(partial(self.query, events, str(UUID(run.id)), f"prefect.flow-run.{run.state['name']}"))
        until(lambda: not self.query("SELECT 1 FROM task_run WHERE state_type IN ('PENDING', 'RUNNING')"))


@dataclass(frozen=True)
class Seen:
    """The server's record of one flow run."""

    id: str
    name: str
    parameters: str
    state: sqlite3.Row
    artifacts: dict[str, str]


@dataclass
class RestartedServer(Server):
    """A Prefect server in a process and a folder of its own, which can be killed and started again."""

    folder: Path = Path()
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process, and wait until it answers."""
        command = [sys.executable, "-m", "prefect", "server", "start", "--port", self.url.split(":")[2].split("/")[0]]
        environment = {**self.environment(), "PREFECT_HOME": str(self.folder)}
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        until(self._answers, 120)

    def kill(self) -> None:
        """Kill the process and its children."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/health", timeout=5).is_success
        except httpx.HTTPError:
            return False


@contextmanager
def restarted_server(folder: Path) -> Iterator[RestartedServer]:
    """Start a server of its own in a folder; clients of this process and its children use it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/api"
    folder.mkdir()
    server = RestartedServer(url, folder / "prefect.db", folder / "storage", folder)
    with temporary_settings({PREFECT_API_URL: url}):
        try:
            server.start()
            yield server
        finally:
            server.kill()


def make_deployment(server: Server, folder: Path) -> UUID:
    """Make the bundled deployment, and the work pool of its runs, at a server; return the deployment's id."""
    here = init(folder / "copy", "deployed") / "schedules"
    with get_client(sync_client=True) as client:
        client.create_work_pool(WorkPoolCreate(name="releases", type="process"), overwrite=True)
        deploy = [sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all"]
        subprocess.run(deploy, cwd=here, env=server.environment(), check=True)
        return client.read_deployment_by_name("release/census-income-yearly").id


def until(condition: Callable[[], Any], seconds: float = 20) -> None:
    """Wait for the server or its child processes; raise AssertionError after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to be in time"
        time.sleep(0.1)
