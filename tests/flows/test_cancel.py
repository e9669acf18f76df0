"""Cancellation at the server of a run that a Prefect worker has started, while it waits at one of its steps; by hand
(`soak`).

Prefect notifies the worker, which ends the process.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import DeploymentUpdate
from prefect.states import Cancelling

from tests.flows.server import Server, until
from tests.flows.test_bound_deployments import parameters
from tests.flows.test_flow_kills import POINTS
from tests.releases.test_kills import SLOT, ends_well
from tests.workshop import Workshop

HELD = """
import os, sys, time
from pathlib import Path
if "HELD_AT" in os.environ:
    from crowdgate.releases import release as job
    from crowdgate.ledger.ledger import Ledger
    from crowdgate.publish import publisher
    holder, name = os.environ["HELD_AT"].split(".")
    place = {"ledger": Ledger, "job": job, "publisher": publisher}[holder]
    original = getattr(place, name)
    def held(*args, **kwargs):
        Path(os.environ["HELD"]).touch()
        time.sleep(600)
        return original(*args, **kwargs)
    setattr(place, name, held)
"""
"""The source of `sitecustomize`, which Python imports at start: the run waits before a step until it is ended."""


@pytest.fixture(scope="module")
def deployment(server: Server, deployed: UUID) -> Iterator[UUID]:
    """Return the deployment, after starting a worker that executes its runs."""
    start = [sys.executable, "-m", "prefect", "worker", "start", "--pool", "releases"]
    worker = subprocess.Popen(start, env=server.environment())
    yield deployed
    worker.terminate()
    worker.wait()


@pytest.mark.soak
@pytest.mark.parametrize("point", POINTS, ids=".".join)
def test_a_run_that_is_cancelled_at_the_server_ends_well(
    workshop: Workshop,
    deployment: UUID,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    point: tuple[str, str],
) -> None:
    (tmp_path / "sitecustomize.py").write_text(HELD)
    held = {"HELD_AT": ".".join(point), "HELD": str(tmp_path / "held")}
    held["PYTHONPATH"] = os.pathsep.join([str(tmp_path), *sys.path])
    asked = {**parameters(workshop), "as_of": SLOT}
    with get_client(sync_client=True) as client:
        client.update_deployment(deployment, DeploymentUpdate(parameters=parameters(workshop)))
        run = client.create_flow_run_from_deployment(deployment, parameters=asked, job_variables={"env": held})
        until((tmp_path / "held").exists, 120)
        client.set_flow_run_state(run.id, Cancelling())
        until(lambda: client.read_flow_run(run.id).state_name not in ("Running", "Cancelling"), 120)
        assert client.read_flow_run(run.id).state_name == "Cancelled"
    ends_well(workshop, monkeypatch)
