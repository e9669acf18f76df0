"""The flows of several policies, checks and ledger checks: their ends, and what their deployments are bound to."""

from typing import Any
from uuid import UUID

import pytest
import yaml
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State
from prefect.flow_engine import run_flow
from prefect.flows import Flow, load_flow_from_entrypoint
from prefect.states import Cancelled, Completed, Failed, Suspended

from crowdgate_flows import releases as flow_file
from crowdgate_flows.check import check
from crowdgate_flows.ledger_check import ledger_check
from crowdgate_flows.releases import releases, worst
from tests.cli.test_several_releases import GATE, SLOT, variant
from tests.flows.server import Server
from tests.workshop import Workshop, crowdgate

CRON = "0 6 1 * *"
PUBLISHED: State[Any] = Completed()
WITHHELD: State[Any] = Cancelled(name="Withheld")
HELD: State[Any] = Cancelled(name="Held")
REFUSED: State[Any] = Failed(name="Refused")
CRASHED: State[Any] = Failed(name="Crashed")
WAITING: State[Any] = Suspended()


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, dict[str, Any]]:
    """The deployments that the command prints, by name."""
    capsys.readouterr()
    assert crowdgate("deployments", *arguments) == 0
    return {each["name"]: each for each in yaml.safe_load(capsys.readouterr().out)["deployments"]}


def ended(server: Server, flow: Flow[..., Any], own: dict[str, Any], **changed: Any) -> tuple[str, str]:
    """Run a deployment that states `own`, with changes by its run; return the name and message of its end."""
    stated = {**own, **changed}
    with get_client(sync_client=True) as client:
        made = client.create_deployment(client.create_flow(flow), "bound", parameters=own)
        run = client.create_flow_run_from_deployment(made, parameters=stated)
    run_flow(flow, flow_run=run, parameters=stated, return_type="state")
    seen = server.last_run()
    assert UUID(seen.id) == run.id
    return seen.state["name"], seen.state["message"]


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([PUBLISHED, PUBLISHED], "Completed"),
        ([HELD, WITHHELD, PUBLISHED], "Withheld"),
        ([WITHHELD, HELD], "Withheld"),
        ([WITHHELD, WAITING], "Suspended"),
        ([WAITING, REFUSED, WITHHELD], "Refused"),
        ([REFUSED, CRASHED, PUBLISHED], "Crashed"),
        ([CRASHED, REFUSED], "Crashed"),
    ],
)
def test_the_state_of_a_run_is_the_worst_one(states: list[Any], expected: str) -> None:
    found = worst([(f"{number}.yaml", state) for number, state in enumerate(states)])
    assert found.name == expected
    lines = str(found.message).splitlines()
    assert len(lines) == len(states)
    assert f": {expected}." in lines[0]


def test_a_fault_outside_a_release_counts_as_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(stated: object) -> Any:
        raise OSError(f"MARKED {stated}")

    monkeypatch.setattr(flow_file, "run_policy", broken)
    end = flow_file.releases.fn(
        [flow_file.PolicyParameters(policy="a.yaml"), flow_file.PolicyParameters(policy="b.yaml")]
    )
    assert (end.name, str(end.message).count("OSError")) == ("Crashed", 2)
    assert "MARKED" not in str(end.message)


def test_every_flow_is_deployed_by_the_command(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    other = variant(workshop, "other")
    more = ("--check", "0 5 * * *", "--audit", "0 4 1 * *", "--ledger-check", "0 3 * * *")
    found = printed(capsys, workshop.policy, other, "--cron", CRON, *more)
    assert [*found] == ["clinic", "other", "clinic-check", "clinic-audit", "other-check", "other-audit", "ledger-check"]
    together = printed(capsys, workshop.policy, other, "--cron", CRON, "--together", "monthly", *more[:2])
    assert [*together] == ["monthly", "clinic-check", "other-check"]
    assert together["monthly"]["work_pool"]["work_queue_name"] == "clinic-patients"
    for each in (*found.values(), *together.values()):
        flow: Flow[..., Any] = load_flow_from_entrypoint(each["entrypoint"], use_placeholder_flow=False)
        flow.validate_parameters(each["parameters"])


def test_policies_together_have_one_time(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    workshop.edit(workshop.policy, "  publish:", "  calendar: {every: quarter, timezone: UTC}\n  publish:")
    weekly = variant(workshop, "weekly", "quarter", "week")
    assert crowdgate("deployments", workshop.policy, weekly, "--together", "both") == 2
    assert "--cron and --timezone for all of them" in capsys.readouterr().err


@pytest.mark.thorough
def test_policies_of_one_run_end_by_themselves(
    server: Server, workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    """A changed file of one policy refuses this one only; a policy that the deployment does not name is refused."""
    workshop.edit(workshop.budget, "epsilon: 6, delta: 0.03", "epsilon: 20, delta: 0.1")
    withheld = variant(workshop, "withheld", GATE, "released_rows, at_least: 900")
    paths = (workshop.policy, withheld, variant(workshop, "third"))
    own = printed(capsys, *paths, "--cron", CRON, "--together", "all")["all"]["parameters"]
    own["working_copy"] = str(workshop.root)
    name, said = ended(server, releases, own, as_of=SLOT)
    assert (name, server.last_run().name) == ("Withheld", f"3 policies {SLOT}")
    assert said.splitlines()[0].startswith("policies/withheld.yaml: Withheld. gate released_rows")
    assert said.count(f"{SLOT} was published") == 2
    assert {*server.last_run().artifacts} == {"release-clinic", "release-withheld", "release-third"}
    workshop.edit(paths[2], "expected_singletons, at_most: 4", "expected_singletons, at_most: 3")
    name, said = ended(server, releases, own, as_of="2030-01-02")
    assert name == "Refused"
    assert said.splitlines()[0].startswith("policies/third.yaml: Refused. parameters: policy_digest")
    assert "clinic/1/2030-01-02 was published" in said
    fourth = {"policy": str(variant(workshop, "fourth").relative_to(workshop.root)), "policy_digest": None}
    name, said = ended(server, releases, own, as_of="2030-01-03", policies=[fourth])
    assert (name, "left open by the deployment" in said) == ("Refused", True)
    assert not (workshop.root / "releases" / "fourth").exists()


@pytest.mark.thorough
def test_a_check_says_what_the_command_says(server: Server, workshop: Workshop) -> None:
    own = {"policy": "policies/clinic.yaml", "working_copy": str(workshop.root)}
    name, said = ended(server, check, own)
    assert (name, "allowed" in said) == ("Completed", True)
    assert "Privacy cost" in server.last_run().artifacts["check-clinic"]
    assert ended(server, check, own, working_copy=str(workshop.root.parent))[0] == "Refused"
    workshop.edit(workshop.budget, "epsilon: 6", "epsilon: 1")
    name, said = ended(server, check, own)
    assert (name, "would be withheld" in said) == ("NotAllowed", True)
    workshop.edit(workshop.policy, "released_rows", "released_row")
    name, said = ended(server, check, own)
    assert (name, "released_row" in said) == ("Refused", True)


@pytest.mark.thorough
def test_a_ledger_check_finds_an_edited_ledger_and_keeps_its_anchors(server: Server, workshop: Workshop) -> None:
    own: dict[str, Any] = {"working_copy": str(workshop.root)}
    name, said = ended(server, ledger_check, own)
    anchor = said.rpartition("Anchor: ")[2]
    assert (name, anchor[:2]) == ("Completed", "1:")
    assert server.last_run().name.startswith("ledger-check 20")
    own["anchors"] = [anchor]
    assert ended(server, ledger_check, own)[0] == "Completed"
    name, said = ended(server, ledger_check, own, anchors=[])
    assert (name, "left out by the run" in said) == ("Refused", True)
    wrong = f"1:{'0' * 64}"
    name, said = ended(server, ledger_check, own, anchors=[anchor, wrong])
    assert (name, "differs from the anchor" in said) == ("NotVerified", True)
