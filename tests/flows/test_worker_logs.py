"""Logs of a real worker for runs of every end; by hand (`soak`): some 60 CPU seconds.

An operator reads at most twelve lines of a run, sees the end in the list of runs, and no traceback of a normal end.
Values of the table are nowhere: the server's database has the events, logs, states and artifacts, the working copy the
event log and the metrics.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import DeploymentUpdate

from tests.flows.server import Server, until
from tests.flows.test_bound_deployments import parameters
from tests.flows.test_silence import COUNT, COUNTED, marked_workshop
from tests.workshop import MARK, Workshop

SLOT = "2030-01-01"
MOST_LINES = 12
CHANNELS = 'event_log = "events.jsonl"\nevent_openlineage = "lineage.jsonl"\nmetrics_file = "crowdgate.prom"\n'
CRASH = f"""
import os
if "CRASHED" in os.environ:
    from crowdgate.kind import randomness
    def fails(*_):
        raise RuntimeError("{MARK} {COUNT}")
    randomness.bernoulli_subsampler = fails
"""
"""The source of `sitecustomize`. The mark is here, as the server stores the variables of a run."""
ENDS = {"published": "Completed", "withheld": "Withheld", "held": "Held", "refused": "Refused", "crashed": "Crashed"}
NAMED = {"withheld": "gate released_rows", "held": "released_classes at least 400 can't pass"}
"""The gate, in words of the state's message."""


@dataclass(frozen=True)
class EndedRun:
    """A run of a worker, with the messages of its log at the level that operators see."""

    end: str
    name: str
    message: str
    lines: list[str]
    workshop: Workshop


def held_workshop(root: Path) -> Workshop:
    workshop = marked_workshop(root, "held")
    workshop.edit(workshop.policy, '  spend: {"chance_at_least": 0}\n', "")
    workshop.edit(workshop.policy, "released_rows, at_least: 0", "released_classes, at_least: 400")
    return workshop


def ended_runs(server: Server, deployed: UUID, folder: Path) -> Iterator[EndedRun]:
    """Start a run for each end and let one worker execute them, one after another."""
    (folder / "sitecustomize.py").write_text(CRASH)
    for end in ENDS:
        make = held_workshop if end == "held" else lambda root, end=end: marked_workshop(root, end)
        workshop = make(folder / end)
        with (workshop.root / "crowdgate.toml").open("a") as file:
            file.write(CHANNELS)
        environment = {"PYTHONPATH": os.pathsep.join([str(folder), *sys.path]), "PREFECT_LOGGING_LEVEL": "INFO"}
        environment |= {"CRASHED": "1"} if end == "crashed" else {}
        own = parameters(workshop)
        with get_client(sync_client=True) as client:
            client.update_deployment(deployed, DeploymentUpdate(parameters=own))
            stated, variables = {**own, "as_of": SLOT}, {"env": environment}
            run = client.create_flow_run_from_deployment(deployed, parameters=stated, job_variables=variables)
            work(server, ["worker", "start", "--pool", "releases", "--run-once"])
            ended = client.read_flow_run(run.id).state
        assert ended is not None
        lines = logged(server, run.id)
        yield EndedRun(end, str(ended.name), str(ended.message), lines, workshop)


def logged(server: Server, run: UUID) -> list[str]:
    """Return the messages of a run in the order of their times, at the level that operators see."""
    sql = "SELECT message FROM log WHERE flow_run_id IN (?, ?) AND level >= 20 ORDER BY timestamp"
    until(lambda: server.query(sql, run.hex, str(run)), 60)
    return [str(each["message"]) for each in server.query(sql, run.hex, str(run))]


def work(server: Server, words: list[str]) -> str:
    """Run Prefect's command for the server and return what it printed."""
    environment = {**server.environment(), "PREFECT_LOGGING_LEVEL": "INFO", "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, "-m", "prefect", *words], env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


@pytest.mark.soak
def test_an_operator_reads_few_lines_and_nothing_of_the_table(server: Server, deployed: UUID, tmp_path: Path) -> None:
    runs = list(ended_runs(server, deployed, tmp_path))
    assert {each.end: each.name for each in runs} == ENDS
    for each in runs:
        assert 0 < len(each.lines) <= MOST_LINES, each.lines
        assert each.end == "crashed" or "Traceback" not in "".join(each.lines)
        assert NAMED.get(each.end, "") in each.message
        listed = work(server, ["flow-run", "ls", "--state", each.name])  # without it the list has types of states
        assert listed.count("release") == 1
    texts = [*server.texts(), *(line for each in runs for line in each.lines)]
    for each in runs:
        texts += [(each.workshop.root / name).read_text() for name in ("events.jsonl", "crowdgate.prom")]
        assert re.search('"kind": "(published|withheld|held|refused|crashed)"', texts[-2])
    texts += [path.read_text() for each in runs for path in each.workshop.root.glob("lineage.jsonl")]
    assert [text for text in texts if MARK in text or COUNTED.search(text)] == []
