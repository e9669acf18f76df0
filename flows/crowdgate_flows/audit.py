"""The Prefect flow `audit`: the audit of the command, on a schedule, so that gates find a recent record."""

from typing import Annotated, Any

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.states import Completed
from pydantic import Field

from crowdgate.audit.audits import AUDITS
from crowdgate.audit.common.audit import FinishedAudit
from crowdgate.audit.common.run import AuditRequest
from crowdgate.candidate import AuditQuestion
from crowdgate.errors import CrowdgateError
from crowdgate.gate import Outcome
from crowdgate.system.core_dumps import disable_core_dumps
from crowdgate_flows import tasks
from crowdgate_flows.artifact import publish_page
from crowdgate_flows.deployments import Binding, refuse_locked
from crowdgate_flows.end_states import failed_state, refused_state
from crowdgate_flows.paths import FilePath
from crowdgate_flows.run_name import run_name
from crowdgate_flows.tasks import SealedValue

Processes = Annotated[int, Field(ge=1, le=256)]
_NAMES = {Outcome.FAIL: "Failed", Outcome.INCONCLUSIVE: "Inconclusive"}


@flow(name="audit", flow_run_name=run_name, persist_result=False, log_prints=False, retries=0, validate_parameters=True)
def audit(
    policy: FilePath,
    ledger: FilePath | None = None,
    working_copy: FilePath | None = None,
    processes: Processes = 1,
    question: AuditQuestion = AuditQuestion.SINGLING_OUT,
) -> State[None]:
    """Audit a policy on its public population, with the policy's settings; report a finished audit.

    Paths are relative to `working_copy`, by default to the folder that the run works in. A deployment may set `ledger`,
    and a run of it may change `policy` and `working_copy`, only if the policy opens them to deployments.
    """
    disable_core_dumps()
    try:
        stated = Binding(policy, working_copy)
        refuse_locked(stated, charged=False, ledger=ledger)
        found = tasks.play(SealedValue(AuditRequest(stated.file, ledger=ledger)), processes, question).value
    except CrowdgateError as error:
        found = error
    if isinstance(found, CrowdgateError):
        return refused_state(found)
    _artifact(question, found)
    said, outcome = AUDITS[question].conclusion(found), found.findings.outcome
    return Completed(message=said) if outcome is Outcome.PASS else failed_state(_NAMES[outcome], said)


def _artifact(question: AuditQuestion, found: FinishedAudit[Any, Any]) -> None:
    """Publish the findings as a page of the run, under a key of the policy and the audit: all of it is public."""
    page, record = AUDITS[question].report(found).markdown(), found.record
    publish_page(f"{AUDITS[question].name}-{record.setting.policy}", page, f"{found.findings.outcome}, {record.made}")
