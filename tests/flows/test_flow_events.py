"""Events of a release as events of Prefect: one for its end, with the run's id, on the policy as a resource."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import yaml

from crowdgate.kind.run import Request
from crowdgate.operations.event import EventKind
from crowdgate_flows import release as flow_file
from tests.flows.server import Server, until
from tests.workshop import MARK, Workshop

SLOT = "2030-01-01"
AUTOMATIONS = Path(__file__).parents[2] / "flows" / "schedules" / "automations.yaml"
EVENTS = "SELECT event, resource_id, payload FROM events WHERE event LIKE 'crowdgate.%' AND payload LIKE ?"


def stored(server: Server, run: str, number: int) -> list[dict[str, Any]]:
    """Return the payloads of a run's events at the server, when there are so many."""
    ask: Callable[[], list[Any]] = partial(server.query, EVENTS, f"%{UUID(run)}%")
    until(lambda: len(ask()) == number)
    rows = {row["event"]: row for row in ask()}
    assert {row["resource_id"] for row in rows.values()} <= {"crowdgate.policy.clinic", "crowdgate.policy.unknown"}
    return [json.loads(rows[name]["payload"]) for name in sorted(rows, reverse=True)]


@pytest.mark.thorough
def test_a_release_is_an_event_at_the_server_and_in_the_log(workshop: Workshop, server: Server) -> None:
    with (workshop.root / "crowdgate.toml").open("a") as file:
        file.write('event_log = "events.jsonl"\n')
    flow_file.run_release(Request(workshop.policy, SLOT))
    run = server.last_run().id
    published, low = stored(server, run, 2)
    assert (published["kind"], low["kind"]) == ("published", "low-budget")
    log = [json.loads(line) for line in (workshop.root / "events.jsonl").read_text().splitlines()]
    assert log == [published, low]
    assert published["run"] == str(UUID(run))
    assert MARK not in str(published)


@pytest.mark.thorough
def test_refused_parameters_are_an_event_that_names_no_file(workshop: Workshop, server: Server) -> None:
    flow_file.release(str(workshop.policy), as_of="2030-02-31", return_state=True)
    (refused,) = stored(server, server.last_run().id, 1)
    assert (refused["kind"], refused["code"]) == ("refused", "configuration")
    assert "policy" not in refused


@pytest.mark.thorough
def test_a_channel_that_fails_is_a_warning_of_the_run(workshop: Workshop, server: Server) -> None:
    with (workshop.root / "crowdgate.toml").open("a") as file:
        file.write('event_log = "gone/events.jsonl"\n')
    assert flow_file.run_release(Request(workshop.policy, SLOT)).outcome == "published"
    seen = server.last_run()
    assert seen.state["name"] == "Completed"
    warned = "SELECT message FROM log WHERE flow_run_id = ? AND level = 30"
    until(lambda: server.query(warned, seen.id))
    assert "not delivered to event_log" in server.query(warned, seen.id)[0]["message"]


def test_the_bundled_automations_pause_the_deployment_of_the_run_that_needs_somebody() -> None:
    from prefect.events.schemas.automations import AutomationCore

    stated = yaml.safe_load(AUTOMATIONS.read_text(encoding="utf-8"))["automations"]
    found = [AutomationCore.model_validate(each) for each in stated]
    expected = {name for each in stated for name in each["trigger"]["expect"]}
    assert expected == {f"crowdgate.{kind}" for kind in (EventKind.CRASHED, EventKind.LEDGER_REFUSED)}
    assert [each.actions[0].type for each in found] == ["pause-deployment"] * 2
