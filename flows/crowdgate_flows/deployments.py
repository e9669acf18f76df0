"""Locks on the parameters of a deployment: permission to start a run does not make its user the policy owner.

A deployment is bound to the working copy and the policy that it states itself, and to the digest of the policy's files.
Prefect gives each run the deployment's parameters with changes by whoever started it, so the deployment's own ones are
read from the server.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from prefect.client.orchestration import get_client
from prefect.runtime import deployment

from crowdgate.errors import ConfigurationError, EnvironmentFault, Problem
from crowdgate.planning.plan import bundle_of
from crowdgate.policy.files import Bundle


@dataclass(frozen=True)
class Binding:
    """The working copy, the policy file and the digest of its files that a deployment or one of its runs states, and
    the anchors and the cluster of a run.
    """

    policy: str
    working_copy: str | None = None
    policy_digest: str | None = None
    anchors: tuple[str, ...] = ()
    cluster: str | None = None

    @property
    def file(self) -> Path:
        """The policy file."""
        return Path(self.working_copy or "") / self.policy


def refuse_locked(run: Binding, *, charged: bool = True, **given: str | None) -> None:
    """Raise ConfigurationError for each setting that a run of a deployment changes though the policy does not open it.

    The settings are those of `run`, and each of `given` that is not None, which deployments may not state themselves
    either. A run that is `charged` needs the digest of the policy's files. It may add anchors to those of its
    deployment. A flow that a person calls, also by the command line, is no deployment, and may change all settings.
    Raises EnvironmentFault if the server does not answer.
    """
    if deployment.id is None:
        return
    stated = _own_parameters()
    own = _of_policy(stated, run.policy)
    problems = [*_unbound(own, run, charged), *_locked(run, given)] if own.get("policy") else [_nameless()]
    problems += [*_missing_anchors(stated, run.anchors), *_other_cluster(stated, run.cluster)]
    if problems:
        raise ConfigurationError(problems)


def refuse_other_folder(working_copy: str | None, anchors: Sequence[str]) -> None:
    """Raise ConfigurationError if a run of a deployment of no policy changes its working copy, or omits anchors.

    Raises EnvironmentFault if the server does not answer.
    """
    if deployment.id is None:
        return
    own = _own_parameters()
    expected = "what the deployment states"
    if own.get("working_copy") != working_copy:
        raise ConfigurationError(_problem("working_copy", "changed by the run of a deployment", expected))
    problems = [*_missing_anchors(own, anchors)]
    if problems:
        raise ConfigurationError(problems)


def _missing_anchors(own: Mapping[str, Any], anchors: Sequence[str]) -> Iterator[Problem]:
    if not {*(own.get("anchors") or ())} <= {*anchors}:
        yield _problem("anchors", "left out by the run of a deployment", "what the deployment states")


def _other_cluster(own: Mapping[str, Any], cluster: str | None) -> Iterator[Problem]:
    """Yield a problem if a run names another cluster, which would see the table's counts and run code here."""
    if cluster is not None and cluster != own.get("cluster"):
        yield _problem("cluster", "changed by the run of a deployment", "what the deployment states, or none")


def _of_policy(own: Mapping[str, Any], policy: str) -> Mapping[str, Any]:
    """Return what a deployment states about one of its policies; without a policy if it is not one of them."""
    if "policies" not in own:
        return own
    stated: Mapping[str, Any] = next((each for each in own["policies"] if each.get("policy") == policy), {})
    return {**stated, "working_copy": own.get("working_copy")}


def _own_parameters() -> Mapping[str, Any]:
    """Return the parameters that the deployment of this run states itself."""
    try:
        with get_client(sync_client=True) as client:
            return client.read_deployment(UUID(deployment.id)).parameters
    except Exception as error:  # Prefect's own, such as a server out of reach
        trouble = type(error).__name__
    raise EnvironmentFault(f"Prefect's server did not say what the deployment states ({trouble}). Nothing was read")


def _unbound(own: Mapping[str, Any], run: Binding, charged: bool) -> Iterator[Problem]:
    bound = Binding(own["policy"], own.get("working_copy"), own.get("policy_digest"))
    bundle = bundle_of(bound.file)
    changed = [name for name in ("policy", "working_copy") if getattr(run, name) != getattr(bound, name)]
    for name in changed:
        if not all(name in each.policy.spec.publish.deployments_may_set for each in _owners(bundle, run)):
            yield _problem(name, "changed by the run of a deployment", _opening(name))
    if charged and not changed and not bundle.digest == bound.policy_digest == run.policy_digest:
        yield _other_files(bundle, bound, run)


def _owners(bound: Bundle, run: Binding) -> Iterator[Bundle]:
    """Yield the policies that must open a change: that of the deployment first, then the one that would be charged."""
    yield bound
    yield bundle_of(run.file)


def _other_files(bundle: Bundle, bound: Binding, run: Binding) -> Problem:
    if run.policy_digest != bound.policy_digest:
        return _problem("policy_digest", "changed by the run of a deployment", "the digest that the deployment states")
    found = "not stated" if bound.policy_digest is None else "the digest of other files than those of the policy now"
    expected = "a deployment that was made after a review of these files, with policy_digest: "
    return _problem("policy_digest", found, f"{expected}{bundle.digest} (`crowdgate schedule` prints it)")


def _locked(run: Binding, given: Mapping[str, str | None]) -> Iterator[Problem]:
    stated = [name for name, value in given.items() if value is not None]
    opened = bundle_of(run.file).policy.spec.publish.deployments_may_set if stated else ()
    for name in stated:
        if name not in opened:
            yield _problem(name, "set by a deployment", _opening(name))


def _nameless() -> Problem:
    return _problem("policy", "left open by the deployment", "a deployment that states the policy in its parameters")


def _opening(name: str) -> str:
    return f"a deployment that leaves it as it is, or publish: {{deployments_may_set: [{name}]}} in the policy"


def _problem(name: str, found: str, expected: str) -> Problem:
    return Problem("parameters", None, name, found, expected)
