"""Policies that say `enforcement: dry-run`: nothing is released of them. What would be a release is a rehearsal, which
reads no table of people, charges nothing and signs nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crowdgate.errors import ConfigurationError
from crowdgate.jobs.plan import bundle_of

if TYPE_CHECKING:
    from crowdgate.jobs.rehearsal.rehearse import Rehearsed
    from crowdgate.kind.run import Request
    from crowdgate.policy.files import Bundle

DRY_RUN = "dry-run"
WORDS = "Dry run: the policy says enforcement: dry-run, so nothing is released, read, charged or signed."


@dataclass(frozen=True)
class DryRun:
    """How the rehearsal that stands in place of a release ended."""

    rehearsed: Rehearsed

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints: its outcome is never that of a release."""
        return {**self.rehearsed.to_json(), "outcome": f"dry-run: {self.rehearsed.result.outcome}", "plain": WORDS}


def is_dry_run(bundle: Bundle) -> bool:
    """Whether nothing may be released of a policy."""
    return bundle.policy.spec.enforcement == DRY_RUN


def dry_run(request: Request) -> DryRun | None:
    """Rehearse in place of a release that is asked for, where its policy says so; None where it does not.

    Its table, destination and ledger are not touched, also those that the request names. Raises as `rehearse` does.
    """
    if not is_dry_run(bundle_of(request.policy)):
        return None
    from crowdgate.jobs.rehearsal.rehearse import Asked, rehearse

    return DryRun(rehearse(Asked(request.policy)))


def refuse_dry_run(bundle: Bundle) -> None:
    """Whoever runs a release has to ask `dry_run` first: no step of a release is for such a policy."""
    if is_dry_run(bundle):
        at = ("spec", "enforcement")
        problem = bundle.document.problem(at, f"'{DRY_RUN}': nothing is released of it", "'enforce' for a release")
        raise ConfigurationError(problem)
