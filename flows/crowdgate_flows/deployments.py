"""What a deployment's run may set: whoever can start one is not thereby the one who answers for the policy."""

from pathlib import Path

from prefect.runtime import deployment

from crowdgate.errors import ConfigurationError, Problem
from crowdgate.planning.plan import bundle_of


def refuse_locked(policy: Path, **given: str | None) -> None:
    """Raises ConfigurationError for what a deployment, or a run of it, sets though the policy does not open it.

    A flow that a person calls, also by the command line, is nobody's deployment, and may set all.
    """
    stated = [name for name, value in given.items() if value is not None]
    if not stated or deployment.id is None:
        return
    opened = bundle_of(policy).policy.spec.publish.deployments_may_set
    problems = [_locked(name) for name in stated if name not in opened]
    if problems:
        raise ConfigurationError(problems)


def _locked(name: str) -> Problem:
    expected = f"a deployment that leaves it as it is, or publish: {{deployments_may_set: [{name}]}} in the policy"
    return Problem("parameters", None, name, "set by a deployment", expected)
