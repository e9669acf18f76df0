"""The Prefect flow `check`: the check of the command, on a schedule, so that a release is not the first to find out.

It reads no table of people. What it prints is public.
"""

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.states import Completed

from crowdgate.errors import CrowdgateError
from crowdgate.review.check_page import check_report
from crowdgate.review.check_text import check_lines
from crowdgate.review.files import LintedFile
from crowdgate_flows import tasks
from crowdgate_flows.artifact import publish_page
from crowdgate_flows.deployments import Binding, refuse_locked
from crowdgate_flows.end_states import failed_state, refused_state
from crowdgate_flows.paths import FilePath, refuse_urls
from crowdgate_flows.run_name import run_name


@flow(name="check", flow_run_name=run_name, persist_result=False, log_prints=False, retries=0, validate_parameters=True)
def check(policy: FilePath, working_copy: FilePath | None = None, strict: bool = False) -> State[None]:
    """Check whether a policy would be let through now. No row of a table of people is read.

    Args:
        policy: The policy file, relative to the working copy. Bound to the deployment.
        working_copy: The folder that the path is relative to. Bound to the deployment.
        strict: A policy that is allowed with warnings is not allowed.
    """
    try:
        refuse_urls(working_copy=working_copy, policy=policy)
        stated = Binding(policy, working_copy)
        refuse_locked(stated, charged=False)
        found = tasks.lint(stated.file).value
    except CrowdgateError as error:
        found = error
    return refused_state(found) if isinstance(found, CrowdgateError) else _state(found, strict)


def _state(found: LintedFile, strict: bool) -> State[None]:
    checked = found.checked
    if checked is None:
        return failed_state("Refused", "The file is no policy, but of another kind.")
    lines = list(check_lines(checked))
    allowed = checked.allowed and not (strict and found.warnings)
    name, page = checked.plan.bundle.policy.metadata.name, check_report(checked).markdown()
    publish_page(f"check-{name}", page, "allowed" if allowed else "not allowed")
    return Completed(message=lines[0]) if allowed else failed_state("NotAllowed", "\n".join(lines))
