"""Thirty slots of a deployment with a fault at random in each; by hand (`soak`): some ten CPU minutes.

A Prefect worker executes the runs for a real server. In a slot the run, its worker or both are killed, the server is
killed while the run goes on and is started again, the table comes late, the disk is full, or the clock is set back. The
server is also killed and started again between slots. A run that did not end is run again. Then each slot is published
whole, or explained as spent; the budget is exact; nothing shows a marked value.
"""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import DeploymentUpdate
from prefect.states import Crashed

from crowdgate.ledger.ledger import Entry, State, open_ledger
from crowdgate.verification.release import verify
from tests.flows.server import RestartedServer, make_deployment, restarted_server, until
from tests.flows.test_bound_deployments import parameters
from tests.flows.test_silence import marked_workshop
from tests.flows.test_worker_kills import KILLED, KILLS
from tests.flows.test_worker_logs import CHANNELS
from tests.workshop import MARK, Workshop

GONE = """
if "SERVER_GONE_AT" in os.environ:
    import time
    from crowdgate.releases import release as job
    from crowdgate.ledger.ledger import Ledger
    from crowdgate.publish import publisher
    holder, name = os.environ["SERVER_GONE_AT"].split()
    place = {"ledger": Ledger, "job": job, "publisher": publisher}[holder]
    original = getattr(place, name)
    def alone(*args, **kwargs):
        if not os.path.exists(os.environ["GONE"]):
            with open(os.environ["GONE"], "w") as file:
                file.write(str(os.getpid()))
        while not os.path.exists(os.environ["GONE"] + ".killed"):
            time.sleep(0.1)
        return original(*args, **kwargs)
    setattr(place, name, alone)
"""
"""Part of `sitecustomize`: a run names its process before a step, and takes the step when the server is killed."""
STEPS = (
    "ledger reserve", "ledger begin_reading", "job protect", "publisher stage", "ledger commit", "publisher publish",
    "ledger published",
)  # fmt: skip
FAULTS = f"""{KILLED}{GONE}
from crowdgate.ledger import reservations
reservations.LEASE_SECONDS = 0  # a run that was killed before it read is run again at once
if os.environ.get("FAULT") == "full disk":
    from crowdgate.publish import publisher
    def full(*_, **__):
        raise OSError(28, "No space left on device")
    publisher.fsync_path = full
if os.environ.get("FAULT") == "clock back":
    from dataclasses import replace
    from crowdgate.ledger import sqlite
    sqlite._now = lambda database: "2020-01-01T00:00:00Z"
"""
SLOTS = 30
RESTART_EVERY = 10
"""Slots after which the server is killed and started again."""
OTHERS = ("none", "none", "late table", "full disk", "clock back")


class Schedule:
    """A deployment's runs, slot after slot, with a worker that is started again when it is gone."""

    def __init__(self, server: RestartedServer, deployed: UUID, workshop: Workshop, folder: Path) -> None:
        self.server, self.deployed, self.workshop, self.folder = server, deployed, workshop, folder
        self.worker: subprocess.Popen[bytes] | None = None
        (folder / "sitecustomize.py").write_text(FAULTS)

    def work(self) -> subprocess.Popen[bytes]:
        """Return the worker, a new one if there is none."""
        if self.worker is None or self.worker.poll() is not None:
            start = [sys.executable, "-m", "prefect", "worker", "start", "--pool", "releases"]
            self.worker = subprocess.Popen(start, env=self.server.environment())
        return self.worker

    def run(self, slot: str, **variables: str) -> str:
        """Run a slot until it ends or is killed; return the name of its state, and its message."""
        environment = {"PYTHONPATH": os.pathsep.join([str(self.folder), *sys.path]), **variables}
        stated = {**parameters(self.workshop), "as_of": slot, "wait": 1}
        marker = Path(variables.get("KILLED", self.folder / "never"))
        gone = Path(variables.get("GONE", self.folder / "never"))
        with get_client(sync_client=True) as client:
            client.update_deployment(self.deployed, DeploymentUpdate(parameters=parameters(self.workshop)))
            run = client.create_flow_run_from_deployment(
                self.deployed, parameters=stated, job_variables={"env": environment}
            )
            self.work()

            def ended() -> bool:
                self.restart_server(gone)
                state = client.read_flow_run(run.id).state
                if gone.exists() and not Path(f"/proc/{gone.read_text()}").exists():
                    return True
                alone = marker.exists() and self.work_is_gone()
                return (state is not None and state.is_final()) or (alone and variables["KILLED_AT"].endswith("both"))

            until(ended, 240)
            state = client.read_flow_run(run.id).state
            if state is None or not state.is_final():  # nobody is left that could tell the server
                client.set_flow_run_state(run.id, Crashed())
                return "killed"
            return f"{state.name}: {state.message}"

    def restart_server(self, gone: Path) -> None:
        """Kill the server once a run has named its process, let the run go on without it, and start it again."""
        killed = gone.with_name(f"{gone.name}.killed")
        if gone.exists() and not killed.exists():
            self.server.kill()
            killed.touch()
            time.sleep(4)
            self.server.start()

    def work_is_gone(self) -> bool:
        return self.worker is None or self.worker.poll() is not None


@contextmanager
def late_table(workshop: Workshop, late: bool) -> Iterator[None]:
    """Let the table arrive some seconds after the run began."""
    table, away = workshop.root / "data_contracts/patients.parquet", workshop.root / "away"
    if not late:
        yield
        return
    table.rename(away)
    timer = threading.Timer(12, lambda: away.rename(table))
    timer.start()
    yield
    timer.join()


def fault_of(number: int, coins: random.Random, folder: Path) -> dict[str, str]:
    """Return the variables that make a run fail: two slots in five are killed, one in five loses its server."""
    kind = coins.random()
    if kind < 0.2:
        return {"SERVER_GONE_AT": coins.choice(STEPS), "GONE": str(folder / f"gone-{number}")}
    if kind < 0.6:
        return {"KILLED_AT": coins.choice(KILLS), "KILLED": str(folder / f"killed-{number}")}
    return {"FAULT": coins.choice(OTHERS)}


def judge(workshop: Workshop, slot: str, said: str) -> str:
    """Return the end of a slot: published, and then whole, or spent, and then explained."""
    ledger, there = open_ledger(workshop.ledger, None), workshop.release_dir(slot)
    ledger.verify()
    entry: Entry | None = ledger.entry(f"clinic/1/{slot}")
    assert entry is not None
    if entry.state is State.PUBLISHED:
        assert verify(there, workshop.ledger)
        assert said.startswith("Completed")
        return "published"
    assert (entry.state, entry.reading, there.exists()) == (State.RESERVED, True, False)
    assert said.startswith("Refused"), said
    assert "spent" in said or "charged" in said, said
    return "explained"


@pytest.mark.soak
def test_thirty_slots_with_faults_end_published_or_explained(tmp_path: Path) -> None:
    with restarted_server(tmp_path / "server") as server:
        deployed = make_deployment(server, tmp_path / "server")
        _thirty_slots(server, deployed, tmp_path)


def _thirty_slots(server: RestartedServer, deployed: UUID, tmp_path: Path) -> None:
    workshop, coins, ends = marked_workshop(tmp_path / "copy", "published"), random.Random(42), Counter[Any]()
    workshop.edit(workshop.budget, "epsilon: 6, delta: 0.03, people: 1000", "epsilon: 60, delta: 0.3, people: 20000")
    with (workshop.root / "crowdgate.toml").open("a") as file:
        file.write(CHANNELS)
    schedule = Schedule(server, deployed, workshop, tmp_path)
    try:
        for number in range(SLOTS):
            slot, fault = f"2030-01-{number + 1:02d}", fault_of(number, coins, tmp_path)
            if number % RESTART_EVERY == RESTART_EVERY - 1:
                server.kill()
                server.start()
            with late_table(workshop, fault.get("FAULT") == "late table"):
                first = schedule.run(slot, **fault)
            said = first if first.startswith("Completed") else schedule.run(slot)
            name = " ".join(f"{key}={value}" for key, value in fault.items() if key not in ("GONE", "KILLED"))
            ends[judge(workshop, slot, said)] += 1
            print(slot, name, "|", first[:60], "|", said[:60], flush=True)
    finally:
        if schedule.worker is not None:
            schedule.worker.send_signal(signal.SIGKILL)
            schedule.worker.wait()
    assert ends.total() == SLOTS
    spent = open_ledger(workshop.ledger, None).spent("clinic-patients")
    assert (spent.epsilon, spent.delta) == (Fraction(2 * SLOTS), Fraction(SLOTS, 100))
    print(dict(ends))
    public = [path.read_text() for path in workshop.root.iterdir() if path.suffix in (".jsonl", ".prom")]
    assert not any(MARK in text for text in (*public, *server.texts()))
