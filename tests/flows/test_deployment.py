"""The deployments that flows/prefect.yaml describes are ones that Prefect takes."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.flows import load_flow_from_entrypoint

from crowdgate_flows import release as flow_file
from tests.flows.server import Server

ROOT = Path(__file__).parents[2]
FILE = ROOT / "flows" / "prefect.yaml"
DEPLOYMENTS: list[dict[str, Any]] = yaml.safe_load(FILE.read_text(encoding="utf-8"))["deployments"]


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda deployment: deployment["name"])
def test_a_deployment_names_a_flow_and_parameters_that_it_takes(deployment: dict[str, Any]) -> None:
    flow = load_flow_from_entrypoint(deployment["entrypoint"], use_placeholder_flow=False)
    assert flow is flow_file.release
    flow.validate_parameters(deployment["parameters"])
    assert (ROOT / deployment["parameters"]["policy"]).is_file()


def test_prefect_deploys_them_with_their_schedules(server: Server) -> None:
    with get_client(sync_client=True) as client:
        client.create_work_pool(WorkPoolCreate(name="releases", type="process"))
    command = [sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all", "--prefect-file", str(FILE)]
    environment = {**os.environ, "PREFECT_API_URL": server.url}
    ended = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    with get_client(sync_client=True) as client:
        for expected in DEPLOYMENTS:
            found = client.read_deployment_by_name(f"release/{expected['name']}")
            assert found.entrypoint == expected["entrypoint"]
            assert found.parameters == expected["parameters"]
            assert found.global_concurrency_limit is not None
            assert found.global_concurrency_limit.limit == 1
            assert [schedule.schedule.cron for schedule in found.schedules] == [
                schedule["cron"] for schedule in expected["schedules"]
            ]
            (step,) = found.pull_steps
            assert step == {"prefect.deployments.steps.set_working_directory": {"directory": str(ROOT)}}
            assert found.enforce_parameter_schema
            as_of = found.parameter_openapi_schema["properties"]["as_of"]
            assert "pattern" in str(as_of)
