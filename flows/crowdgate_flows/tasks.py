"""The steps of a release, and an audit, as Prefect tasks. What they do stands in `crowdgate.jobs`.

Nothing is persisted or cached, nothing is tried twice once the ledger has reserved, and what a task hands on is sealed:
Prefect neither looks into it nor stores it. An error that is a normal end (the policy is wrong, the ledger refuses) is
handed on as a value: Prefect logs a traceback of whatever a task raises. A fault is raised, without the chain that led
to it.
"""

from collections.abc import Callable
from functools import wraps
from typing import Generic, ParamSpec, TypeVar

from prefect import task
from prefect.cache_policies import NO_CACHE

from crowdgate.audit.run import processes
from crowdgate.candidate import Question
from crowdgate.cli.output import announce
from crowdgate.errors import CrowdgateError
from crowdgate.jobs import release as job
from crowdgate.jobs.audit import Asked, audit
from crowdgate.jobs.audit_keeping import How
from crowdgate.jobs.dry_run import DryRun, dry_run
from crowdgate.jobs.questions import QUESTIONS, Found
from crowdgate.kind.run import Ready, Request, Reserved, Result, Run
from crowdgate.ledger.key import draw_key
from crowdgate_flows.ends import NORMAL

P = ParamSpec("P")
T = TypeVar("T")


class Sealed(Generic[T]):
    """A value that travels between tasks of one process and shows nothing of itself."""

    __slots__ = ("value",)

    def __init__(self, value: T) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "Sealed(...)"

    def __reduce__(self) -> str:
        raise TypeError("a sealed value is not stored")


class Fault(CrowdgateError):
    """A mistake of ours before anything was read; its text could hold anything and is not shown."""


def coded(step: Callable[P, Sealed[T]]) -> Callable[P, Sealed[T | CrowdgateError]]:
    """Return the error of a normal end, sealed; let faults out as Crowdgate's own errors, without what caused them."""

    @wraps(step)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> Sealed[T | CrowdgateError]:
        failure: CrowdgateError
        try:
            return Sealed(step(*args, **kwargs).value)
        except CrowdgateError as error:
            failure = error.with_traceback(None)
        except Exception as error:
            failure = Fault(f"a fault in crowdgate itself: {type(error).__name__}")
        failure.__context__ = failure.__cause__ = None
        if isinstance(failure, NORMAL):
            return Sealed(failure)
        raise failure

    return guarded


def _step(function: Callable[P, Sealed[T]]) -> Callable[P, Sealed[T | CrowdgateError]]:
    settings = {"persist_result": False, "cache_policy": NO_CACHE, "retries": 0, "log_prints": False}
    return task(name=function.__name__, **settings)(coded(function))  # type: ignore[call-overload,no-any-return]


@_step
def rehearse(request: Sealed[Request]) -> Sealed[DryRun | None]:
    """Rehearse in place of a release, where the policy says that nothing is released of it."""
    return Sealed(dry_run(request.value))


@_step
def prepare(request: Sealed[Request]) -> Sealed[Run | Result]:
    """Check policy, ledger, destination and the input's form."""
    return Sealed(job.prepare(request.value))


@_step
def reserve(run: Sealed[Run]) -> Sealed[Reserved | Result]:
    """Charge the release and judge the gates that read no data."""
    return Sealed(job.reserve(run.value))


@_step
def protect(reserved: Sealed[Reserved]) -> Sealed[Ready | Result]:
    """Everything between reading and the ledger's commitment, as one task: a crash must not show how far it came."""
    return Sealed(job.conclude(reserved.value, draw_key(), announce=announce))


@_step
def publish(reserved: Sealed[Reserved], ready: Sealed[Ready]) -> Sealed[Result]:
    """Move the committed release to its destination."""
    return Sealed(job.publish(reserved.value, ready.value))


@_step
def play(asked: Sealed[Asked], count: int, question: Question) -> Sealed[Found]:
    """Audit a policy on its public population, in so many processes."""
    return Sealed(audit(QUESTIONS[question].asking, asked.value, How(executor=processes(count))))
