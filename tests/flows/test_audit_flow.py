"""The flow `audit`: the audit of the command, with end states named by its outcome."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from prefect.exceptions import ParameterTypeError

from crowdgate.audit.singling_out import setting
from crowdgate.candidate import AuditQuestion
from crowdgate_flows import audit as flow_file
from tests.audit.workshop import Town, make_town, only_few_controls
from tests.flows.server import Server


@pytest.fixture(scope="module", autouse=True)
def few_controls() -> Iterator[None]:
    with only_few_controls():
        yield


@pytest.fixture
def town(tmp_path: Path) -> Town:
    return make_town(tmp_path / "town")


@pytest.mark.thorough
def test_a_schedule_leaves_the_record_that_gates_read_and_a_later_run_reports_it(town: Town, server: Server) -> None:
    for _ in range(2):
        flow_file.audit("policies/clinic.yaml", working_copy=str(town.root), return_state=True)
        seen = server.last_run()
        assert (seen.state["name"], seen.state["message"]) == (
            "Completed",
            "Not refuted on this population, by these attackers, at this n.",
        )
        assert "never certifies" in seen.artifacts["audit-clinic"]
        assert seen.state["data"] in (None, "null")
    assert len(town.records) == 1


@pytest.mark.thorough
def test_an_audit_without_controls_and_a_wrong_policy_end_under_their_names(
    town: Town, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setting, "CONTROLS", ())
    flow_file.audit(str(town.policy), return_state=True)
    seen = server.last_run()
    assert (seen.state["type"], seen.state["name"]) == ("FAILED", "Inconclusive")
    assert "no control was played" in seen.state["message"]
    town.edit(town.policy, "population: towns", "population: town")
    flow_file.audit(str(town.policy), return_state=True)
    seen = server.last_run()
    assert (seen.state["type"], seen.state["name"]) == ("FAILED", "Refused")
    assert "write 'towns'" in seen.state["message"]


@pytest.mark.parametrize(
    "wrong",
    [{"policy": ""}, {"policy": "p.yaml", "processes": 0}, {"policy": "p.yaml", "on_confidential": True}],
    ids=str,
)
def test_parameters_are_paths_and_a_number_of_processes(wrong: dict[str, object]) -> None:
    with pytest.raises((ParameterTypeError, TypeError)):
        flow_file.audit.validate_parameters(wrong)


def test_the_flow_keeps_nothing() -> None:
    flow = flow_file.audit
    assert (flow.persist_result, flow.retries, flow.log_prints, flow.should_validate_parameters) == (
        False,
        0,
        False,
        True,
    )


@pytest.mark.thorough
@pytest.mark.parametrize("question", [AuditQuestion.INFERENCE, AuditQuestion.MEMBERSHIP])
def test_every_question_is_asked_by_its_name(town: Town, server: Server, question: AuditQuestion) -> None:
    """The town's contract has no secret, and its population is too small for two halves."""
    flow_file.audit(str(town.policy), question=question, return_state=True)
    seen = server.last_run()
    assert (seen.state["type"], seen.state["name"]) == ("FAILED", "Refused")
    assert ("secret" if question is AuditQuestion.INFERENCE else "non-members") in seen.state["message"]
