"""The Prefect flow `ledger-check`: `crowdgate ledger verify` of a working copy, on a schedule. It changes nothing."""

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.states import Completed

from crowdgate.errors import CrowdgateError, VerificationFailed
from crowdgate_flows import tasks
from crowdgate_flows.deployments import refuse_other_folder
from crowdgate_flows.end_states import failed_state, refused_state
from crowdgate_flows.paths import FilePath, refuse_urls
from crowdgate_flows.policy_run import Anchor
from crowdgate_flows.run_name import run_name


@flow(
    name="ledger-check",
    flow_run_name=run_name,
    persist_result=False,
    log_prints=False,
    retries=0,
    validate_parameters=True,
)
def ledger_check(working_copy: FilePath | None = None, anchors: list[Anchor] | None = None) -> State[None]:
    """Check the ledger of a working copy against its own journal, the trusted keys, what is kept outside, and anchors.

    Args:
        working_copy: The folder of crowdgate.toml. Bound to the deployment.
        anchors: Lines that the ledger must hold, LINE:DIGEST. A run may add to those of its deployment.
    """
    held = tuple(anchors or ())
    try:
        refuse_urls(working_copy=working_copy)
        refuse_other_folder(working_copy, held)
        found = tasks.follow_ledger(working_copy or "", held).value
    except CrowdgateError as error:
        found = error
    if isinstance(found, VerificationFailed):
        return failed_state("NotVerified", str(found))
    return refused_state(found) if isinstance(found, CrowdgateError) else Completed(message=found)
