"""The steps of a release, an audit, and checks of policies and ledgers, as Prefect tasks. Their code is in `crowdgate`.

Nothing is persisted or cached, and nothing is retried once the ledger has reserved. Values between tasks are sealed:
Prefect neither reads nor stores them. An error of a normal end (the policy is wrong, the ledger refuses) is passed on
as a value, as Prefect logs a traceback of whatever a task raises. A fault is raised, without its chain of causes.
"""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

from prefect import task
from prefect.cache_policies import NO_CACHE

from crowdgate.audit.common.audit import FinishedAudit
from crowdgate.audit.common.run import AuditRequest, audit
from crowdgate.audit.common.stored_records import AuditRuntime
from crowdgate.audit.common.trials import processes
from crowdgate.candidate import AuditQuestion
from crowdgate.cli.output import announce
from crowdgate.errors import ConfigurationError, CrowdgateError
from crowdgate.kind.run import CommittedRelease, Request, ReservedRun, Result, Run
from crowdgate.ledger.key import draw_key
from crowdgate.planning.open_ledger import verify_ledger
from crowdgate.releases import release as job
from crowdgate.releases.dry_run import DryRun, dry_run
from crowdgate.releases.late_source import when_ready
from crowdgate.releases.whole_releases.audits import playable
from crowdgate.review.files import LintedFile
from crowdgate.review.files import lint as lint_file
from crowdgate.sources.executors import executor_for
from crowdgate_flows.end_states import NORMAL

P = ParamSpec("P")
T = TypeVar("T")


class SealedValue(Generic[T]):
    """A value that is passed between tasks of one process and does not show its content."""

    __slots__ = ("value",)

    def __init__(self, value: T) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "Sealed(...)"

    def __reduce__(self) -> str:
        raise TypeError("a sealed value is not stored")


class Fault(CrowdgateError):
    """A fault in Crowdgate before anything was read; its text could hold anything and is not shown."""


def errors_as_values(step: Callable[P, SealedValue[T]]) -> Callable[P, SealedValue[T | CrowdgateError]]:
    """Return the error of a normal end, sealed; raise faults as Crowdgate's own errors, without their causes."""

    @wraps(step)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> SealedValue[T | CrowdgateError]:
        failure: CrowdgateError
        try:
            return SealedValue(step(*args, **kwargs).value)
        except CrowdgateError as error:
            failure = error.with_traceback(None)
        except Exception as error:
            failure = Fault(f"a fault in crowdgate itself: {type(error).__name__}")
        failure.__context__ = failure.__cause__ = None
        if isinstance(failure, NORMAL):
            return SealedValue(failure)
        raise failure

    return guarded


def _step(function: Callable[P, SealedValue[T]]) -> Callable[P, SealedValue[T | CrowdgateError]]:
    settings = {"persist_result": False, "cache_policy": NO_CACHE, "retries": 0, "log_prints": False}
    return task(name=function.__name__, **settings)(errors_as_values(function))  # type: ignore[call-overload,no-any-return]


@_step
def prepare(request: SealedValue[Request]) -> SealedValue[Run | Result | DryRun]:
    """Check policy, ledger, destination and the input's form; wait for a late table as long as the request says. If the
    policy states dry-run, run a simulation in place of all that.
    """
    rehearsed = dry_run(request.value)
    return SealedValue(when_ready(request.value, job.prepare) if rehearsed is None else rehearsed)


@_step
def reserve(run: SealedValue[Run]) -> SealedValue[ReservedRun | Result]:
    """Charge the release and judge the gates that read no data."""
    return SealedValue(job.reserve(run.value))


@_step
def protect(
    reserved: SealedValue[ReservedRun], workers: int = 1, cluster: str | None = None
) -> SealedValue[CommittedRelease | Result]:
    """Run all steps from reading to the ledger's commitment as one task: a crash must not show how far it came. The
    workers are no tasks of Prefect: their number of parts and their durations do not reach its server.
    """
    with executor_for(workers, cluster) as executor:
        return SealedValue(job.conclude(reserved.value, draw_key(), announce=announce, executor=executor))


@_step
def publish(reserved: SealedValue[ReservedRun], ready: SealedValue[CommittedRelease]) -> SealedValue[Result]:
    """Move the committed release to its destination."""
    return SealedValue(job.publish(reserved.value, ready.value))


@_step
def play(asked: SealedValue[AuditRequest], count: int, question: AuditQuestion) -> SealedValue[FinishedAudit[Any, Any]]:
    """Audit a policy on its public population, with so many processes."""
    return SealedValue(audit(playable(question), asked.value, AuditRuntime(executor=processes(count))))


@_step
def lint(policy: Path) -> SealedValue[LintedFile]:
    """Check a policy. Raises ConfigurationError for the problems of its files."""
    found = lint_file(policy)
    if found.problems:
        raise ConfigurationError(found.problems)
    return SealedValue(found)


@_step
def follow_ledger(working_copy: str, anchors: tuple[str, ...]) -> SealedValue[str]:
    """Verify the ledger of a working copy and return its outcome in a sentence, with an anchor."""
    line, ledger = verify_ledger(Path(working_copy), None, (), anchors)
    signed = "is signed by a trusted key" if ledger.trusted else "has no trusted key"
    return SealedValue(f"{ledger.id} agrees with its journal and {signed}. Anchor: {line.number}:{line.digest}")
