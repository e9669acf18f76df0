"""Deployed runs whose process, worker, or both, are killed at one of their steps; by hand (`soak`).

A Prefect worker of its own process executes the run for a real server on this machine. Each kill takes a worker and two
more processes of Prefect, about 10 CPU seconds. After it the ledger is intact, at most one whole release is there for
one charge, and the next run publishes or explains what was spent.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path
from uuid import UUID

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import DeploymentUpdate
from prefect.states import Crashed

from tests.flows.server import Server, until
from tests.flows.test_bound_deployments import parameters
from tests.releases.test_kills import SLOT, ends_well
from tests.workshop import Workshop

KILLED = """
import os, signal
if "KILLED_AT" in os.environ:
    from crowdgate.releases import release as job
    from crowdgate.ledger.ledger import Ledger
    from crowdgate.publish import publisher
    holder, name, when, victims = os.environ["KILLED_AT"].split()
    place = {"ledger": Ledger, "job": job, "publisher": publisher}[holder]
    original = getattr(place, name)
    def kill():
        with open(os.environ["KILLED"], "w") as file:
            file.write("killed")
        if victims != "run":
            os.kill(os.getppid(), signal.SIGKILL)
        if victims != "worker":
            os.kill(os.getpid(), signal.SIGKILL)
    def killed(*args, **kwargs):
        if when == "before":
            kill()
        made = original(*args, **kwargs)
        if when == "after":
            kill()
        return made
    setattr(place, name, killed)
"""
"""The source of `sitecustomize`, which Python imports at start: a run kills itself, its worker, or both."""
KILLS = (
    "ledger reserve before run",
    "ledger reserve after both",
    "ledger begin_reading before both",
    "ledger begin_reading after run",
    "job protect before both",
    "publisher stage after run",
    "ledger commit before both",
    "ledger commit after run",
    "publisher publish before both",
    "publisher publish after run",
    "ledger published after both",
    "ledger reserve before worker",
    "ledger begin_reading after worker",
    "publisher publish before worker",
)


@pytest.mark.soak
@pytest.mark.parametrize("kill", KILLS)
def test_a_deployed_run_that_is_killed_ends_well(
    workshop: Workshop, server: Server, deployed: UUID, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kill: str
) -> None:
    (tmp_path / "sitecustomize.py").write_text(KILLED)
    marker, victims = tmp_path / "killed", kill.rpartition(" ")[2]
    environment = {"KILLED_AT": kill, "KILLED": str(marker)}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), *sys.path])
    bound = {**parameters(workshop), "as_of": SLOT}
    start = [sys.executable, "-m", "prefect", "worker", "start", "--pool", "releases"]
    worker = subprocess.Popen(start, env=server.environment())
    try:
        with get_client(sync_client=True) as client:
            client.update_deployment(deployed, DeploymentUpdate(parameters=parameters(workshop)))
            run = client.create_flow_run_from_deployment(deployed, parameters=bound, job_variables={"env": environment})
            until(marker.exists, 120)
            if victims == "run":
                until(lambda: client.read_flow_run(run.id).state_name == "Crashed", 120)
            if victims != "run":
                assert worker.wait(60) == -signal.SIGKILL
            if victims == "worker":  # the run goes on without it, and tells the server itself
                until(lambda: client.read_flow_run(run.id).state_name == "Completed", 120)
            if victims == "both":  # nobody tells the server, so the run keeps the only slot of its deployment
                assert client.read_flow_run(run.id).state_name == "Running"
                client.set_flow_run_state(run.id, Crashed())
    finally:
        worker.kill()
        worker.wait()
    ends_well(workshop, monkeypatch)
