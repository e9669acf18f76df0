"""The run of a policy's release inside a flow: its steps, its end, and the state that Prefect shows for this end."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Annotated

from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Completed
from pydantic import Field

from crowdgate.cli.release import next_steps
from crowdgate.errors import ConfigurationError, Crashed, CrowdgateError, Problem
from crowdgate.kind.run import Request, Result
from crowdgate.limits import MOST_WORKERS
from crowdgate.operations.observed_run import run_channels
from crowdgate.pages.release import page_after
from crowdgate.policy.policy import parse_slot
from crowdgate.releases.dry_run import DryRun
from crowdgate.releases.enforcement import WORDS
from crowdgate.releases.late_source import MOST_MINUTES
from crowdgate.sources.cluster import ADDRESS
from crowdgate_flows import tasks
from crowdgate_flows.artifact import publish_page
from crowdgate_flows.deployments import Binding, refuse_locked
from crowdgate_flows.end_states import failed_state, refused_state, unpublished_state, waiting_state
from crowdgate_flows.events import emit_end
from crowdgate_flows.paths import refuse_urls
from crowdgate_flows.run_name import scheduled
from crowdgate_flows.tasks import SealedValue

Slot = Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}(T\d{4}Z)?$")]
Reason = Annotated[str, Field(min_length=1, max_length=1000, pattern=r"\S")]
Minutes = Annotated[int, Field(ge=0, le=MOST_MINUTES)]
Workers = Annotated[int, Field(ge=1, le=MOST_WORKERS)]
Cluster = Annotated[str, Field(pattern=f"^{ADDRESS}$")]
Anchor = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,8}:[0-9a-f]{64}$")]
End = Result | CrowdgateError


@dataclass(frozen=True)
class RunParameters:
    """Parameters of one policy in a run of a flow: those of the flow `release`."""

    policy: str
    as_of: str | None = None
    input_path: str | None = None
    to: str | None = None
    ledger: str | None = None
    working_copy: str | None = None
    anchors: tuple[str, ...] = ()
    policy_digest: str | None = None
    anyway: str | None = None
    wait: int = 0
    workers: int = 1
    cluster: str | None = None

    @property
    def binding(self) -> Binding:
        """The policy, the digest of its files, the anchors and the cluster, as this run states them."""
        return Binding(self.policy, self.working_copy, self.policy_digest, self.anchors, self.cluster)


def run_policy(stated: RunParameters) -> End | DryRun:
    """Make the release of one policy and deliver its events. An error that stopped it is returned, not raised."""
    request: Request | None = None
    end: End | DryRun
    try:
        request = _request(stated)
        run_channels(request)  # invalid settings refuse the run
        end = steps(SealedValue(request))
    except CrowdgateError as error:
        end = error
    emit_end(request, str(flow_run.id), end)
    return end


def _request(stated: RunParameters) -> Request:
    """Return the request of a run. Raises ConfigurationError for a parameter that is invalid, or that a deployment may
    not set.
    """
    own, to, table = stated.working_copy, stated.to, stated.input_path
    refuse_urls(working_copy=own, policy=stated.policy, to=to, input_path=table)
    home, bound = Path(own or ""), stated.binding
    refuse_locked(bound, to=to, input=table, ledger=stated.ledger, anyway=stated.anyway)
    places = (bound.file, _slot(stated.as_of), _path(home, table), _path(home, to), stated.ledger)
    at, held = None if stated.as_of else scheduled(), flow_run.id
    return Request(
        *places, holder=held, anchors=stated.anchors, anyway=stated.anyway, at=at, wait=stated.wait,
        workers=stated.workers, cluster=stated.cluster,
    )  # fmt: skip


def steps(request: SealedValue[Request]) -> End | DryRun:
    """Run all tasks of a release in order, until one of them ends it."""
    run = tasks.prepare(request).value
    if isinstance(run, End | DryRun):
        return run
    reserved = tasks.reserve(SealedValue(run)).value
    if isinstance(reserved, End):
        return reserved
    ready = tasks.protect(SealedValue(reserved), request.value.workers, request.value.cluster).value
    if isinstance(ready, End):
        return ready
    return tasks.publish(SealedValue(reserved), SealedValue(ready)).value


def state_of(end: End | DryRun) -> State[None]:
    """Return the state of a run that ended: Completed if it published, Cancelled if it rightly published nothing."""
    if isinstance(end, DryRun):
        return unpublished_state("DryRun", f"{WORDS} The rehearsal: {end.rehearsed.outcome}")
    if isinstance(end, Crashed):
        return failed_state("Crashed", str(end))
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
    return f"Withheld: {'; '.join(gates)}. {end.plain}{charged} {next_steps(end)}"


def _artifact(result: Result) -> None:
    """Publish the public page of the release on the run's page. Its key is the policy's, so its history is too."""
    name, slot = result.release_id.partition("/")[0], result.release_id.rpartition("/")[2]
    lines = [f"Release: `{result.path}`" if result.path else "", result.left, result.low]
    head = "\n\n".join(line for line in lines if line)
    with suppress(Exception):  # its files may be withdrawn or moved meanwhile
        page = f"{head}\n\n{page_after(result).markdown()}".lstrip()
        publish_page(f"release-{name}", page, f"{result.outcome}, slot {slot}")


def _slot(as_of: str | None) -> str:
    """Return the requested slot, by default the day (UTC) that this run was scheduled for: a late run has its planned
    slot.
    """
    if as_of is not None:
        try:
            return parse_slot(as_of)
        except ValueError as error:
            raise ConfigurationError(Problem("parameters", None, "as_of", repr(as_of), str(error))) from None
    return scheduled().astimezone(UTC).date().isoformat()


def _path(home: Path, text: str | None) -> Path | None:
    return None if text is None else home / text
