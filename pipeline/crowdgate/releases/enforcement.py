"""Policies with `enforcement: dry-run`: no step of a release runs for such a policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdgate.errors import ConfigurationError

if TYPE_CHECKING:
    from crowdgate.policy.files import Bundle

DRY_RUN = "dry-run"
WORDS = "Dry run: the policy says enforcement: dry-run, so nothing is released, read, charged or signed."


def is_dry_run(bundle: Bundle) -> bool:
    """Return whether the policy states `enforcement: dry-run`, so that nothing of it may be released."""
    return bundle.policy.spec.enforcement == DRY_RUN


def refuse_dry_run(bundle: Bundle) -> None:
    """Raise ConfigurationError for a dry-run policy. Callers of a release call `dry_run` first."""
    if is_dry_run(bundle):
        at = ("spec", "enforcement")
        problem = bundle.document.problem(at, f"'{DRY_RUN}': nothing is released of it", "'enforce' for a release")
        raise ConfigurationError(problem)
