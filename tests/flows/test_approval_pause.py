"""A run of a deployment that lacks an approval is suspended: a person resumes it, and only signatures decide."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.flow_engine import run_flow
from prefect.states import Scheduled

from crowdgate_flows import release as flow_file
from tests.flows.server import Server
from tests.flows.test_bound_deployments import parameters
from tests.releases.boards import Board, make_board
from tests.workshop import Workshop

SLOT = "2026-01-20"
PLANNED = datetime(2026, 1, 20, 23, 30, tzinfo=UTC)
"""The moment for which the run is scheduled: it gives the slot, however late somebody resumes the run."""
ID = f"clinic/1/{SLOT}"


@dataclass(frozen=True)
class DeployedRun:
    """A run of the deployment of a board's policy."""

    client: SyncPrefectClient
    id: UUID
    parameters: dict[str, Any]

    def ends(self) -> tuple[str, str]:
        """Execute what is scheduled, as a worker does; return name and message of the state that the run then has."""
        run = self.client.read_flow_run(self.id)
        run_flow(flow_file.release, flow_run=run, parameters=self.parameters, return_type="state")
        state = self.client.read_flow_run(self.id).state
        assert state is not None
        return state.name or "", state.message or ""

    def resumed(self) -> tuple[str, str]:
        """Resume the run as a person does on Prefect's page."""
        self.client.resume_flow_run(self.id)
        return self.ends()


@pytest.fixture
def board(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Board:
    monkeypatch.chdir(workshop.root)
    return make_board(workshop)


def begin(board: Board, client: SyncPrefectClient) -> DeployedRun:
    own = parameters(board.copy)
    made = client.create_deployment(client.create_flow(flow_file.release), "approved", parameters=own)
    run = client.create_flow_run_from_deployment(made, parameters=own, state=Scheduled(scheduled_time=PLANNED))
    return DeployedRun(client, run.id, own)


@pytest.mark.thorough
@pytest.mark.usefixtures("server")
def test_a_run_waits_until_the_release_is_approved(board: Board) -> None:
    """Resuming it without an approval suspends it again, and charges nothing."""
    with get_client(sync_client=True) as client:
        run = begin(board, client)
        for name, message in (run.ends(), run.resumed()):
            assert name == "Suspended"
            assert f"{ID} needs an approval before it is charged, by one of board, officer." in message
            assert f"Run crowdgate approve {ID} --key KEY. Resume this run after that." in message
            assert board.charged() == []
        assert board.approve("board", SLOT) == 0
        assert run.resumed()[0] == "Completed"
    assert [each.release_id for each in board.charged()] == [ID]


@pytest.mark.thorough
def test_a_staged_release_waits_until_it_is_approved(board: Board, server: Server) -> None:
    """It is drawn and charged once."""
    board.asks(before="publication")
    with get_client(sync_client=True) as client:
        run = begin(board, client)
        name, message = run.ends()
        assert (name, "Its files are staged" in message, "Resume this run" in message) == ("Suspended", True, True)
        charged = board.charged()
        assert (run.resumed()[0], board.charged()) == ("Suspended", charged)
        assert board.approve("board", SLOT) == 0
        assert run.resumed()[0] == "Completed"
    assert [each.release_id for each in board.charged()] == [ID]
    assert server.last_run().state["name"] == "Completed"
