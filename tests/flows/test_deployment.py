"""Deployments of a working copy: Prefect accepts them and a worker runs them, whatever else is in the folder."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from prefect.client.orchestration import get_client
from prefect.client.schemas.schedules import CronSchedule
from prefect.flows import Flow, load_flow_from_entrypoint

from crowdgate.planning.plan import bundle_of
from crowdgate.releases.working_copy import DEMO_POLICY, bundled, init
from crowdgate_flows import audit as audit_flow
from crowdgate_flows import release as flow_file
from tests.flows.server import Server
from tests.workshop import Workshop, crowdgate

README = (bundled("schedules").parent / "README.md").read_text(encoding="utf-8")
RELEASE, DEPLOY = (block.strip().splitlines() for block in re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL))
"""The commands of flows/README.md."""
FILE = bundled("schedules") / "prefect.yaml"
DEPLOYMENTS: list[dict[str, Any]] = yaml.safe_load(FILE.read_text(encoding="utf-8"))["deployments"]
OTHERS = ("flows/__init__.py", "pipeline/__init__.py", "tasks/__init__.py", "crowdgate.py", "crowdgate_flows.py")
"""Modules of a data engineer's own: a working copy inside another repository is full of them."""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = init(tmp_path_factory.mktemp("deployed") / "copy", "deployed")
    for name in OTHERS:
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("raise ImportError('this module is not the one that was meant')\n")
    return root


def run(folder: Path, *words: object, **more: str) -> str:
    ended = subprocess.run(
        list(map(str, words)), cwd=folder, env={**os.environ, **more}, check=False, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda deployment: deployment["name"])
def test_a_deployment_names_a_flow_and_parameters_that_it_takes(deployment: dict[str, Any], copy: Path) -> None:
    flow: Flow[..., Any] = load_flow_from_entrypoint(deployment["entrypoint"], use_placeholder_flow=False)
    assert flow in (flow_file.release, audit_flow.audit)
    flow.validate_parameters(deployment["parameters"])
    home = copy / "schedules" / deployment["parameters"]["working_copy"]
    assert (home / deployment["parameters"]["policy"]).is_file()


COMMANDS = """
import sys
from crowdgate_flows.command import main
for words in sys.argv[1].split(";"):
    sys.argv = ["crowdgate", *words.split()]
    try:
        main()
    except SystemExit as end:
        assert not end.code, (words, end.code)
"""


@pytest.mark.thorough
def test_every_command_works_in_a_working_copy_full_of_other_modules(copy: Path, tmp_path: Path) -> None:
    """Commands run as by the console script: its own folder is on the path, the current one is not."""
    script = tmp_path / "crowdgate"
    script.write_text(COMMANDS)
    release = "releases/census-income/2/2030-01-01"
    words = ("check POLICY", "plan POLICY", "release POLICY --as-of 2030-01-01", f"verify {release}", "ledger verify")
    run(copy, sys.executable, script, ";".join((*words, "ledger show")).replace("POLICY", DEMO_POLICY))
    assert (copy / release / "manifest.json").is_file()


def said(line: str) -> list[str]:
    """Return the output of a README command, with the interpreter of the tests."""
    prefect, *words = line.split()
    assert prefect == "prefect"
    return [sys.executable, "-m", "prefect", "--no-prompt", *words]


@pytest.mark.thorough
def test_a_release_of_the_readme_is_a_flow_of_the_server(
    server: Server, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The release uses a small table under the bundled policy's name."""
    (line,) = RELEASE
    setting, program, *words = line.split()
    assert (program, words) == ("crowdgate", ["release", DEMO_POLICY])
    workshop.policy.rename(workshop.root / DEMO_POLICY)
    monkeypatch.setenv(setting.partition("=")[0], server.url)
    monkeypatch.chdir(workshop.root)
    before = server.query("SELECT id FROM flow_run")
    assert crowdgate(*words) == 0
    assert len(server.query("SELECT id FROM flow_run")) == len(before) + 1
    assert server.last_run().state["name"] == "Completed"
    assert list(workshop.root.glob("releases/clinic/1/*/manifest.json"))


def bound(parameters: dict[str, Any], copy: Path) -> dict[str, Any]:
    """The parameters of a bundled deployment in a working copy, which has the digest of its policy's files."""
    digest = bundle_of(copy / parameters["policy"]).digest
    return {name: digest if name == "policy_digest" else value for name, value in parameters.items()}


@pytest.mark.thorough
def test_prefect_deploys_them_and_a_worker_runs_them(server: Server, copy: Path) -> None:
    """Uses the README's commands; the worker ends after one run."""
    folder, pool, deploy, worker = DEPLOY
    here = copy / folder.removeprefix("cd ")
    run(here, *said(pool), PREFECT_API_URL=server.url)
    run(here, *said(deploy), PREFECT_API_URL=server.url)
    with get_client(sync_client=True) as client:
        for expected in DEPLOYMENTS:
            name = expected["entrypoint"].rpartition(".")[2]
            found = client.read_deployment_by_name(f"{name}/{expected['name']}")
            assert (found.entrypoint, found.parameters) == (expected["entrypoint"], bound(expected["parameters"], copy))
            assert found.global_concurrency_limit is not None
            assert found.global_concurrency_limit.limit == 1
            crons = [each.schedule.cron for each in found.schedules if isinstance(each.schedule, CronSchedule)]
            assert crons == [schedule["cron"] for schedule in expected["schedules"]]
            assert found.pull_steps == [{"prefect.deployments.steps.set_working_directory": {"directory": str(here)}}]
            assert found.enforce_parameter_schema
            assert found.parameter_openapi_schema is not None
            assert "maxLength" in str(found.parameter_openapi_schema["properties"]["policy"])
            assert name == "audit" or "pattern" in str(found.parameter_openapi_schema["properties"]["as_of"])
    with get_client(sync_client=True) as client:
        found = client.read_deployment_by_name(f"release/{DEPLOYMENTS[0]['name']}")
        client.create_flow_run_from_deployment(found.id, parameters={**found.parameters, "as_of": "2030-02-01"})
    run(here, *said(worker), "--run-once", PREFECT_API_URL=server.url)
    assert server.last_run().state["name"] == "Completed"
    assert (copy / "releases/census-income/2/2030-02-01/manifest.json").is_file()
