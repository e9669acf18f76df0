"""Flows send no statistics, and their memory never reaches the disk."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from crowdgate.candidate import AuditQuestion
from crowdgate.errors import EnvironmentFault
from crowdgate.releases import release as job
from crowdgate_flows import audit as audit_flow
from crowdgate_flows import release as release_flow
from crowdgate_flows import tasks
from tests.flows.server import Server
from tests.workshop import Workshop

TOLD = """
import json
import crowdgate_flows.release
from prefect.analytics import is_telemetry_enabled
from prefect.settings import get_current_settings
print(json.dumps([is_telemetry_enabled(), get_current_settings().server.analytics_enabled]))
"""
TRACKED = {"DO_NOT_TRACK": "0", "PREFECT_SERVER_ANALYTICS_ENABLED": "true"}


@pytest.mark.thorough
def test_prefect_sends_no_statistics_whatever_the_environment_says() -> None:
    """Prefect sends none on a known build server anyway, so the variables of build servers are removed from the
    environment.
    """
    from prefect._internal.analytics.ci_detection import CI_ENV_VARS

    kept = {name: value for name, value in os.environ.items() if name not in CI_ENV_VARS}
    environment = {**kept, **TRACKED, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run([sys.executable, "-c", TOLD], env=environment, check=True, capture_output=True, text=True)
    assert json.loads(ended.stdout) == [False, False]


@pytest.mark.thorough
def test_a_flow_can_not_be_dumped_before_its_first_step(
    workshop: Workshop, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = []

    def step(*_: object) -> Any:
        steps.append("step")
        raise EnvironmentFault("no further")

    for flow in (release_flow, audit_flow):
        monkeypatch.setattr(flow, "disable_core_dumps", lambda: steps.append("dump nothing"))
    monkeypatch.setattr(job, "prepare", step)
    monkeypatch.setattr(tasks, "audit", step)
    assert server.url
    release_flow.release(str(workshop.policy), return_state=True)
    audit_flow.audit(str(workshop.policy), question=AuditQuestion.SINGLING_OUT, return_state=True)
    assert steps == ["dump nothing", "step"] * 2
