"""Settings that a deployment's run may change: permission to start a run does not make its user the policy owner."""

from pathlib import Path

from prefect.runtime import deployment

from crowdgate.errors import ConfigurationError, Problem
from crowdgate.planning.plan import bundle_of


def refuse_locked(policy: Path, **given: str | None) -> None:
    """Raise ConfigurationError for a setting that a deployment, or a run of it, changes though the policy does not open
    it.

    A flow that a person calls, also by the command line, is no deployment, and may change all settings.
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
