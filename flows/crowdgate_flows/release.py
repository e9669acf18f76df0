"""The Prefect flow `release`: the steps of the command, scheduled and observed, with equally little output about the
data.
"""

from contextlib import suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from prefect import flow
from prefect.artifacts import create_markdown_artifact
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Completed, Failed
from pydantic import Field

from crowdgate.cli.release import STEPS
from crowdgate.errors import ConfigurationError, Crashed, CrowdgateError, EnvironmentFault, Problem
from crowdgate.kind.run import Request, Result
from crowdgate.limits import MOST_WORKERS
from crowdgate.operations.observed_run import run_channels
from crowdgate.pages.release import page_after
from crowdgate.policy.policy import parse_slot
from crowdgate.releases.dry_run import DryRun
from crowdgate.releases.enforcement import WORDS
from crowdgate.releases.late_source import MOST_MINUTES
from crowdgate.system.core_dumps import disable_core_dumps
from crowdgate_flows import tasks
from crowdgate_flows.deployments import Binding, refuse_locked
from crowdgate_flows.end_states import refused_state, unpublished_state, waiting_state
from crowdgate_flows.events import emit_end
from crowdgate_flows.paths import Digest, FilePath, refuse_urls
from crowdgate_flows.tasks import SealedValue

Slot = Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}(T\d{4}Z)?$")]
Reason = Annotated[str, Field(min_length=1, max_length=1000, pattern=r"\S")]
Minutes = Annotated[int, Field(ge=0, le=MOST_MINUTES)]
Workers = Annotated[int, Field(ge=1, le=MOST_WORKERS)]
Anchor = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,8}:[0-9a-f]{64}$")]
End = Result | CrowdgateError
_ENDS: ContextVar[list[End] | None] = ContextVar("ends", default=None)


@flow(name="release", persist_result=False, log_prints=False, retries=0, validate_parameters=True)
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
    """
    disable_core_dumps()
    request: Request | None = None
    end: End | DryRun
    try:
        refuse_urls(working_copy=working_copy, policy=policy, to=to, input_path=input_path)
        home, stated = Path(working_copy or ""), Binding(policy, working_copy, policy_digest)
        refuse_locked(stated, to=to, input=input_path, ledger=ledger, anyway=anyway)
        places = (stated.file, _slot(as_of), _path(home, input_path), _path(home, to), ledger)
        at, anchored = None if as_of else _scheduled(), tuple(anchors or ())
        request = Request(
            *places, holder=flow_run.id, anchors=anchored, anyway=anyway, at=at, wait=wait, workers=workers
        )
        run_channels(request)  # invalid settings refuse the run
        rehearsed = tasks.rehearse(SealedValue(request)).value
        end = steps(SealedValue(request)) if rehearsed is None else rehearsed
    except CrowdgateError as error:
        end = error
    emit_end(request, str(flow_run.id), end)
    if isinstance(end, DryRun):
        return unpublished_state("DryRun", f"{WORDS} The rehearsal: {end.rehearsed.outcome}")
    ends = _ENDS.get()
    if ends is not None:
        ends.append(end)
    return _state(end)


def steps(request: SealedValue[Request]) -> End:
    """Run all tasks of a release in order, until one of them ends it."""
    run = tasks.prepare(request).value
    if isinstance(run, End):
        return run
    reserved = tasks.reserve(SealedValue(run)).value
    if isinstance(reserved, End):
        return reserved
    ready = tasks.protect(SealedValue(reserved), request.value.workers).value
    if isinstance(ready, End):
        return ready
    return tasks.publish(SealedValue(reserved), SealedValue(ready)).value


def run_release(request: Request) -> Result:
    """Run the flow in this process and return its result. Raises the error that stopped it, as the job would."""
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


def _state(end: End) -> State[None]:
    """Return the state of a run that ended: Completed if it published, Cancelled if it rightly published nothing."""
    if isinstance(end, Crashed):
        return Failed(name="Crashed", message=str(end))
    if isinstance(end, CrowdgateError):
        return refused_state(end)
    if end.verdicts:  # a release that ended in an earlier run has its page there
        _artifact(end)
    if end.outcome == "held":
        return unpublished_state("Held", end.plain)
    if end.outcome == "waiting":
        return waiting_state("Waiting", end.plain)
    if end.outcome == "withheld":
        return unpublished_state("Withheld", _withheld_message(end))
    return Completed(message=_published_message(end))


def _published_message(end: Result) -> str:
    slot = end.release_id.rpartition("/")[2]
    if end.repeated:
        return f"slot {slot} was published before: {end.path}"
    return f"{end.release_id} was published. {end.cost} {end.left} {end.low}".rstrip()


def _withheld_message(end: Result) -> str:
    """Return the gates that withheld the release with their measurements, what it cost, and the next step."""
    if end.repeated:
        return end.plain
    gates = [f"gate {each.gate}: {each.measured}" for each in end.verdicts if each.public and each.withholds]
    charged = f" {end.cost} {end.left}" if end.left else ""
    return f"Withheld: {'; '.join(gates)}. {end.plain}{charged} {STEPS}"


def _artifact(result: Result) -> None:
    """Publish the public page of the release on the run's page. Its key is the policy's, so its history is too."""
    name, slot = result.release_id.partition("/")[0], result.release_id.rpartition("/")[2]
    lines = [f"Release: `{result.path}`" if result.path else "", result.left, result.low]
    head = "\n\n".join(line for line in lines if line)
    with suppress(Exception):  # the release has ended, whether or not the server takes its page
        page = f"{head}\n\n{page_after(result).markdown()}".lstrip()
        create_markdown_artifact(markdown=page, key=f"release-{name}", description=f"{result.outcome}, slot {slot}")


def _slot(as_of: str | None) -> str:
    """Return the requested slot, by default the day (UTC) that this run was scheduled for: a late run has its planned
    slot.
    """
    if as_of is not None:
        try:
            return parse_slot(as_of)
        except ValueError as error:
            raise ConfigurationError(Problem("parameters", None, "as_of", repr(as_of), str(error))) from None
    return _scheduled().astimezone(UTC).date().isoformat()


def _scheduled() -> datetime:
    """Return the moment for which this run was scheduled."""
    scheduled: datetime | None = flow_run.scheduled_start_time
    return scheduled or datetime.now(UTC)


def _path(home: Path, text: str | None) -> Path | None:
    return None if text is None else home / text


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
