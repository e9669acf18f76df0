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
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.states import Cancelling

from crowdgate.releases.working_copy import init
from tests.flows.server import Server, until
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
def deployment(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[UUID]:
    """Make a deployment, and a worker that executes its runs."""
    here = init(tmp_path_factory.mktemp("cancelled") / "copy", "cancelled") / "schedules"
    prefect, environment = (sys.executable, "-m", "prefect"), {**os.environ, "PREFECT_API_URL": server.url}
    environment |= {"PYTHONPATH": os.pathsep.join(sys.path), "PREFECT_RUNNER_POLL_FREQUENCY": "1"}
    with get_client(sync_client=True) as client:
        client.create_work_pool(WorkPoolCreate(name="releases", type="process"), overwrite=True)
        subprocess.run([*prefect, "--no-prompt", "deploy", "--all"], cwd=here, env=environment, check=True)
        found = client.read_deployment_by_name("release/census-income-yearly").id
    worker = subprocess.Popen([*prefect, "worker", "start", "--pool", "releases"], cwd=here, env=environment)
    yield found
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
    asked = {"working_copy": str(workshop.root), "policy": str(workshop.policy), "as_of": SLOT}
    with get_client(sync_client=True) as client:
        run = client.create_flow_run_from_deployment(deployment, parameters=asked, job_variables={"env": held})
        until((tmp_path / "held").exists, 120)
        client.set_flow_run_state(run.id, Cancelling())
        until(lambda: client.read_flow_run(run.id).state_name not in ("Running", "Cancelling"), 120)
        assert client.read_flow_run(run.id).state_name == "Cancelled"
    ends_well(workshop, monkeypatch)
