"""Terminal states of a run: the public facts about its end, and its handling by Prefect."""

from typing import Any
from uuid import uuid4

from prefect.client.schemas.objects import State, StateType
from prefect.runtime import deployment, flow_run
from prefect.states import Failed, Suspended

from crowdgate.errors import ConfigurationError, CrowdgateError, FileFault, LedgerRefused, VerificationFailed

NORMAL = (ConfigurationError, FileFault, LedgerRefused, VerificationFailed)
"""Errors of a normal end: exit codes 2, 4, 5 and 6. All other errors are faults."""


class _StateWithoutResult(State[Any]):
    """A state without a result: Prefect's engine raises the result of any other that is not completed, and logs a
    traceback.
    """

    def result(self, *_: object, **__: object) -> None:
        """Return nothing: a release is not passed on."""


def failed_state(name: str, message: str) -> State[Any]:
    """Return a failed state for an end that asks somebody to act: files, a ledger or an audit are not as they must be.

    Only a caller in Python gets it as an exception; the engine that runs a deployment does not.
    """
    return _ended(StateType.FAILED, name, message)


def unpublished_state(name: str, message: str) -> State[Any]:
    """Return the state of a run that worked and by its rules published nothing.

    Its type is Cancelled. Failed would alarm whoever watches for faults; after Completed, other flows would take the
    release for published. A caller in Python gets it as an exception.
    """
    return _ended(StateType.CANCELLED, name, message)


def _ended(type_: StateType, name: str, message: str) -> State[Any]:
    state = _StateWithoutResult if _is_deployed() else State
    return state(type=type_, name=name, message=message)


def waiting_state(name: str, message: str) -> State[Any]:
    """Return the state of a run that lacks an approval.

    A run of a deployment is suspended: it holds no process, and somebody resumes it after the approval. The resumed run
    begins again, and reads the approvals as any other does. Every other run ends under this name.
    """
    if _is_deployed():
        return Suspended(message=f"{message.rstrip('.')}. Resume this run after that.", pause_key=uuid4().hex)
    return unpublished_state(name, message)


def refused_state(error: CrowdgateError) -> State[Any]:
    """Return the state of a run that an error stopped before anything was read."""
    if isinstance(error, LedgerRefused) and error.code == "unapproved":
        return waiting_state("Refused", str(error))
    if isinstance(error, NORMAL):
        return failed_state("Refused", str(error))
    return Failed(name="Refused", message=str(error))


def _is_deployed() -> bool:
    """Return whether the current run is that of a deployment, which a worker executes."""
    return deployment.id is not None and flow_run.parent_flow_run_id is None
