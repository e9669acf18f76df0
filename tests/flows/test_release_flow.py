"""The flow `release`: the release of the job, with end states named by its outcome."""

import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import cloudpickle
import pytest
from prefect import Task
from prefect.cache_policies import NO_CACHE
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State
from prefect.exceptions import ParameterTypeError
from prefect.flow_engine import run_flow
from prefect.states import Scheduled
from prefect.utilities.collections import visit_collection

from crowdgate.cli import release as command
from crowdgate.errors import ConfigurationError, EnvironmentFault
from crowdgate.kind import randomness
from crowdgate.kind.run import Request, Result
from crowdgate.planning.plan import plan_policy
from crowdgate.publish.file_names import STAGING
from crowdgate.releases import release as job
from crowdgate.sampling import SecretKey
from crowdgate_flows import policy_run, tasks
from crowdgate_flows import release as flow_file
from crowdgate_flows.tasks import SealedValue
from tests.clusters import cluster
from tests.flows.server import Server
from tests.releases.test_partitions import small_parts, ten_parts
from tests.workshop import Workshop, crowdgate

SLOT = "2030-01-01"
CHARGED = "    - {measure: singletons, at_most: 500, charge: {epsilon: 0.5}}\n"
TASKS = [value for value in vars(tasks).values() if isinstance(value, Task)]


def fails(*_: object) -> object:
    raise RuntimeError("a reason that nobody may see")


def _withheld(workshop: Workshop, _: pytest.MonkeyPatch) -> None:
    workshop.edit(workshop.policy, "released_rows, at_least: 0", "released_rows, at_least: 900")


def _spent(workshop: Workshop, _: pytest.MonkeyPatch) -> None:
    workshop.edit(workshop.budget, "epsilon: 6", "epsilon: 1")


def _wrong(workshop: Workshop, _: pytest.MonkeyPatch) -> None:
    workshop.edit(workshop.policy, "released_rows", "released_row")


def _missing(workshop: Workshop, _: pytest.MonkeyPatch) -> None:
    workshop.data.unlink()


def _crashing(_: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(randomness, "bernoulli_subsampler", fails)


def _nothing(_: Workshop, __: pytest.MonkeyPatch) -> None:
    pass


ENDS: dict[str, tuple[Callable[[Workshop, pytest.MonkeyPatch], None], int, tuple[str, str]]] = {
    "published": (_nothing, 0, ("COMPLETED", "Completed")),
    "withheld": (_withheld, 3, ("CANCELLED", "Withheld")),
    "budget spent": (_spent, 5, ("FAILED", "Refused")),
    "wrong policy": (_wrong, 2, ("FAILED", "Refused")),
    "file fault": (_missing, 4, ("FAILED", "Refused")),
    "crashed": (_crashing, 1, ("FAILED", "Crashed")),
}


ASKED = [*((end, "--prefect") for end in ENDS), ("published", "PREFECT_API_URL"), ("file fault", "PREFECT_API_URL")]


@pytest.mark.thorough
@pytest.mark.parametrize(("end", "asked"), ASKED)
def test_a_release_ends_under_prefect_as_it_does_without(
    workshop: Workshop,
    again: Callable[[], None],
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    end: str,
    asked: str,
) -> None:
    prepare, exit_code, state = ENDS[end]
    prepare(workshop, monkeypatch)
    workshop.edit(workshop.policy, CHARGED, "")
    for place in (tasks, command):
        monkeypatch.setattr(place, "draw_key", lambda: SecretKey(bytes(32), injected=False))
    again()
    arguments = ("release", workshop.policy, "--as-of", SLOT, "--json")
    assert crowdgate(*arguments) == exit_code
    inline, files = json.loads(capfd.readouterr().out), _published(workshop)
    again()
    if asked == "PREFECT_API_URL":
        monkeypatch.setenv("PREFECT_API_URL", server.url)
    assert crowdgate(*arguments, *(["--prefect"] if asked == "--prefect" else [])) == exit_code
    said = capfd.readouterr()
    assert json.loads(said.out) == inline
    assert _published(workshop) == files
    assert bool(files) == (end == "published")

    seen = server.last_run()
    assert (seen.state["type"], seen.state["name"]) == state
    if end == "withheld":
        for words in (
            "gate ",
            "stays charged. ",
            "Privacy cost: epsilon 2, ",
            "Budget left: ",
            "Next: change the release",
        ):
            assert words in seen.state["message"]
    assert list(seen.artifacts) == (["release-clinic"] if end in ("published", "withheld") else [])
    for text in seen.artifacts.values():
        assert all(found["gate"] in text and found["reason"] in text for found in inline["verdicts"])
        assert "suppressed_share" not in text
    assert set(json.loads(seen.parameters)) == {
        "policy",
        "as_of",
        "input_path",
        "to",
        "ledger",
        "working_copy",
        "policy_digest",
        "anchors",
        "anyway",
        "wait",
        "workers",
        "cluster",
    }


def _published(workshop: Workshop) -> dict[str, bytes]:
    return _unplaced(workshop.release_dir(SLOT))


def _unplaced(folder: Path) -> dict[str, bytes]:
    """Return the files of a release without the digest of its line in the ledger, which depends on time and run."""
    files = {path.name: path.read_bytes() for path in folder.glob("*")}
    if "manifest.json" in files:
        place = json.loads(files["manifest.json"])["ledger"]["digest"].encode()
        files["manifest.json"] = files["manifest.json"].replace(place, b"")
    return files


@pytest.mark.thorough
def test_the_flow_stages_the_same_bytes_as_the_job_and_on_a_cluster_too(
    workshop: Workshop, again: Callable[[], None], server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cluster that is not used is a warning, which is an error here."""
    del server
    workshop.edit(workshop.policy, CHARGED, "")
    again()
    small_parts(monkeypatch)
    (data := tmp_path / "data").mkdir()
    with cluster(1) as made:
        _same_bytes(workshop, again, Request(workshop.policy, SLOT, input=ten_parts(data)), made.address)


def _same_bytes(workshop: Workshop, again: Callable[[], None], request: Request, address: str) -> None:
    staged = []
    runs: list[Callable[[], object]] = [
        lambda: job.release(request, _injected),
        lambda: flow_file.run_release(request),
        lambda: flow_file.run_release(replace(request, cluster=address)),
    ]
    for run in runs:
        again()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tasks, "draw_key", _injected)
            with pytest.raises(EnvironmentFault, match="injected"):
                run()
        (folder,) = (workshop.root / "releases" / STAGING).glob(f"*~clinic~1~{SLOT}")
        staged.append(_unplaced(folder))
        assert not workshop.release_dir(SLOT).exists()
    assert staged[0] == staged[1] == staged[2]
    files = {"README.md", "counts.csv", "data.csv", "data.parquet", "dictionary.csv", "manifest.json"}
    assert set(staged[0]) == files


def _injected() -> SecretKey:
    return SecretKey(bytes(32), injected=True)


def test_the_message_of_a_published_release_says_what_it_cost_and_what_is_left(workshop: Workshop) -> None:
    ended = "clinic/1/2030-01-01", None, plan_policy(workshop.policy).guarantee, ()
    left, low = "Budget left: epsilon 2.", "Budget low: it pays for 1 further such release."
    said = policy_run._published_message(Result("published", *ended, left=left))
    assert said == f"clinic/1/2030-01-01 was published. Privacy cost: epsilon 2, delta 0.01. {left}"
    assert policy_run._published_message(Result("published", *ended, left=left, low=low)) == f"{said} {low}"


@pytest.mark.thorough
def test_a_second_run_reports_the_first_one_and_leaves_its_page_alone(workshop: Workshop, server: Server) -> None:
    request = Request(workshop.policy, SLOT)
    first = flow_file.run_release(request)
    assert list(server.last_run().artifacts) == ["release-clinic"]
    workshop.data.unlink()
    assert flow_file.run_release(request).path == first.path
    assert server.last_run().artifacts == {}
    assert server.last_run().state["name"] == "Completed"


@pytest.mark.thorough
def test_a_release_that_fails_after_its_draw_does_not_draw_again(
    workshop: Workshop, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: list[SecretKey] = []

    def drawn() -> SecretKey:
        keys.append(SecretKey(bytes(32), injected=False))
        return keys[-1]

    monkeypatch.setattr(tasks, "draw_key", drawn)
    monkeypatch.setattr(job, "count_table", fails)
    assert crowdgate("release", workshop.policy, "--prefect") == 1
    assert len(keys) == 1
    assert server.last_run().state["name"] == "Crashed"


@pytest.mark.parametrize("step", TASKS, ids=lambda step: step.name)
def test_no_task_is_persisted_cached_printed_or_tried_again(step: Task[..., object]) -> None:
    assert (step.persist_result, step.cache_policy, step.retries, step.log_prints) == (False, NO_CACHE, 0, False)
    assert (step.retry_condition_fn, step.cache_key_fn, step.result_storage_key) == (None, None, None)


def test_every_step_is_a_task_of_its_own_and_the_flow_keeps_nothing() -> None:
    names = ["prepare", "reserve", "protect", "publish", "play", "lint", "follow_ledger"]
    assert [step.name for step in TASKS] == names
    assert len({step.task_key for step in TASKS}) == len(names)
    flow = flow_file.release
    assert (flow.persist_result, flow.retries, flow.log_prints, flow.should_validate_parameters) == (
        False,
        0,
        False,
        True,
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"policy": ""},
        {"policy": "x" * 4097},
        {"policy": "p.yaml", "as_of": "yesterday"},
        {"policy": "p.yaml", "as_of": "2030-01-01T06:00"},
        {"policy": "p.yaml", "as_of": ""},
        {"policy": "p.yaml", "to": ""},
        {"policy": "p.yaml", "input_path": "x" * 4097},
        {"policy": "p.yaml", "ledger": ""},
        {"policy": ["p.yaml"]},
    ],
    ids=str,
)
def test_parameters_are_names_paths_and_a_slot(wrong: dict[str, object]) -> None:
    with pytest.raises(ParameterTypeError):
        flow_file.release.validate_parameters(wrong)


@pytest.mark.thorough
def test_a_slot_that_is_no_day_is_refused(server: Server) -> None:
    flow_file.release("p.yaml", as_of="2030-02-31", return_state=True)
    seen = server.last_run()
    assert (seen.state["name"], "YYYY-MM-DD" in seen.state["message"]) == ("Refused", True)


@pytest.mark.thorough
@pytest.mark.parametrize(("as_of", "slot"), [(None, "2024-02-29"), ("2029-06-01T0600Z", "2029-06-01T0600Z")])
def test_a_late_run_keeps_the_day_it_was_scheduled_for_unless_a_slot_is_given(
    workshop: Workshop, server: Server, as_of: str | None, slot: str
) -> None:
    scheduled: State[None] = Scheduled(scheduled_time=datetime(2024, 2, 29, 23, 30, tzinfo=UTC))
    parameters = {"policy": str(workshop.policy), **({} if as_of is None else {"as_of": as_of})}
    with get_client(sync_client=True) as client:
        run = client.create_flow_run(flow_file.release, parameters=parameters, state=scheduled)
    run_flow(flow_file.release, flow_run=run, parameters=parameters, return_type="state")
    assert workshop.release_dir(slot).is_dir()
    assert server.last_run().name == f"clinic {slot}"


def test_a_password_in_the_url_of_a_ledger_becomes_no_parameter(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prefect's server stores parameters of a run before the flow can refuse them."""
    stored: list[object] = []
    monkeypatch.setattr(flow_file, "release", lambda **given: stored.append(given))
    request = Request(workshop.policy, "2030-01-01", None, None, "postgresql://u:hunter2@host/db")
    with pytest.raises(ConfigurationError, match="not the URL of a ledger"):
        flow_file.run_release(request)
    assert not stored


def test_a_server_out_of_reach_is_a_fault_of_the_machine(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise ConnectionError("http://somewhere")

    monkeypatch.setattr(flow_file, "release", unreachable)
    assert crowdgate("release", workshop.policy, "--prefect", "--json") == 1
    assert json.loads(capfd.readouterr().out)["code"] == "environment"


def test_an_end_stands_even_if_the_server_is_lost_afterwards(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = Request(workshop.policy, SLOT)
    result = job.release(request, lambda: SecretKey(bytes(32), injected=False))

    def lost(**_: object) -> None:
        ends = flow_file._ENDS.get()
        assert ends is not None
        ends.append(result)
        raise ConnectionError

    monkeypatch.setattr(flow_file, "release", lost)
    assert flow_file.run_release(request) == result


def test_a_sealed_value_shows_nothing_and_is_not_stored() -> None:
    secret = {"age": 1}
    sealed = SealedValue(secret)
    assert (repr(sealed), str(sealed)) == ("Sealed(...)", "Sealed(...)")
    for dump in (pickle.dumps, cloudpickle.dumps):
        with pytest.raises(TypeError, match="not stored"):
            dump(sealed)
    seen: list[object] = []
    visit_collection({"value": [sealed]}, visit_fn=seen.append)
    assert not any(found is secret for found in seen)


def test_the_command_does_not_import_prefect_before_it_is_asked_to() -> None:
    code = "import sys, crowdgate_flows.command; sys.exit('prefect' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


@pytest.mark.thorough
def test_a_dry_run_is_rehearsed_and_never_completed(workshop: Workshop, server: Server) -> None:
    workshop.edit(workshop.policy, "spec:\n", "spec:\n  enforcement: dry-run\n")
    workshop.data.unlink()
    flow_file.release(policy=str(workshop.policy), as_of=SLOT, return_state=True)
    seen = server.last_run()
    assert (seen.state["type"], seen.state["name"]) == ("CANCELLED", "DryRun")
    assert "nothing is released" in seen.state["message"]
    assert seen.artifacts == {}
    assert not (workshop.root / "releases").exists()
    assert not (workshop.root / "ledger" / "private").exists()
