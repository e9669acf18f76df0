"""The Prefect flow `release`: the steps of the command, scheduled and observed, with equally little output about the
data.
"""

from contextvars import ContextVar
from pathlib import Path

from prefect import flow
from prefect.client.schemas.objects import State

from crowdgate.errors import CrowdgateError, EnvironmentFault
from crowdgate.kind.run import Request, Result
from crowdgate.ledger.stores import placed
from crowdgate.releases.dry_run import DryRun
from crowdgate.settings import ledger_url
from crowdgate.system.core_dumps import disable_core_dumps
from crowdgate_flows.paths import Digest, FilePath
from crowdgate_flows.policy_run import (
    Anchor,
    Cluster,
    End,
    Minutes,
    Reason,
    RunParameters,
    Slot,
    Workers,
    run_policy,
    state_of,
)
from crowdgate_flows.run_name import run_name

_ENDS: ContextVar[list[End] | None] = ContextVar("ends", default=None)


@flow(
    name="release", flow_run_name=run_name, persist_result=False, log_prints=False, retries=0, validate_parameters=True
)
def release(
    policy: FilePath,
    as_of: Slot | None = None,
    input_path: FilePath | None = None,
    to: FilePath | None = None,
    ledger: FilePath | None = None,
    working_copy: FilePath | None = None,
    anchors: list[Anchor] | None = None,
    policy_digest: Digest | None = None,
    anyway: Reason | None = None,
    wait: Minutes = 0,
    workers: Workers = 1,
    cluster: Cluster | None = None,
) -> State[None]:
    """Make one release. Prefect's form for a run shows what is written below of each parameter.

    A repeated run continues with a reservation whose reading has not begun. A deployment may set `input_path`, `to` and
    `ledger`, and a run of it may change `policy` and `working_copy`, only if the policy opens them to deployments.

    Args:
        policy: The policy file, relative to the working copy. Bound to the deployment.
        as_of: The slot: YYYY-MM-DD. Leave it empty for the day, or the period, for which the run is scheduled.
        input_path: A table in place of the contract's. Only where the policy opens it to deployments.
        to: A destination in place of the policy's. Only where the policy opens it to deployments.
        ledger: A ledger in place of the working copy's. Only where the policy opens it to deployments.
        working_copy: The folder that the other paths are relative to. Bound to the deployment.
        anchors: Lines that the ledger must hold, LINE:DIGEST, as `crowdgate ledger verify` prints them.
        policy_digest: The digest of the policy's files, which the deployment states.
        anyway: The reason for a release that past runs would hold. No deployment may set it.
        wait: The minutes for which a late table, or a fault of the machine, is tried again before the charge.
        workers: The number of processes that count the table. No result depends on it.
        cluster: A Dask scheduler whose workers count the table instead. Bound to the deployment.
    """
    disable_core_dumps()
    places = (policy, as_of, input_path, to, ledger, working_copy)
    end = run_policy(RunParameters(*places, tuple(anchors or ()), policy_digest, anyway, wait, workers, cluster))
    ends = _ENDS.get()
    if ends is not None and not isinstance(end, DryRun):
        ends.append(end)
    return state_of(end)


def run_release(request: Request) -> Result:
    """Run the flow in this process and return its result. Raises the error that stopped it, as the job would.

    A ledger's URL that is refused, as one with a password is, never becomes a parameter, which Prefect's server stores.
    """
    if request.ledger is not None:
        ledger_url(Path.cwd(), request.ledger, placed)
    ends: list[End] = []
    token = _ENDS.set(ends)
    trouble = "see its own messages above"
    try:
        release(
            policy=str(request.policy),
            as_of=request.slot if request.at is None else None,
            input_path=_text(request.input),
            to=_text(request.to),
            ledger=request.ledger,
            anchors=list(request.anchors),
            anyway=request.anyway,
            wait=request.wait,
            workers=request.workers,
            cluster=request.cluster,
            return_state=True,
        )
    except Exception as error:  # Prefect's own, such as a server out of reach; the flow's errors are in `ends`
        trouble = type(error).__name__
    finally:
        _ENDS.reset(token)
    if not ends:
        raise EnvironmentFault(f"Prefect did not run the flow to its end ({trouble}); does the server answer?")
    if isinstance(ends[0], CrowdgateError):
        raise ends[0]
    return ends[0]


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
