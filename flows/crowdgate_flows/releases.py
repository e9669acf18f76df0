"""The Prefect flow `releases`: the releases of several policies for one slot, in one run with one end.

Each policy ends by itself, under its own name and with its own events and artifact. A fault of one stops no other. The
state of the run is the worst of them.
"""

from collections.abc import Sequence
from typing import Annotated

from prefect import flow
from prefect.client.schemas.objects import State, StateType
from pydantic import BaseModel, ConfigDict, Field

from crowdgate.errors import Crashed
from crowdgate.releases.dry_run import DryRun
from crowdgate.system.core_dumps import disable_core_dumps
from crowdgate_flows.paths import Digest, FilePath
from crowdgate_flows.policy_run import Anchor, End, Minutes, RunParameters, Slot, run_policy, state_of
from crowdgate_flows.run_name import run_name

MOST_POLICIES = 100
_BAD = (StateType.COMPLETED, StateType.CANCELLED, StateType.PAUSED, StateType.FAILED)
"""Types of states, the worst last. A suspended run is paused."""
_WORSE_NAMES = ("Withheld", "Crashed")
"""The worse one of two names of one type: Withheld of Cancelled ones, Crashed of Failed ones."""


class PolicyParameters(BaseModel):
    """A policy of a run with the digest of its files, which the deployment states."""

    model_config = ConfigDict(extra="forbid")

    policy: FilePath
    policy_digest: Digest | None = None


Policies = Annotated[list[PolicyParameters], Field(min_length=1, max_length=MOST_POLICIES)]


@flow(
    name="releases", flow_run_name=run_name, persist_result=False, log_prints=False, retries=0, validate_parameters=True
)
def releases(
    policies: Policies,
    as_of: Slot | None = None,
    working_copy: FilePath | None = None,
    anchors: list[Anchor] | None = None,
    wait: Minutes = 0,
) -> State[None]:
    """Make the releases of several policies for one slot, one after another, each as the flow `release` makes it.

    Args:
        policies: The policy files, relative to the working copy, with their digests. Bound to the deployment.
        as_of: The slot: YYYY-MM-DD. Leave it empty for the day, or the period, for which the run is scheduled.
        working_copy: The folder that the other paths are relative to. Bound to the deployment.
        anchors: Lines that the ledger must hold, LINE:DIGEST, as `crowdgate ledger verify` prints them.
        wait: The minutes for which a late table, or a fault of the machine, is tried again before each charge.
    """
    disable_core_dumps()
    held = tuple(anchors or ())
    stated = [
        RunParameters(each.policy, as_of, None, None, None, working_copy, held, each.policy_digest, None, wait)
        for each in policies
    ]
    return worst([(each.policy, state_of(_end(each))) for each in stated])


def _end(stated: RunParameters) -> End | DryRun:
    """Return the end of one policy. A fault of Prefect or of Crowdgate counts as a crash: what was charged stays so."""
    try:
        return run_policy(stated)
    except Exception as error:
        return Crashed(f"a fault outside the release: {type(error).__name__}; crowdgate doctor says what was charged")


def worst(ends: Sequence[tuple[str, State[None]]]) -> State[None]:
    """Return the worst state of several policies, with a message of one line for each policy, the worst first."""
    ranked = sorted(ends, key=lambda end: _rank(end[1]), reverse=True)
    lines = [f"{policy}: {state.name}. {_message(state)}".rstrip() for policy, state in ranked]
    return ranked[0][1].model_copy(update={"message": "\n".join(lines)})


def _message(state: State[None]) -> str:
    return (state.message or "").removeprefix(f"{state.name}: ")


def _rank(state: State[None]) -> tuple[int, bool]:
    return _BAD.index(state.type), state.name in _WORSE_NAMES
