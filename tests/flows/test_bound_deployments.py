"""Deployments are bound to their policy and its files: whoever may start a run can't spend another policy's budget."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from prefect.client.orchestration import get_client
from prefect.flow_engine import run_flow

from crowdgate.errors import ConfigurationError, Crashed, EnvironmentFault
from crowdgate.planning.budget_left import ledger_of
from crowdgate.planning.plan import bundle_of, plan_policy
from crowdgate.releases.working_copy import bundled
from crowdgate_flows import audit as audit_flow
from crowdgate_flows import deployments, tasks
from crowdgate_flows import release as flow_file
from crowdgate_flows.deployments import Binding, refuse_locked
from tests.flows.server import Server
from tests.workshop import Workshop, crowdgate

SLOT = "2030-01-01"
ID = "5c5c5c5c-0000-4000-8000-000000000000"
PARAMETERS = ("policy", "working_copy", "policy_digest", "to", "input_path", "ledger", "as_of")
Own = dict[str, Any]


CLUSTER = "tcp://127.0.0.1:8786"


@pytest.fixture
def own(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Own:
    """The parameters of the deployment of the workshop's policy. The current run is one of it."""
    stated = parameters(workshop)
    monkeypatch.setenv("PREFECT__RUNTIME__DEPLOYMENT__ID", ID)
    monkeypatch.setattr(deployments, "_own_parameters", lambda: stated)
    return stated


def parameters(workshop: Workshop) -> Own:
    digest = bundle_of(workshop.policy).digest
    return {"policy": "policies/clinic.yaml", "working_copy": str(workshop.root), "policy_digest": digest}


def binding(stated: Own) -> Binding:
    return Binding(stated["policy"], stated.get("working_copy"), stated.get("policy_digest"))


def refused(run: Binding, **given: str | None) -> list[str | None]:
    """The names of the parameters for which a run is refused."""
    try:
        refuse_locked(run, charged=True, **given)
    except ConfigurationError as error:
        return [problem.where for problem in error.problems]
    return []


def second_policy(workshop: Workshop, name: str = "other") -> Path:
    """Another policy of the same working copy and the same budget."""
    path = workshop.policy.with_name(f"{name}.yaml")
    path.write_text(workshop.policy.read_text().replace("name: clinic", f"name: {name}"))
    return path


@pytest.mark.thorough
@pytest.mark.parametrize("parameter", ["to", "input", "ledger"])
def test_each_setting_is_opened_by_its_own_name_and_a_person_may_change_all(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, parameter: str
) -> None:
    given = dict.fromkeys(("to", "input", "ledger"), "elsewhere")
    assert refused(Binding(str(workshop.policy)), **given) == []
    monkeypatch.setenv("PREFECT__RUNTIME__DEPLOYMENT__ID", ID)
    monkeypatch.setattr(deployments, "_own_parameters", lambda: parameters(workshop))
    assert refused(binding(parameters(workshop)), **given) == [*given]
    assert refused(binding(parameters(workshop)), **dict.fromkeys(given)) == []
    workshop.edit(workshop.policy, "publish: {", f"publish: {{deployments_may_set: [{parameter}], ")
    assert refused(binding(parameters(workshop)), **{parameter: "elsewhere"}) == []
    assert refused(binding(parameters(workshop)), **given) == [name for name in given if name != parameter]


def test_a_run_with_the_parameters_of_its_deployment_is_allowed(own: Own) -> None:
    assert refused(binding(own)) == []


def test_other_policies_other_copies_and_other_digests_are_refused(own: Own, workshop: Workshop) -> None:
    other = second_policy(workshop)
    for name, value in (
        ("policy", "policies/other.yaml"),
        ("policy", "policies/../policies/clinic.yaml"),
        ("working_copy", str(workshop.root / "policies" / "..")),
        ("policy_digest", "0" * 64),
        ("policy_digest", bundle_of(other).digest),
        ("policy_digest", None),
    ):
        assert refused(binding({**own, name: value})) == [name]


def test_a_changed_file_of_the_policy_needs_a_new_deployment(own: Own, workshop: Workshop) -> None:
    workshop.edit(workshop.contract, "value: 1000}", "value: 999}")
    with pytest.raises(ConfigurationError) as error:
        refuse_locked(binding(own))
    assert bundle_of(workshop.policy).digest in str(error.value)


def test_a_run_counts_on_the_cluster_of_its_deployment_or_on_none(own: Own) -> None:
    assert refused(replace(binding(own), cluster=CLUSTER)) == ["cluster"]
    own["cluster"] = CLUSTER
    for cluster in (None, CLUSTER):
        refuse_locked(replace(binding(own), cluster=cluster))
    assert refused(replace(binding(own), cluster=CLUSTER.replace("127", "126"))) == ["cluster"]


@pytest.mark.parametrize("several", [False, True])
def test_a_run_may_add_anchors_and_leave_none_out(own: Own, several: bool) -> None:
    run = binding(own)
    if several:
        own["policies"] = [{name: own.pop(name) for name in ("policy", "policy_digest")}]
    own["anchors"] = ["3:" + "a" * 64]
    more = "9:" + "b" * 64
    refuse_locked(replace(run, anchors=(*own["anchors"], more)))
    for given in ((), (more,)):
        with pytest.raises(ConfigurationError, match="anchors: left out"):
            refuse_locked(replace(run, anchors=given))


@pytest.mark.parametrize("missing", ["policy", "policy_digest"])
def test_a_deployment_that_does_not_bind_itself_is_refused(own: Own, missing: str) -> None:
    run = binding(own if missing == "policy" else {**own, "policy_digest": None})
    del own[missing]
    assert refused(run) == [missing]


def test_another_policy_is_charged_only_if_both_policies_open_it(own: Own, workshop: Workshop) -> None:
    other = second_policy(workshop)
    opening = ("publish: {", "publish: {deployments_may_set: [policy], ")
    run = binding({**own, "policy": "policies/other.yaml"})
    for paths, expected in (([workshop.policy], ["policy"]), ([workshop.policy, other], [])):
        for path in paths:
            if opening[1] not in path.read_text():
                workshop.edit(path, *opening)
        assert refused(run) == expected


def test_a_server_that_does_not_answer_blocks(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(**_: object) -> None:
        raise ConnectionError("marked")

    monkeypatch.setenv("PREFECT__RUNTIME__DEPLOYMENT__ID", ID)
    monkeypatch.setattr(deployments, "get_client", gone)
    with pytest.raises(EnvironmentFault, match="ConnectionError") as error:
        refuse_locked(binding(parameters(workshop)))
    assert "marked" not in str(error.value)


def changes(workshop: Workshop, other: Path) -> Iterator[Own]:
    """Yield changes of a run's parameters that the policy does not open; the first is none."""
    yield {}
    yield {"policy": "policies/other.yaml"}
    yield {"policy": "policies/other.yaml", "policy_digest": bundle_of(other).digest}
    yield {"policy": str(workshop.policy)}
    yield {"policy": "policies/other.yaml", "working_copy": ""}
    yield {"working_copy": str(workshop.root.parent)}
    yield {"working_copy": None}
    yield {"policy_digest": "0" * 64}
    yield {"to": "elsewhere"}
    yield {"ledger": "sqlite:///elsewhere.db"}


@pytest.mark.thorough
def test_200_random_runs_reach_no_other_policy(own: Own, workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """The draws are seeded; a run that gets past the locks is seen where the release would begin."""
    seen = Reached()
    monkeypatch.setattr(tasks, "prepare", seen)
    drawn, found = Random(41), [*changes(workshop, second_policy(workshop))]
    for _ in range(200):
        run = {**own, "as_of": f"20{drawn.randint(30, 99)}-01-{drawn.randint(1, 28):02}"}
        for change in drawn.sample(found, drawn.randint(0, 2)):
            run |= change
        before = len(seen.policies)
        ended = flow_file.release.fn(**run)
        changed = any(run.get(name) != own.get(name) for name in PARAMETERS if name != "as_of")
        assert ended.name == ("Refused" if changed else "Crashed"), run
        assert len(seen.policies) == before + (not changed)
    assert {*seen.policies} == {workshop.policy}
    assert 8 < len(seen.policies) < 100


@dataclass
class Reached:
    """The first step of a release: it notes the policy, and ends the run."""

    policies: list[Path] = field(default_factory=list)

    def __call__(self, request: tasks.SealedValue[Any]) -> Any:
        self.policies.append(request.value.policy)
        raise Crashed("noted")


def test_an_audit_is_bound_to_its_policy_without_a_digest(
    own: Own, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = []

    def play(asked: tasks.SealedValue[Any], *_: object) -> Any:
        played.append(asked.value.policy)
        raise EnvironmentFault("noted")

    monkeypatch.setattr(tasks, "play", play)
    del own["policy_digest"]
    second_policy(workshop)
    for policy in ("policies/other.yaml", own["policy"]):
        audit_flow.audit.fn(policy, working_copy=own["working_copy"])
    assert played == [workshop.policy]


def test_schedule_prints_a_deployment_that_is_bound(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crowdgate("schedule", workshop.policy, "--cron", "0 6 1 * *") == 0
    said = capsys.readouterr().out
    (entry,) = yaml.safe_load(said)
    added = yaml.safe_load((bundled("schedules") / "prefect.yaml").read_text(encoding="utf-8") + said)
    assert added["deployments"][-1] == entry  # as flows/README.md says, at the end of the bundled schedules
    digest = bundle_of(workshop.policy).digest
    assert entry["parameters"] == {"working_copy": "..", "policy": "policies/clinic.yaml", "policy_digest": digest}
    assert entry["schedules"] == [{"cron": "0 6 1 * *", "timezone": "UTC"}]
    (workshop.root / "schedules").mkdir()
    monkeypatch.chdir(workshop.root / "schedules")
    flow_file.release.validate_parameters(entry["parameters"])
    monkeypatch.setenv("PREFECT__RUNTIME__DEPLOYMENT__ID", ID)
    monkeypatch.setattr(deployments, "_own_parameters", lambda: entry["parameters"])
    assert refused(binding(entry["parameters"])) == []


@pytest.mark.thorough
def test_the_server_s_deployment_decides_and_not_what_its_run_states(workshop: Workshop, server: Server) -> None:
    other = second_policy(workshop)
    own = parameters(workshop)
    ends = [ended_run(server, own, {**own, **change, "as_of": SLOT}) for change in [*changes(workshop, other)][:4]]
    assert [name for name, _ in ends] == ["Completed", "Refused", "Refused", "Refused"]
    assert "deployments_may_set: [policy]" in ends[1][1]
    assert [entry.release_id for entry in ledger_of(plan_policy(workshop.policy)).ledger().entries()] == [
        f"clinic/1/{SLOT}"
    ]


@pytest.mark.thorough
def test_a_deployment_sets_only_what_the_policy_opens_to_it(workshop: Workshop, server: Server) -> None:
    elsewhere = {"as_of": SLOT, "to": str(workshop.root / "elsewhere")}
    state, said = ended_run(server, *2 * [parameters(workshop) | elsewhere])
    assert state == "Refused"
    assert "deployments_may_set: [to]" in said
    assert not (workshop.root / "elsewhere").exists()
    workshop.edit(workshop.policy, "publish: {", "publish: {deployments_may_set: [to], ")
    assert ended_run(server, *2 * [parameters(workshop) | elsewhere])[0] == "Completed"
    assert (workshop.root / "elsewhere" / "clinic" / "1" / SLOT / "manifest.json").is_file()


def ended_run(server: Server, own: Own, stated: Own) -> tuple[str, str]:
    """Return name and message of the end of a deployment's run: the deployment states `own`, the run `stated`."""
    with get_client(sync_client=True) as client:
        made = client.create_deployment(client.create_flow(flow_file.release), "bound", parameters=own)
        run = client.create_flow_run_from_deployment(made, parameters=stated)
    run_flow(flow_file.release, flow_run=run, parameters=stated, return_type="state")
    seen = server.last_run()
    return seen.state["name"], seen.state["message"]
